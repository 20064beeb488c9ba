// The frame of each box: Gateways and their classes on the left, everything else in the frame of its namespace, missing
// targets in their own frame. An object that a route names in another namespace also has a box in the route's frame.

import { text } from './text.js';

// The key of the frame of missing targets; no namespace has such a name.
const LOST = '(problems)';

export function framesOf(model, cells, shown, isOpen) {
  const { nodes, above, below, owner } = model;
  const isShown = (number) => shown.has(number);
  const FEW = 8;
  const isWhole = (node) => node.object.section === undefined;
  const counts = (edge) => edge.type === 'parent' || edge.type === 'backend';

  /** The objects above a node, through their sections, by the edges that count. */
  const parentsOf = (number) => [...new Set(above[number].filter((e) => e.type === 'parent').map((e) => owner[e.from]))];

  // If there are many Gateways, one that serves only its own namespace is shown there.
  const gateways = nodes.filter((node) => node.type === 'gateway' && !node.missing && isShown(node.number));
  const servesOthers = (gateway) => [gateway.number, ...model.sections[gateway.number]].some((part) => below[part]
    .some((edge) => edge.type === 'parent' && nodes[edge.to].object.namespace !== gateway.object.namespace));
  const isAside = (node) => node.type === 'gatewayClass' || (node.type === 'gateway' && (gateways.length <= FEW || servesOthers(node)));
  const hasUse = (node) => model.policiesAt[node.number].length > 0 || [node.number, ...model.sections[node.number]].some((part) => (
    model.policiesAt[part].length > 0 || above[part].some(counts) || below[part].some(counts)));

  const left = [];
  const frames = new Map();
  const lost = [];
  const idle = [];
  const frame = (namespace) => {
    if (!frames.has(namespace)) frames.set(namespace, { namespace, members: [], node: null, policies: [] });
    return frames.get(namespace);
  };
  for (const node of nodes) {
    if (!isShown(node.number) || !isWhole(node)) continue;
    if (node.type === 'namespace' && !node.missing) {
      const own = frame(node.object.name);
      own.node = node.number;
      continue;
    }
    if (model.isPolicy(node)) {
      frame(node.object.namespace).policies.push(node.number);
      const isNamed = above[node.number].some((edge) => edge.type !== 'contains') || model.policiesAt[node.number].length > 0;
      if (node.missing) lost.push(node.number);
      else if (isNamed) frame(node.object.namespace).members.push(node.number);
      else if (node.reason) idle.push(node.number);
    } else if (node.missing) {
      if (hasUse(node)) lost.push(node.number);
    } else if (isAside(node)) {
      left.push(node.number);
    } else {
      frame(node.object.namespace).members.push(node.number);
    }
  }
  // A namespace with only policies has no frame: policies are drawn at their targets.
  const all = [...frames.values()].filter((one) => one.members.length > 0 || one.node !== null);
  all.sort((a, b) => (a.namespace < b.namespace ? -1 : 1));
  for (const one of all) one.open = isOpen(one.namespace, undefined);

  const placeOf = new Map();
  for (const number of left) placeOf.set(number, 'left');
  for (const one of all) for (const number of one.members) placeOf.set(number, one);

  const COLUMN = { listenerSet: 0, frontend: 0, gateway: 0, route: 1 };
  const columnOf = (node) => COLUMN[node.type] ?? (below[node.number].some((edge) => edge.type === 'parent') ? 0 : 2);

  /** The connected parts of a frame, with boxes for what they use in other namespaces. */
  function partsOf(one) {
    const root = new Map(one.members.map((number) => [number, number]));
    const find = (number) => {
      let at = number;
      while (root.get(at) !== at) at = root.get(at);
      root.set(number, at);
      return at;
    };
    const portals = new Map();
    const links = [];
    const link = (from, to, edge) => {
      const [a, b] = [owner[from], owner[to]];
      const [inA, inB] = [placeOf.get(a) === one, placeOf.get(b) === one];
      if (inA && inB) {
        const [low, high] = [find(a), find(b)].sort((x, y) => x - y);
        root.set(high, low);
        links.push({ from, to, a, b, edge });
      } else if (nodes[b].type === 'route' ? inB && placeOf.get(a) !== 'left' : inA) {
        // The route's frame has a box for objects in other namespaces.
        const [here, there] = inB ? [b, a] : [a, b];
        if (nodes[there].missing) return;
        portals.set(here, (portals.get(here) ?? new Set()).add(there));
        links.push({ from, to, a, b, edge, portal: there });
      }
    };
    for (const number of one.members) {
      for (const part of [number, ...model.sections[number]]) {
        for (const edge of below[part].filter((e) => counts(e) && isShown(owner[e.to]))) link(part, edge.to, edge);
        for (const edge of above[part].filter((e) => counts(e) && isShown(owner[e.from]))) {
          if (placeOf.get(owner[edge.from]) !== one) link(edge.from, part, edge);
        }
      }
    }
    const parts = new Map();
    for (const number of one.members) {
      const key = find(number);
      if (!parts.has(key)) parts.set(key, { columns: [[], [], []], links: [], cells: new Map(), portals: new Map() });
      const part = parts.get(key);
      const cell = cells.objectCell(number, 'frame', isShown);
      part.cells.set(number, cell);
      part.columns[columnOf(nodes[number])].push(cell);
      for (const there of portals.get(number) ?? []) {
        if (part.portals.has(there)) continue;
        const portal = cells.objectCell(there, 'portal', isShown);
        part.portals.set(there, portal);
        part.columns[nodes[number].type === 'route' && above[number].some((e) => owner[e.from] === there) ? 0 : 2].push(portal);
      }
    }
    for (const one of links) {
      const key = find(root.has(one.a) ? one.a : one.b);
      parts.get(key).links.push(one);
    }
    return [...parts.values()];
  }

  for (const one of all) {
    one.count = countOf(one);
    one.counted = countWords(one.count);
    if (one.open) {
      one.parts = partsOf(one);
      one.chips = one.node === null ? [] : cells.policyRows(one.node, isShown);
    }
  }

  function countWords({ routes, backends, sets, gateways, policies }) {
    const parts = [];
    if (gateways > 0) parts.push(text.count(gateways, 'Gateway'));
    if (sets > 0) parts.push(text.count(sets, 'ListenerSet'));
    if (routes > 0) parts.push(text.count(routes, 'route'));
    if (backends > 0) parts.push(text.count(backends, 'backend'));
    if (policies > 0) parts.push(text.count(policies, 'policy', 'policies'));
    return parts.join(' · ') || 'nothing';
  }

  function countOf(one) {
    const states = new Map();
    for (const number of one.policies) {
      const { state } = nodes[number];
      if (state) states.set(state, (states.get(state) ?? 0) + 1);
    }
    const inside = [...one.members, ...one.members.flatMap((number) => model.sections[number]), ...one.policies];
    const kinds = (type) => one.members.filter((number) => nodes[number].type === type).length;
    return {
      routes: kinds('route'), backends: kinds('backend'), sets: kinds('listenerSet'), gateways: kinds('gateway'),
      policies: one.policies.length, states, problems: inside.filter((number) => model.troubled.has(number)).length,
    };
  }

  // Missing targets and unattached policies have their own frame, collapsed if there are many.
  const FEW_LOST = 12;
  const problems = { namespace: LOST, cells: [], open: isOpen(LOST, lost.length + idle.length <= FEW_LOST) };
  problems.counted = [lost.length > 0 && text.count(lost.length, 'missing target'), idle.length > 0 && text.count(idle.length, 'unattached policy', 'unattached policies')]
    .filter(Boolean).join(' · ');
  for (const number of lost) problems.cells.push(cells.objectCell(number, 'problems', isShown));
  for (let i = 0; i < idle.length; i += 8) problems.cells.push(cells.idleCell(idle.slice(i, i + 8)));
  for (const number of [...lost, ...idle]) placeOf.set(number, problems);
  return {
    left: left.map((number) => cells.objectCell(number, 'left', isShown)), frames: all, placeOf, parentsOf,
    problems: problems.cells.length > 0 ? problems : null,
  };
}
