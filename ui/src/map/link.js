// Links to the selection and filters: `#httproute/shop/cart`, `#httproute/shop/cart/checkout?state=Overridden`. Where the
// map is one of several pages, its addresses have a prefix: `#/map/httproute/shop/cart`.
export function linksOf(model, state, prefix) {
  const { now } = state;

  function written() {
    const filters = new URLSearchParams();
    for (const one of now.states) filters.append('state', one);
    if (now.kind) filters.set('kind', now.kind);
    if (now.namespace) filters.set('namespace', now.namespace);
    if (now.problems) filters.set('problems', '');
    const asked = filters.toString().replace(/=(?=&|$)/g, '');
    const object = now.chosen === null ? '' : model.slug(now.chosen);
    return `${address(object)}${asked ? `?${asked}` : ''}`;
  }

  const address = (object) => (prefix && object ? `${prefix}/${object}` : prefix + object);

  /** The selection and filters of a link. Unknown states are dropped, an unknown object is reported. Null for the address of another page. */
  function read(hash) {
    const [path, asked] = hash.replace(/^#/, '').split('?');
    if (!path.startsWith(prefix)) return null;
    const object = prefix ? path.slice(prefix.length).replace(/^\//, '') : path;
    const filters = new URLSearchParams(asked ?? '');
    const states = filters.getAll('state').filter((one) => model.look(one));
    let chosen = null;
    if (object) {
      const decoded = decoded_(object);
      const inId = decoded.replace('#', '/');
      chosen = model.find(object) ?? model.find(encoded(inId)) ?? model.find(decoded) ?? null;
    }
    return {
      unknown: object !== '' && chosen === null ? decoded_(object) : null,
      chosen, states: new Set(states), kind: filters.get('kind') ?? '', namespace: filters.get('namespace') ?? '', problems: filters.has('problems'),
    };
  }

  function decoded_(words) {
    try {
      return decodeURIComponent(words);
    } catch {
      return words;
    }
  }

  // The kind is not case-sensitive.
  function encoded(path) {
    const [kind, ...rest] = path.split('/');
    return [kind.toLowerCase(), ...rest].map(encodeURIComponent).join('/').replaceAll('%40', '@');
  }

  function write() {
    const next = written();
    if (next !== location.hash.replace(/^#/, '')) history.pushState(null, '', `#${next}`);
  }

  /** The address of an object in this page. */
  const to = (number) => `${location.href.split('#')[0]}#${address(model.slug(number))}`;

  return { read, write, to };
}
