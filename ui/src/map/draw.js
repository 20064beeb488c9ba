// Draws the map: boxes, frames and wires as SVG shapes. main.js handles clicks.
import { text } from './text.js';

export function drawing(model, plan, found, wires, now) {
  const { nodes } = model;
  const { shape } = text;
  const PAD = 12;
  const OPEN = 'M7 14L12 19L17 14';
  const CLOSED = 'M9 11L14 16L9 21';

  const glyphOf = (look, x, y) => shape('path', { class: 'glyph', d: look.glyph, transform: `translate(${x} ${y})` });
  const words = (className, x, y, content, more) => shape('text', { class: className, x, y, ...more }, content);

  /** Texts of one element: spaces between them, so that they are words of its name; the lines of a name are one word. */
  const spaced = (...content) => content.flat().filter(Boolean).flatMap((part) => [' ', part]);

  /** The group of a node: the clickable element. Its name for screen readers contains the texts that it shows. */
  function group(number, className, label, title, ...content) {
    return shape('g', {
      class: `node ${className}`, 'data-n': number, tabindex: 0, role: 'button', 'aria-label': label,
    }, shape('title', null, title), ...content);
  }

  const area = (row, width, inset = 1) => shape('rect', { class: 'area', x: inset, y: row.top, width: width - 2 * inset, height: row.height, rx: 4 });

  function headRow(cell, row) {
    const node = nodes[row.node];
    const missing = node.missing ? ', does not exist' : '';
    const { name, namespace } = node.object;
    const label = row.where || !namespace ? `${row.kind} ${row.where ? `${row.where}/` : ''}${name}` : `${row.kind} ${name} in ${namespace}`;
    const lines = row.names.map((line, i) => words('name', PAD, row.top + 33 + 16 * i, line));
    return group(row.node, `part${node.missing ? ' missing' : ''}`, label + missing, model.label(node) + missing,
      area({ ...row, top: row.top + 1 }, cell.width),
      ...spaced(words('kind', PAD, row.top + 16, row.kind), row.where && words('kind end', cell.width - PAD, row.top + 16, row.where)), ' ', ...lines);
  }

  function policyRow(cell, row) {
    const node = nodes[row.node];
    const look = model.look(row.state);
    const by = [...(row.edge?.by ?? [])].map((other) => model.label(nodes[other]));
    const shown = [row.badge, node.object.name, row.note].filter(Boolean).join(' ');
    const { kind: own, namespace } = node.object;
    const parts = [shown, namespace ? `${own} in ${namespace}` : own, row.state ?? 'unknown state'];
    if (by.length > 0) parts.push(`overridden by ${by.join(', ')}`);
    if (row.edge?.reason) parts.push(`not attached: ${row.edge.reason}`);
    const [x, y] = [8, row.top + 2];
    const width = cell.width - 2 * x;
    const height = row.height - 4;
    const badge = text.measure(row.badge, 'badge');
    const start = x + 22 + badge + 12;
    const kind = shape('g', { class: 'badge' }, shape('title', null, model.kindOf(node)),
      shape('rect', { x: x + 20, y: y + 3, width: badge + 8, height: 14, rx: 3 }), words('badge-text', x + 24, y + 14, row.badge));
    return group(row.node, `chip ${look?.class ?? 'no-effect'}`, parts.join(', '), `${model.kindOf(node)} ${model.name(node)}\n${parts.slice(2).join('\n')}`,
      shape('rect', { class: 'pill', x, y, width, height, rx: 6 }),
      look ? glyphOf(look, x + 4, y + 4) : null, kind, ' ',
      ...row.names.map((line, i) => words('policy', start, y + 14.5 + 15 * i, line)),
      ...spaced(row.note && words('note end', x + width - 7, y + 14, row.note)));
  }

  function rowOf(cell, row) {
    switch (row.type) {
      case 'head': return headRow(cell, row);
      case 'policy': return policyRow(cell, row);
      case 'section': {
        const node = nodes[row.node];
        const full = model.label(node) + (node.missing ? ', does not exist' : '');
        const label = `${[row.left, row.right].filter(Boolean).join(' ')}, ${full}`;
        return group(row.node, `part section-row${node.missing ? ' missing' : ''}`, label, row.title ? `${full}\n${row.title}` : full,
          area(row, cell.width), shape('path', { class: 'line', d: `M0 ${row.top}H${cell.width}` }),
          ...spaced(words('section', PAD, row.top + 15, row.left), row.right && words('kind end', cell.width - PAD, row.top + 15, row.right)));
      }
      case 'problem': return shape('g', { class: 'problem', 'data-of': row.node }, shape('title', null, row.title),
        shape('path', { class: 'glyph', d: 'M3 3L9 9M9 3L3 9', transform: `translate(${PAD - 2} ${row.top + 3})` }),
        ...row.lines.map((line, i) => words('problem-text', PAD + 14, row.top + 13 + 14 * i, line)));
      default: return shape('g', null, row.title ? shape('title', null, row.title) : null,
        words(row.font === 'code' ? 'code' : 'kind', PAD, row.top + 13, row.words));
    }
  }

  function cellOf(cell) {
    const owner = cell.node === null ? null : nodes[cell.node];
    const className = ['cell', cell.place === 'portal' ? 'portal' : '', owner?.missing || owner === null ? 'missing' : '', cell.bad ? 'bad' : ''].filter(Boolean).join(' ');
    const colour = owner?.type === 'gateway' ? model.colours.get(owner.number) : undefined;
    return shape('g', { class: className, transform: `translate(${cell.x} ${cell.y})`, 'data-cell': cell.key },
      shape('rect', { class: 'box', width: cell.width, height: cell.height, rx: 8 }),
      colour === undefined || cell.place !== 'left' ? null : shape('path', { class: `stripe lane${colour}`, d: `M${cell.width - 4} 8V${cell.height - 8}` }),
      ...cell.rows.map((row) => rowOf(cell, row)));
  }

  /** States with their numbers: `✓ 4`. */
  function tallies(states, x, y) {
    const parts = [];
    let at = x;
    for (const look of model.looks) {
      const count = states.get(look.state);
      if (!count) continue;
      const own = String(count);
      const width = 24 + text.measure(own, 'small');
      parts.push(shape('g', { class: `tally ${look.class}` }, shape('title', null, `${own} ${look.state}: ${look.words}`),
        shape('rect', { class: 'pill', x: at, y, width, height: 18, rx: 9 }), glyphOf(look, at + 4, y + 3), words('policy', at + 18, y + 13, own)));
      at += width + 5;
    }
    return { parts, end: at };
  }

  const chipWidth = (one) => Math.min(one.width - 20, 420);

  function frameOf(one) {
    const title = one.namespace || 'cluster-scoped';
    const bad = one.count.problems;
    const label = `Namespace ${title}: ${one.counted}${bad > 0 ? `, ${text.count(bad, 'problem')}` : ''}`;
    const warning = (x, y) => (bad > 0 ? [shape('g', { class: 'tally warning broken' }, shape('title', null, text.count(bad, 'problem')),
      shape('rect', { class: 'pill', x, y, width: text.measure(text.count(bad, 'problem'), 'small') + 12, height: 18, rx: 9 }),
      words('policy', x + 6, y + 13, text.count(bad, 'problem')))] : []);
    const nameWidth = text.measure(title, 'title');
    const parts = [
      shape('rect', { class: 'toggle-area', width: one.width, height: one.open ? 32 : one.height, rx: 10 }),
      shape('path', { class: 'caret', d: one.open ? OPEN : CLOSED }), words('frame-name', 26, 21, title),
    ];
    if (one.open) {
      const counted = one.counted;
      parts.push(...spaced(words('kind', 26 + nameWidth + 12, 21, counted), warning(26 + nameWidth + 20 + text.measure(counted, 'small'), 8)));
    } else {
      parts.push(...spaced(words('kind', 26, 41, one.counted), warning(26 + nameWidth + 10, 8)));
    }
    const states = one.open ? [] : tallies(one.count.states, 26, 54).parts;
    const header = shape('g', {
      class: 'toggle', 'data-ns': one.namespace, tabindex: 0, role: 'button', 'aria-expanded': String(one.open), 'aria-label': label,
    }, shape('title', null, `${label}\n${one.open ? 'Click to collapse' : 'Click to expand'}`), ...parts);
    const chips = [];
    let y = 32;
    for (const row of one.open ? one.chips : []) {
      chips.push(shape('g', { transform: `translate(10 ${y})` }, row.type === 'policy'
        ? policyRow({ width: chipWidth(one) }, { ...row, top: 0 }) : words('kind', PAD, 13, row.words)));
      y += row.height;
    }
    return shape('g', {
      class: `frame ${one.open ? 'open' : 'closed'}${bad > 0 ? ' bad' : ''}`, transform: `translate(${one.x} ${one.y})`, 'data-frame': one.namespace,
    }, shape('rect', { class: 'frame-box', width: one.width, height: one.height, rx: 10 }), header, ...states, ...chips);
  }

  function problemFrame(one) {
    const { x, y, width, height, counted, open } = one;
    const header = shape('g', {
      class: 'toggle', 'data-ns': one.namespace, tabindex: 0, role: 'button', 'aria-expanded': String(open), 'aria-label': `Problems: ${counted}`,
    }, shape('title', null, `Targets that do not exist, and policies that are not attached\n${open ? 'Click to collapse' : 'Click to expand'}`),
    shape('rect', { class: 'toggle-area', width, height: open ? 32 : height, rx: 10 }),
    shape('path', { class: 'caret', d: open ? OPEN : CLOSED }), words('frame-name', 26, 21, 'Problems'), ' ',
    open ? words('kind', 34 + text.measure('Problems', 'title'), 21, counted) : words('kind', 26, 41, counted));
    return shape('g', { class: `frame problems ${open ? 'open' : 'closed'}`, transform: `translate(${x} ${y})`, 'data-frame': one.namespace },
      shape('rect', { class: 'frame-box', width, height, rx: 10 }), header);
  }

  /** The name of a frame, readable when the map is zoomed out. */
  function farName(one) {
    const title = one.namespace || 'cluster-scoped';
    return shape('g', { class: 'far-name', transform: `translate(${one.x + one.width / 2} ${one.y + (one.open ? Math.min(one.height / 2, 400) : 30)})` },
      words('', 0, 0, title));
  }

  function farGateway(cell) {
    return shape('g', { class: 'far-name', transform: `translate(${cell.x + cell.width / 2} ${cell.y + cell.height / 2})` }, words('', 0, 0, nodes[cell.node].object.name));
  }

  function wireOf(wire) {
    const [from, ...to] = wire.ends;
    return shape('path', {
      class: `wire${wire.colour === undefined ? '' : ` lane${wire.colour}`}${wire.bundle ? ' bundle' : ''}`, d: wire.path, 'data-from': from, 'data-to': to.join(' '),
    }, wire.title ? shape('title', null, wire.title) : null);
  }

  /** The left and right ends of each drawn policy, by number. */
  function spots() {
    const at = new Map();
    const add = (number, left, right, y) => at.set(number, [...(at.get(number) ?? []), { left, right, y }]);
    for (const cell of allCells()) {
      for (const row of cell.rows.filter((one) => one.type === 'policy')) {
        add(row.node, cell.x + 8, cell.x + cell.width - 8, cell.y + row.top + row.height / 2);
      }
    }
    for (const one of found.frames.filter((frame) => frame.open)) {
      let y = one.y + 32;
      for (const row of one.chips) {
        if (row.type === 'policy') add(row.node, one.x + 18, one.x + 2 + chipWidth(one), y + row.height / 2);
        y += row.height;
      }
    }
    return at;
  }

  /** Curves from policies to those that they override; only for the selected policy, if there is one. */
  function arcs(of) {
    const at = spots();
    const parts = [];
    for (const [loser, winners] of model.overriddenBy.entries()) {
      for (const winner of winners) {
        if (of !== null && of !== loser && of !== winner) continue;
        const title = `${model.label(nodes[winner])} overrides ${model.label(nodes[loser])}`;
        for (const a of at.get(winner) ?? []) for (const b of at.get(loser) ?? []) parts.push(...arc(a, b, title));
      }
    }
    return parts;
  }

  /** A curve between two policies, on the sides that face each other; next to them if one is above the other. */
  function arc(a, b, title) {
    const [from, to, side] = a.right < b.left ? [a.right, b.left, -1] : a.left > b.right ? [a.left, b.right, 1] : [a.right, b.right, 1];
    const out = 40 + Math.min(120, Math.abs(a.y - b.y) / 6);
    const start = from === a.left ? from - out : from + out;
    const path = `M${from} ${a.y}C${start} ${a.y} ${to + side * out} ${b.y} ${to + side * 6} ${b.y}`;
    return [
      shape('path', { class: 'arc', d: path }, shape('title', null, title)),
      shape('path', { class: 'arc-head', d: `M${to} ${b.y}l${side * 8} -4v8z` }),
    ];
  }

  function allCells() {
    const inFrames = found.frames.flatMap((one) => (one.parts ?? []).flatMap((part) => part.columns.flat()));
    return [...plan.classes, ...plan.gateways, ...inFrames, ...(found.problems?.open ? found.problems.cells : [])];
  }

  const layer = (className, parts) => shape('g', { class: className }, ...parts);
  const layers = [
    layer('frames', [...found.frames.map(frameOf), ...(found.problems ? [problemFrame(found.problems)] : [])]),
    layer('wires', wires.map(wireOf)),
    layer('cells', allCells().map(cellOf)),
    layer('arcs', []),
    layer('far-names', [...found.frames.map(farName), ...plan.gateways.map(farGateway)]),
  ];
  return { layers, arcs, now };
}
