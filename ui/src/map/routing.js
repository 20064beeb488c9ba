// The routes of the wires. From Gateways they run along lanes, one for each Gateway, above the columns of frames and
// next to them; within a frame they go straight to the next column.
import { text } from './text.js';

export function wiresOf(model, found, plan) {
  const { nodes, above, below, owner } = model;
  const wires = [];
  const laneOf = new Map(plan.gateways.map((cell, i) => [cell.node, i]));
  const count = Math.max(1, plan.gateways.length);
  const step = plan.channel / count;

  const rowOf = (cell, number) => cell.rows.find((row) => row.node === number && row.type === 'section')
    ?? cell.rows.find((row) => row.type === 'head') ?? cell.rows[0];
  const heightOf = (cell, number) => {
    const row = rowOf(cell, number);
    return cell.y + row.top + row.height / 2;
  };

  function bend(points) {
    const RADIUS = 7;
    let path = `M${points[0].x} ${points[0].y}`;
    for (let i = 1; i < points.length - 1; i += 1) {
      const [last, here, next] = [points[i - 1], points[i], points[i + 1]];
      const into = Math.min(RADIUS, Math.hypot(here.x - last.x, here.y - last.y) / 2);
      const out = Math.min(RADIUS, Math.hypot(next.x - here.x, next.y - here.y) / 2);
      const toward = (from, to, by) => {
        const far = Math.hypot(to.x - from.x, to.y - from.y) || 1;
        return { x: from.x + ((to.x - from.x) / far) * by, y: from.y + ((to.y - from.y) / far) * by };
      };
      const [a, b] = [toward(here, last, into), toward(here, next, out)];
      path += `L${round(a.x)} ${round(a.y)}Q${round(here.x)} ${round(here.y)} ${round(b.x)} ${round(b.y)}`;
    }
    const end = points[points.length - 1];
    return `${path}L${round(end.x)} ${round(end.y)}`;
  }

  const round = (n) => Math.round(n * 10) / 10;

  function curve(x1, y1, x2, y2) {
    const half = (x2 - x1) / 2;
    return `M${round(x1)} ${round(y1)}C${round(x1 + half)} ${round(y1)} ${round(x2 - half)} ${round(y2)} ${round(x2)} ${round(y2)}`;
  }

  /** From a Gateway to the left side of a box in a frame. */
  function along(cell, section, one, band, x, y) {
    const lane = laneOf.get(cell.node);
    const offset = (lane - (count - 1) / 2) * step;
    const from = { x: cell.x + cell.width, y: heightOf(cell, section) };
    const laneX = plan.laneX + (lane + 0.5) * step;
    const points = [from, { x: laneX, y: from.y }];
    let at = laneX;
    if (plan.columns[0] !== one.column) {
      const over = plan.channel / 2 + offset;
      points.push({ x: laneX, y: over });
      at = one.x - 10 - plan.channel / 2 + offset;
      points.push({ x: at, y: over });
    }
    if (band && one.bands.indexOf(band) > 0) {
      const inner = one.y + one.body - 5 - plan.channel / 2 + offset;
      points.push({ x: at, y: inner });
      at = band.aisle - plan.channel / 2 + offset;
      points.push({ x: at, y: inner });
    }
    points.push({ x: at, y }, { x, y });
    return bend(points.filter((point, i) => i === 0 || point.x !== points[i - 1].x || point.y !== points[i - 1].y));
  }

  // --- classes to Gateways
  for (const cell of plan.gateways) {
    for (const edge of above[cell.node].filter((e) => e.type === 'parent')) {
      const parent = plan.classes.find((one) => one.node === edge.from);
      if (!parent) continue;
      wires.push({
        ends: [edge.from, cell.node],
        path: curve(parent.x + parent.width, heightOf(parent, edge.from), cell.x, heightOf(cell, cell.node)),
      });
    }
  }

  // --- Gateways to frames
  const cellIn = new Map();
  for (const one of found.frames) for (const part of one.parts ?? []) for (const [number, cell] of part.cells) cellIn.set(number, cell);
  for (const cell of plan.gateways) {
    const bundles = new Map();
    for (const part of [cell.node, ...model.sections[cell.node]]) {
      for (const edge of below[part].filter((e) => e.type === 'parent')) {
        const one = found.placeOf.get(edge.to);
        if (!one || one === 'left') continue;
        if (!one.open) {
          const bundle = bundles.get(one) ?? { sections: new Set(), members: [] };
          bundle.sections.add(part);
          bundle.members.push(edge.to);
          bundles.set(one, bundle);
          continue;
        }
        const target = cellIn.get(edge.to);
        if (!target) continue;
        const of = [...new Set(above[edge.to].filter((e) => e.type === 'parent').map((e) => laneOf.get(owner[e.from])).filter((n) => n !== undefined))].sort((a, b) => a - b);
        const y = heightOf(target, edge.to) + (of.indexOf(laneOf.get(cell.node)) - (of.length - 1) / 2) * 5;
        wires.push({ ends: [part, edge.to], colour: model.colours.get(cell.node), path: along(cell, part, one, target.band, target.x, y) });
      }
    }
    for (const [one, bundle] of bundles) {
      const lane = laneOf.get(cell.node);
      const y = one.y + one.height / 2 + (lane - (count - 1) / 2) * Math.min(6, 60 / count);
      for (const section of bundle.sections) {
        wires.push({
          ends: [section, ...bundle.members], colour: model.colours.get(cell.node), bundle: true,
          title: `${model.label(nodes[cell.node])} to namespace ${one.namespace}: ${text.count(bundle.members.length, 'attachment')}`,
          path: along(cell, section, one, null, one.x, y),
        });
      }
    }
  }

  // --- within frames
  for (const one of found.frames.filter((frame) => frame.open)) {
    for (const part of one.parts) {
      for (const link of part.links) {
        const [a, b] = [link.a, link.b].map((number) => (link.portal === number ? part.portals.get(number) : part.cells.get(number)));
        if (!a || !b) continue;
        const path = a.x === b.x
          ? `M${a.x + a.width} ${heightOf(a, link.from)}C${a.x + a.width + 40} ${heightOf(a, link.from)} ${b.x + b.width + 40} ${heightOf(b, link.to)} ${b.x + b.width} ${heightOf(b, link.to)}`
          : curve(a.x < b.x ? a.x + a.width : a.x, heightOf(a, link.from), a.x < b.x ? b.x : b.x + b.width, heightOf(b, link.to));
        wires.push({ ends: [link.from, link.to], path });
      }
    }
  }
  return wires;
}
