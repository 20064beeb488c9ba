// The nodes that a filter keeps: those that match, the objects they are attached to, and the path from the Gateway.
export function shownBy(model, now) {
  const { nodes, above, below, owner } = model;
  const isAsked = (node) => {
    if (now.states.size > 0 && !now.states.has(node.state)) return false;
    if (now.kind !== '' && model.kindOf(node) !== now.kind) return false;
    if (now.namespace !== '' && model.home(node) !== now.namespace) return false;
    return !now.problems || model.troubled.has(node.number);
  };
  const fits = new Set();
  for (const node of nodes) if (isAsked(node)) fits.add(node.number);
  const shown = new Set();
  const show = (number) => {
    shown.add(number);
    shown.add(owner[number]);
  };
  // All ancestors, without what else is attached to them.
  const up = (number) => {
    const todo = [number, owner[number]];
    const seen = new Set();
    while (todo.length > 0) {
      const next = todo.pop();
      if (seen.has(next)) continue;
      seen.add(next);
      show(next);
      for (const edge of above[next]) {
        if (edge.type === 'parent' || edge.type === 'contains' || edge.type === 'backend') todo.push(edge.from);
      }
    }
  };
  for (const number of fits) {
    up(number);
    if (model.isPolicy(nodes[number])) {
      for (const edge of model.targetsOf[number]) up(edge.to);
      for (const other of [...model.overriddenBy[number], ...model.overrides[number]]) {
        show(other);
        for (const edge of model.targetsOf[other]) show(edge.to);
      }
    } else {
      for (const part of [number, ...model.sections[number]]) {
        for (const edge of model.policiesAt[part]) {
          if (now.states.size === 0 && now.kind === '') show(edge.from);
        }
        for (const edge of below[part].filter((e) => e.type === 'backend')) show(edge.to);
        if (part !== number) show(part);
      }
    }
  }
  return { fits, shown };
}

/** The number of policies by state, by kind and by namespace. */
export function countsOf(model, numbers) {
  const counts = { states: new Map(), kinds: new Map(), namespaces: new Map(), policies: 0, objects: 0, problems: 0 };
  const add = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
  for (const number of numbers) {
    const node = model.nodes[number];
    if (node.object.section !== undefined) continue;
    if (node.state) add(counts.states, node.state);
    add(counts.kinds, model.kindOf(node));
    add(counts.namespaces, model.home(node));
    if (model.isPolicy(node)) counts.policies += 1;
    else counts.objects += 1;
  }
  return counts;
}
