// The data: nodes by number, edges from both ends, and what follows from them. Independent of the page, the filters and
// the selection.
export function modelOf(data) {
  const looks = new Map(data.looks.map((look) => [look.state, look]));
  const nodes = data.graph.nodes.map((node, number) => ({
    ...node, number, about: data.details?.[number] ?? {}, hostnames: node.hostnames ?? [], matches: node.matches ?? [],
  }));
  const numbers = new Map(nodes.map((node) => [node.id, node.number]));
  const known = (ids) => (ids ?? []).map((id) => numbers.get(id)).filter((number) => number !== undefined);
  const edges = data.graph.edges.map((edge) => ({
    ...edge, from: numbers.get(edge.from), to: numbers.get(edge.to), by: known(edge.by),
  }));
  const below = nodes.map(() => []);
  const above = nodes.map(() => []);
  for (const edge of edges) {
    below[edge.from].push(edge);
    above[edge.to].push(edge);
  }
  const isOfPolicy = (edge) => edge.type === 'attached' || edge.type === 'notAttached';
  const owner = nodes.map((node) => {
    const edge = node.object.section === undefined ? undefined : above[node.number].find((e) => e.type === 'contains');
    return edge ? edge.from : node.number;
  });
  const sections = nodes.map((node) => below[node.number].filter((e) => e.type === 'contains').map((e) => e.to));
  const policiesAt = nodes.map((node) => above[node.number].filter(isOfPolicy));
  const targetsOf = nodes.map((node) => below[node.number].filter(isOfPolicy));
  const overriddenBy = nodes.map(() => new Set());
  const overrides = nodes.map(() => new Set());
  for (const edge of edges.filter(isOfPolicy)) {
    for (const by of edge.by) {
      overriddenBy[edge.from].add(by);
      overrides[by].add(edge.from);
    }
  }

  const kindOf = (node) => (node.object.group ? `${node.object.kind}.${node.object.group}` : node.object.kind);
  const badge = (node) => data.badges[kindOf(node)] ?? node.object.kind;

  /** The namespace of a node; '' if it has none. */
  const home = (node) => (node.type === 'namespace' ? node.object.name : node.object.namespace);

  function name(node) {
    const { namespace, name: own, section } = node.object;
    const whole = namespace ? `${namespace}/${own}` : own;
    return section === undefined ? whole : `${whole}#${section}`;
  }

  /** The colour of each Gateway, independent of filters. */
  const colours = new Map(nodes.filter((node) => node.type === 'gateway').map((node, i) => [node.number, i % 8]));

  const NOUNS = { listener: 'listener', rule: 'rule', port: 'port' };

  /** A node in words: `HTTPRoute shop/cart`, `rule checkout of HTTPRoute shop/cart`. */
  function label(node) {
    const { section } = node.object;
    if (section === undefined) return `${node.object.kind} ${name(node)}`;
    const whole = nodes[owner[node.number]];
    const own = node.type === 'rule' && section.startsWith('rule-') ? section : `${NOUNS[node.type] ?? 'section'} ${section}`;
    return whole === node ? `${own} of ${node.object.kind} ${node.object.namespace}/${node.object.name}` : `${own} of ${label(whole)}`;
  }

  /** The look of a state. */
  const look = (state) => looks.get(state);
  const isPolicy = (node) => node.type === 'policy';
  const isBad = (state) => ['rejected', 'broken'].includes(look(state)?.class);

  /** The problems of a node itself, as texts. */
  function problemsOf(node) {
    const found = [];
    if (node.missing && !isPolicy(node)) found.push('does not exist');
    if (node.unaccepted) found.push(node.unaccepted);
    if (node.type === 'route') {
      for (const edge of above[node.number].filter((e) => e.type === 'rejected')) {
        found.push(`not attached to ${label(nodes[edge.to === node.number ? edge.from : edge.to])}: ${edge.reason}`);
      }
    }
    if (node.type === 'rule' || node.type === 'listenerSet') {
      const edges = node.type === 'rule' ? below[node.number] : above[node.number];
      for (const edge of edges.filter((e) => e.type === 'rejected')) {
        found.push(`${label(nodes[node.type === 'rule' ? edge.to : edge.from])}: ${edge.reason}`);
      }
    }
    if (isPolicy(node) && (isBad(node.state) || (node.reason && !['NoEffect', 'Unknown'].includes(node.state)))) {
      found.push(node.about.why ?? node.reason ?? look(node.state)?.words ?? '');
    }
    return found;
  }

  const problems = nodes.flatMap((node) => problemsOf(node).map((words) => ({ number: node.number, words })));
  const troubled = new Set(problems.map((problem) => problem.number));

  /** A node with all its ancestors or descendants; for a policy, those of its targets. */
  function reach(number, edgesOf, there) {
    const found = new Set([number]);
    const todo = [number];
    while (todo.length > 0) {
      const next = todo.pop();
      for (const edge of edgesOf[next]) {
        const other = edge[there];
        const first = edge.type === 'attached' && next === number && there === 'to';
        if (found.has(other) || edge.type === 'notAttached') continue;
        if (edge.type === 'attached' && !first) continue;
        found.add(other);
        // A rejected reference leads no further.
        if (edge.type !== 'rejected') todo.push(other);
      }
    }
    return found;
  }

  /** The nodes on all paths through a node. */
  function related(number) {
    const found = new Set([number]);
    const starts = isPolicy(nodes[number]) ? targetsOf[number].map((edge) => edge.to) : [number];
    for (const start of starts) {
      for (const other of reach(start, above, 'from')) found.add(other);
      for (const other of reach(start, below, 'to')) found.add(other);
    }
    if (nodes[number].type === 'namespace') {
      for (const node of nodes) if (!isPolicy(node) && home(node) === nodes[number].object.name) found.add(node.number);
    }
    return found;
  }

  // --- links: kind/namespace/name[/section]; with the group if two kinds share a name
  const slugs = new Map();
  const bySlug = new Map();
  const groups = new Map();
  for (const node of nodes) {
    const kind = node.object.kind.toLowerCase();
    groups.set(kind, (groups.get(kind) ?? new Set()).add(node.object.group));
  }
  for (const node of nodes) {
    const { kind, group, namespace, name: own, section } = node.object;
    const whole = groups.get(kind.toLowerCase()).size > 1 && group ? `${kind}.${group}` : kind;
    const parts = [whole.toLowerCase(), namespace, own].filter((part) => part !== '');
    if (node.type === 'frontend') parts[parts.length - 1] += '@frontend';
    if (section !== undefined) parts.push(section);
    const slug = parts.map(encodeURIComponent).join('/').replaceAll('%40', '@');
    slugs.set(node.number, slug);
    if (!bySlug.has(slug)) bySlug.set(slug, node.number);
    if (!bySlug.has(node.id)) bySlug.set(node.id, node.number);
    // A link may also name the kind with its group.
    const long = `${`${kind}.${group}`.toLowerCase()}${slug.slice(slug.indexOf('/'))}`;
    if (group && !bySlug.has(long)) bySlug.set(long, node.number);
  }

  return {
    data, nodes, edges, numbers, below, above, owner, sections, policiesAt, targetsOf, overriddenBy, overrides, problems,
    troubled, colours, looks: data.looks, look, isPolicy, isBad, isOfPolicy, kindOf, badge, home, name, label, problemsOf, related,
    slug: (number) => slugs.get(number), find: (slug) => bySlug.get(slug),
  };
}
