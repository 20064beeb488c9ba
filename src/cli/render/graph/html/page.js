// Moves and zooms the picture, searches it, and tells of what is chosen. Names come from users: they are
// only ever written as text.
'use strict';
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId('data').textContent);
  const nodes = data.graph.nodes;
  const numbers = new Map(nodes.map((node, number) => [node.id, number]));
  const edges = data.graph.edges.map((edge) => ({
    ...edge, from: numbers.get(edge.from), to: numbers.get(edge.to),
  }));
  const canvas = byId('canvas');
  const view = byId('view');
  const panel = byId('panel');
  const search = byId('search');

  // What is drawn of each node: a policy may stand in several places.
  const drawn = nodes.map(() => []);
  for (const element of canvas.querySelectorAll('.node')) {
    drawn[Number(element.dataset.n)].push(element);
  }
  // What has no row of its own stands in that of its object.
  for (const edge of edges) {
    if (edge.type === 'contains' && drawn[edge.to].length === 0) drawn[edge.to] = drawn[edge.from].slice(0, 1);
  }
  const wires = [...canvas.querySelectorAll('.wire')];

  // --- move and zoom

  const LEAST = 0.05;
  const MOST = 4;
  const at = { x: 0, y: 0, scale: 1 };

  function show() {
    view.setAttribute('transform', `translate(${at.x} ${at.y}) scale(${at.scale})`);
    byId('level').textContent = `${Math.round(at.scale * 100)}%`;
  }

  /** Zooms so that the point of the screen stays where it is. */
  function zoom(factor, point) {
    const box = canvas.getBoundingClientRect();
    const { x, y } = point ?? { x: box.width / 2, y: box.height / 2 };
    const scale = Math.min(MOST, Math.max(LEAST, at.scale * factor));
    at.x = x - (x - at.x) * (scale / at.scale);
    at.y = y - (y - at.y) * (scale / at.scale);
    at.scale = scale;
    show();
  }

  /** Shows all of it, not smaller than `least`: then from the top. */
  function fit(least) {
    const box = canvas.getBoundingClientRect();
    const margin = 24;
    const whole = Math.min(
      (box.width - 2 * margin) / data.width, (box.height - 2 * margin) / data.height, 1,
    );
    at.scale = Math.min(MOST, Math.max(LEAST, least, whole));
    const [width, height] = [data.width * at.scale, data.height * at.scale];
    at.x = Math.max(margin, (box.width - width) / 2);
    at.y = Math.max(margin, (box.height - height) / 3);
    show();
  }

  function centre(element) {
    const [box, own] = [canvas.getBoundingClientRect(), element.getBoundingClientRect()];
    at.x += box.left + box.width / 2 - (own.left + own.width / 2);
    at.y += box.top + box.height / 2 - (own.top + own.height / 2);
    show();
  }

  function isOutside(element) {
    const [box, own] = [canvas.getBoundingClientRect(), element.getBoundingClientRect()];
    return own.left < box.left || own.right > box.right || own.top < box.top || own.bottom > box.bottom;
  }

  const pointers = new Map();
  let moved = false;

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button === 0) {
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      moved = pointers.size > 1;
    }
  });

  addEventListener('pointermove', (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const now = { x: event.clientX, y: event.clientY };
    if (!moved && Math.hypot(now.x - last.x, now.y - last.y) < 4) return;
    moved = true;
    canvas.classList.add('moving');
    if (pointers.size === 1) {
      at.x += now.x - last.x;
      at.y += now.y - last.y;
      show();
    } else {
      const [id] = [...pointers.keys()].filter((other) => other !== event.pointerId);
      const other = pointers.get(id);
      const box = canvas.getBoundingClientRect();
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(now.x - other.x, now.y - other.y);
      zoom(after / Math.max(before, 1), { x: other.x - box.left, y: other.y - box.top });
    }
    pointers.set(event.pointerId, now);
  });

  for (const end of ['pointerup', 'pointercancel']) {
    addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove('moving');
    });
  }

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const step = Math.max(-120, Math.min(120, event.deltaY * lines));
    zoom(Math.exp(-step / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
  }, { passive: false });

  byId('in').addEventListener('click', () => zoom(1.25));
  byId('out').addEventListener('click', () => zoom(1 / 1.25));
  byId('level').addEventListener('click', () => zoom(1 / at.scale));
  byId('fit').addEventListener('click', () => fit(0));

  // --- choose

  let chosen = null;
  let opener = null;

  function choose(number, from) {
    clear();
    chosen = number;
    opener = from ?? drawn[number][0] ?? null;
    for (const element of drawn[number]) {
      element.classList.add('selected');
      element.setAttribute('aria-pressed', 'true');
    }
    const related = new Set([...reach(number, 'from', 'to'), ...reach(number, 'to', 'from')]);
    canvas.classList.add('choosing');
    for (const wire of wires) {
      const ends = [Number(wire.dataset.from), Number(wire.dataset.to)];
      wire.classList.toggle('on', ends.every((end) => related.has(end)));
    }
    byId('about').replaceChildren(...about(number));
    panel.hidden = false;
    panel.scrollTop = 0;
    panel.focus();
    if (opener && isOutside(opener)) centre(opener);
  }

  function clear() {
    if (chosen === null) return;
    for (const element of drawn[chosen]) {
      element.classList.remove('selected');
      element.removeAttribute('aria-pressed');
    }
    canvas.classList.remove('choosing');
    chosen = null;
  }

  function close() {
    clear();
    panel.hidden = true;
    opener?.focus({ preventScroll: true });
  }

  /** Everything above or below a node, itself included; for a policy what its targets reach. */
  function reach(number, here, there) {
    const found = new Set([number]);
    const todo = [number];
    while (todo.length > 0) {
      const next = todo.pop();
      for (const edge of next === undefined ? [] : beside[here][next]) {
        const other = edge[there];
        const first = edge.type === 'attached' && next === number && here === 'from';
        if (found.has(other) || edge.type === 'notAttached') continue;
        if (edge.type === 'attached' && !first) continue;
        found.add(other);
        // What does not count leads no further.
        if (edge.type !== 'rejected') todo.push(other);
      }
    }
    return found;
  }

  const beside = { from: nodes.map(() => []), to: nodes.map(() => []) };
  for (const edge of edges) {
    beside.from[edge.from].push(edge);
    beside.to[edge.to].push(edge);
  }

  canvas.addEventListener('click', (event) => {
    if (moved) return;
    const element = event.target.closest('.node');
    if (element) choose(Number(element.dataset.n), element);
    else if (!panel.hidden) close();
  });
  canvas.addEventListener('focusin', (event) => {
    const element = event.target.closest('.node');
    if (element?.matches(':focus-visible') && isOutside(element)) centre(element);
  });
  byId('close').addEventListener('click', close);

  // --- tell

  // What cannot be seen, or turns the direction of the text behind it.
  const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

  function plain(text) {
    return text.replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  }

  /** An element with text and other elements in it; never markup. */
  function make(tag, className, ...content) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    const parts = content.filter((part) => part !== null && part !== undefined);
    element.append(...parts.map((part) => (typeof part === 'string' ? plain(part) : part)));
    return element;
  }

  function name(node) {
    const { namespace, name: own, section } = node.object;
    const whole = namespace ? `${namespace}/${own}` : own;
    return section === undefined ? whole : `${whole}#${section}`;
  }

  function label(id) {
    const number = numbers.get(id);
    return number === undefined ? id : `${nodes[number].object.kind} ${name(nodes[number])}`;
  }

  /** A way to a node; its id where it is not in the graph. */
  function link(id) {
    const number = numbers.get(id);
    if (number === undefined) return make('span', '', id);
    const button = make('button', 'link', label(id));
    button.type = 'button';
    button.addEventListener('click', () => {
      const [first] = drawn[number];
      choose(number, first);
      if (first) centre(first);
    });
    return button;
  }

  function list(title, items) {
    if (items.length === 0) return [];
    return [make('h3', '', title), make('ul', '', ...items.map((item) => make('li', '', ...item)))];
  }

  function about(number) {
    const node = nodes[number];
    const told = data.details[number];
    const { group } = node.object;
    const isOwn = group === '' || group === 'gateway.networking.k8s.io';
    const kind = isOwn ? node.object.kind : `${node.object.kind}.${group}`;
    const heading = make('h2', '', node.object.section ?? node.object.name);
    heading.id = 'panel-name';
    const noun = { listener: 'Listener of ', rule: 'Rule of ', port: 'Port of ' }[node.type] ?? '';
    const where = node.object.section === undefined ? node.object.namespace : name({
      object: { ...node.object, section: undefined },
    });
    const tags = [
      node.missing && make('span', 'tag bad', 'not there'),
      node.type === 'frontend' && make('span', 'tag', 'as called in the mesh'),
      told.class && make('span', 'tag', told.class),
      told.state && make('span', told.state === 'Enforced' ? 'tag good' : 'tag', told.state),
    ].filter(Boolean);
    return [
      heading,
      make('p', 'faint', `${noun}${kind}`),
      where ? make('p', 'faint', node.object.section === undefined ? `Namespace ${where}` : where) : null,
      tags.length > 0 ? make('p', '', ...tags.flatMap((tag) => [tag, ' '])) : null,
      ...(node.type === 'policy' ? aboutPolicy(node, told, number) : aboutObject(told, number)),
      ...list('Above', neighbours(number, 'to', 'from')),
      ...list('Below', neighbours(number, 'from', 'to')),
    ].filter((part) => part !== null);
  }

  function isOfPolicy(edge) {
    return edge.type === 'attached' || edge.type === 'notAttached';
  }

  function neighbours(number, here, there) {
    return beside[here][number].filter((edge) => !isOfPolicy(edge)).map((edge) => [
      link(nodes[edge[there]].id), edge.reason ? make('span', 'bad', `: ${edge.reason}`) : null,
    ]);
  }

  function aboutPolicy(node, told, number) {
    const targets = beside.from[number].filter(isOfPolicy).map((edge) => [
      link(nodes[edge.to].id),
      edge.type === 'notAttached' ? make('span', 'bad', ` not attached: ${edge.reason}`) : null,
    ]);
    const nothing = node.reason ? [make('p', 'bad', `Attached to nothing: ${node.reason}`)] : [];
    const settings = (told.settings ?? []).flatMap((stanza) => [
      make('h3', '', `Settings, ${stanza.strategy}`), make('pre', '', stanza.spec),
    ]);
    return [
      ...nothing,
      ...list('Targets', targets),
      ...list('Superseded by', (told.by ?? []).map((id) => [link(id)])),
      ...settings,
    ];
  }

  function aboutObject(told, number) {
    const acting = (told.policies ?? []).map((policy) => [
      make('span', policy.acts ? 'tag good' : 'tag', policy.acts ? 'acts' : 'overridden'), ' ',
      link(policy.policy), make('span', 'faint', ` on ${policy.at}`),
    ]);
    const refused = beside.to[number].filter((edge) => edge.type === 'notAttached').map((edge) => [
      make('span', 'tag bad', 'not attached'), ' ', link(nodes[edge.from].id),
      make('span', 'bad', `: ${edge.reason}`),
    ]);
    const here = beside.to[number].filter((edge) => edge.type === 'attached');
    const listed = new Set((told.policies ?? []).map((policy) => policy.policy));
    const rest = here.filter((edge) => !listed.has(nodes[edge.from].id)).map((edge) => [
      make('span', 'tag', 'attached'), ' ', link(nodes[edge.from].id),
    ]);
    const policies = list('Policies', [...acting, ...rest, ...refused]);
    const found = (told.effective ?? []).flatMap(inForce);
    const more = [
      told.more ? make('p', 'faint', `and ${told.more} more`) : null,
      told.omitted ? make('p', 'faint', 'There is more to know than this page holds: make one of this object alone.') : null,
    ].filter(Boolean);
    return [
      ...(policies.length > 0 ? policies : [make('h3', '', 'Policies'), make('p', 'faint', 'None.')]),
      ...(found.length + more.length > 0 ? [make('h3', '', 'In force'), ...found, ...more] : []),
    ];
  }

  function inForce(group) {
    const others = group.paths - 1;
    const more = others > 0 ? ` and ${others} more path${others > 1 ? 's' : ''}` : '';
    const head = [make('h4', '', group.kind), make('p', 'path', group.path.join(' › ') + more)];
    if (!group.settings) {
      return [...head, make('p', 'faint', 'Merged by rules that only the controller of the kind knows.')];
    }
    const rows = group.settings.map((setting) => make('tr', '',
      make('td', '', setting.field),
      setting.value === undefined ? make('td', 'faint', 'removed') : make('td', 'value', setting.value),
      make('td', '', link(setting.from))));
    const titles = ['Field', 'Value', 'From'].map((title) => {
      const cell = make('th', '', title);
      cell.scope = 'col';
      return cell;
    });
    const table = make('table', '', make('thead', '', make('tr', '', ...titles)), make('tbody', '', ...rows));
    return [...head, table];
  }

  // --- search

  const texts = nodes.map((node) => `${node.id} ${node.object.kind} ${name(node)}`.toLowerCase());
  let hits = [];
  let hit = 0;

  function find() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const element of hits) element.classList.remove('hit');
    const isHit = (text) => words.every((word) => text.includes(word));
    const found = words.length === 0 ? [] : [...texts.keys()].filter((i) => isHit(texts[i]));
    hits = [...new Set(found.flatMap((number) => drawn[number]))];
    for (const element of hits) element.classList.add('hit');
    canvas.classList.toggle('searching', words.length > 0);
    hit = 0;
    tellHits(words.length > 0);
    if (hits.length > 0) centre(hits[0]);
  }

  function tellHits(asked) {
    const some = hits.length > 0 ? `${hit + 1} of ${hits.length}` : 'none';
    byId('hits').textContent = asked ? some : '';
  }

  search.addEventListener('input', find);
  search.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && hits.length > 0) {
      hit = (hit + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
      centre(hits[hit]);
      tellHits(true);
    } else if (event.key === 'Escape') {
      search.value = '';
      find();
      search.blur();
      event.stopPropagation();
    }
  });

  // --- keys

  const STEP = 60;
  const keys = {
    '+': () => zoom(1.25),
    '=': () => zoom(1.25),
    '-': () => zoom(1 / 1.25),
    0: () => fit(0),
    1: () => zoom(1 / at.scale),
    '/': () => search.focus(),
    ArrowLeft: () => { at.x += STEP; show(); },
    ArrowRight: () => { at.x -= STEP; show(); },
    ArrowUp: () => { at.y += STEP; show(); },
    ArrowDown: () => { at.y -= STEP; show(); },
  };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === search) return;
    if (event.key === 'Escape' && !panel.hidden) {
      close();
      return;
    }
    const element = event.target.closest?.('.node');
    if (element && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      choose(Number(element.dataset.n), element);
      return;
    }
    // The panel scrolls by arrows.
    if (event.key.startsWith('Arrow') && panel.contains(event.target)) return;
    if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  });

  fit(0.75);
})();
