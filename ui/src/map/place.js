// Positions. Gateways are on the left; the frames of namespaces fill columns next to them, as many as fit the screen
// best. There is room for wires above the columns and to the left of each.
import { text } from './text.js';

export function placed(model, found, screen) {
  const GAP = 12;
  const AISLE = 46;
  const INSET = 11;
  const TITLE = 34;
  const BETWEEN = 20;
  const CLOSED = { width: 250, height: 84 };
  const { nodes } = model;
  const gateways = found.left.filter((cell) => nodes[cell.node].type === 'gateway');
  const lanes = Math.max(1, gateways.length);
  const channel = Math.min(60, 4 * lanes);

  /** Stacks boxes, each as close to its desired height as the others allow. */
  function stack(cells, wish) {
    const order = cells.map((cell, i) => ({ cell, i, at: wish(cell) }));
    order.sort((a, b) => a.at - b.at || a.i - b.i);
    let y = 0;
    for (const { cell, at } of order) {
      cell.y = Math.max(y, at);
      y = cell.y + cell.height + GAP;
    }
    return Math.max(0, y - GAP);
  }

  function middleOf(cell, number) {
    const row = cell.rows.find((one) => one.node === number && (one.type === 'section' || one.type === 'head')) ?? cell.rows[0];
    return cell.y + row.top + row.height / 2;
  }

  /** Sets the heights of a part's boxes: routes first, then the others next to their neighbours. */
  function settle(part) {
    const [parents, routes, backends] = part.columns;
    const cellAt = (number) => part.cells.get(number) ?? part.portals.get(number);
    const near = (cell, far) => {
      const joined = part.links.filter((link) => cellAt(far ? link.a : link.b) === cell);
      const ys = joined.map((link) => {
        const other = cellAt(far ? link.b : link.a);
        return other && other.y !== undefined ? middleOf(other, far ? link.to : link.from) : null;
      }).filter((y) => y !== null);
      return ys.length > 0 ? Math.max(0, ys.reduce((a, b) => a + b) / ys.length - 20) : 0;
    };
    let height = stack(routes, () => 0);
    height = Math.max(height, stack(backends, (cell) => near(cell, false)));
    height = Math.max(height, stack(parents, (cell) => near(cell, true)));
    part.height = height;
  }

  const widest = (cells) => cells.reduce((most, cell) => Math.max(most, cell.width), 0);

  /** Cuts the parts of a frame into columns of about this height. */
  function bandsOf(one, target) {
    const bands = [];
    let band = null;
    for (const part of one.parts) {
      if (band === null || (band.height > 0 && band.height + part.height > target)) {
        band = { parts: [], height: 0, widths: [0, 0, 0] };
        bands.push(band);
      }
      part.dy = band.height;
      band.parts.push(part);
      band.height += part.height + GAP + 4;
      part.columns.forEach((cells, i) => { band.widths[i] = Math.max(band.widths[i], widest(cells)); });
    }
    return bands;
  }

  /** The size of a frame's heading: its name, its contents, its problems. */
  function headingOf(one) {
    const problems = one.count.problems > 0 ? 24 + text.measure(text.count(one.count.problems, 'problem'), 'small') : 0;
    return 56 + text.measure(one.namespace || 'cluster-scoped', 'title') + text.measure(one.counted, 'small') + problems;
  }

  function sizeOf(one, target) {
    if (!one.open) {
      one.width = Math.max(CLOSED.width, text.measure(one.counted, 'small') + 40, headingOf(one) - text.measure(one.counted, 'small'));
      one.height = CLOSED.height;
      return;
    }
    one.bands = bandsOf(one, target);
    const chips = one.chips.reduce((sum, row) => sum + row.height, 0);
    const between = one.bands.length > 1 ? channel + 10 : 0;
    let x = INSET;
    for (const band of one.bands) {
      band.x = x;
      for (const width of band.widths) if (width > 0) x += width + AISLE;
      x += one.bands.length > 1 ? channel : 0;
    }
    one.body = TITLE + chips + (chips > 0 ? 6 : 0) + between;
    one.width = Math.max(x - AISLE - (one.bands.length > 1 ? channel : 0) + INSET, 220, headingOf(one), ...one.chips.map((row) => row.width + 40));
    one.height = one.body + Math.max(0, ...one.bands.map((band) => band.height)) - (one.bands.length > 0 ? 2 : 0) + 4;
  }

  /** Fills columns of a height; returns their total height and width. */
  function columned(blocks, tall) {
    const columns = [];
    let column = null;
    for (const one of blocks) {
      if (column === null || (column.height > 0 && column.height + one.height > tall)) {
        column = { blocks: [], height: 0, width: 0, own: 0 };
        columns.push(column);
      }
      one.top = column.height;
      column.blocks.push(one);
      column.height += one.height + BETWEEN;
      column.width = Math.max(column.width, one.width);
      if (!one.open) column.own = Math.max(column.own, one.width);
    }
    let x = 0;
    let height = 0;
    for (const one of columns) {
      one.x = x;
      x += one.width + AISLE * 0.6 + channel;
      height = Math.max(height, one.height - BETWEEN);
    }
    return { columns, width: Math.max(0, x - AISLE * 0.6 - channel), height: height + (columns.length > 1 ? channel + 16 : 0) };
  }

  // --- left: classes, then Gateways
  const classes = found.left.filter((cell) => nodes[cell.node].type === 'gatewayClass');
  const heightOf = (cells) => cells.reduce((sum, cell) => sum + cell.height + GAP, -GAP);
  const classWidth = widest(classes);
  const gatewayX = classWidth > 0 ? classWidth + AISLE : 0;
  const leftWidth = gatewayX + widest(gateways);
  const leftHeight = Math.max(0, heightOf(classes), heightOf(gateways));
  const start = leftWidth > 0 ? leftWidth + AISLE + channel : 0;

  for (const one of found.frames) for (const part of one.parts ?? []) settle(part);
  const area = found.frames.reduce((sum, one) => sum + (one.open ? one.parts.reduce((s, p) => s + (p.height + GAP) * (p.columns.reduce((w, c) => w + (c.length ? widest(c) + AISLE : 0), 0)), 0) : 300 * 110), 0);
  if (found.problems) sizeProblems(found.problems);
  const blocks = [...found.frames, ...(found.problems ? [found.problems] : [])];
  let best = null;
  for (const share of [0.5, 0.75, 1, 1.5, 2.5]) {
    const target = Math.max(480, Math.sqrt(area / 1.6) * share);
    for (const one of found.frames) sizeOf(one, target);
    const total = blocks.reduce((sum, one) => sum + one.height + BETWEEN, 0);
    const tallest = Math.max(0, ...blocks.map((one) => one.height));
    for (let count = 1; count <= 64; count += count < 16 ? 1 : 4) {
      const tall = Math.max(tallest, (total / count) * 1.06);
      const tried = columned(blocks, tall);
      const whole = { width: start + tried.width, height: Math.max(leftHeight, tried.height) };
      const scale = Math.min(1, screen.width / Math.max(1, whole.width), screen.height / Math.max(1, whole.height));
      // Fewer columns are easier to read, so they win if they fit equally well.
      const worth = scale - tried.columns.length * 0.002;
      if (best === null || worth > best.worth) best = { worth, target, tall };
    }
  }
  for (const one of found.frames) sizeOf(one, best.target);
  const { columns, width: right, height: rightHeight } = columned(blocks, best.tall);
  const down = columns.length > 1 ? channel + 16 : 0;

  // --- set the positions
  for (const column of columns) {
    column.x += start;
    for (const one of column.blocks) {
      Object.assign(one, { x: column.x, y: down + one.top, column, width: one.open ? one.width : column.own });
      for (const band of one.bands ?? []) {
        band.aisle = one.x + band.x - 8;
        for (const part of band.parts) putPart(one, band, part);
      }
      for (const cell of one.open && one.cells ? one.cells : []) {
        cell.x += one.x;
        cell.y += one.y;
      }
    }
  }

  function putPart(one, band, part) {
    let x = one.x + band.x;
    part.columns.forEach((cells, i) => {
      for (const cell of cells) {
        cell.x = x;
        cell.y += one.y + one.body + part.dy;
        cell.width = Math.max(cell.width, band.widths[i]);
        cell.frame = one;
        cell.band = band;
      }
      if (band.widths[i] > 0) x += band.widths[i] + AISLE;
    });
  }

  let y = 0;
  for (const cell of gateways) {
    Object.assign(cell, { x: gatewayX, y, width: widest(gateways) });
    y += cell.height + GAP;
  }
  y = 0;
  for (const cell of classes) {
    Object.assign(cell, { x: 0, y, width: classWidth });
    y += cell.height + GAP;
  }
  return {
    columns, gateways, classes, channel, start, down,
    width: Math.max(start + right, leftWidth), height: Math.max(leftHeight, rightHeight), laneX: leftWidth + AISLE / 2,
  };

  /** The frame of missing targets: its boxes in rows, about as wide as high. */
  function sizeProblems(one) {
    if (!one.open) {
      Object.assign(one, { width: CLOSED.width + 30, height: CLOSED.height - 26 });
      return;
    }
    const area = one.cells.reduce((sum, cell) => sum + (cell.width + GAP) * (cell.height + GAP), 0);
    const wide = Math.max(300, Math.sqrt(area * 0.8), ...one.cells.map((cell) => cell.width)) + 2 * INSET;
    let [x, line, tallest, far] = [INSET, TITLE + 4, 0, 0];
    for (const cell of one.cells) {
      if (x > INSET && x + cell.width > wide - INSET) [x, line, tallest] = [INSET, line + tallest + GAP, 0];
      Object.assign(cell, { x, y: line });
      x += cell.width + GAP;
      far = Math.max(far, x);
      tallest = Math.max(tallest, cell.height);
    }
    const heading = 46 + text.measure('Problems', 'title') + text.measure(one.counted, 'small');
    Object.assign(one, { width: Math.max(heading, far - GAP + INSET), height: line + tallest + INSET });
  }
}
