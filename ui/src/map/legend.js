// The legend of colours and glyphs: a list below the map, and part of a saved picture.
import { text } from './text.js';

export function legendOf(model, plan) {
  const { shape, make } = text;
  const states = model.looks.filter((look) => model.nodes.some((node) => node.state === look.state || model.targetsOf[node.number].some((e) => e.state === look.state)));
  const entries = states.map((look) => ({
    mark: () => [shape('g', { class: `chip ${look.class}` }, shape('rect', { class: 'pill', x: 0.5, y: 0.5, width: 21, height: 15, rx: 6 }),
      shape('path', { class: 'glyph', d: look.glyph, transform: 'translate(5 2)' }))],
    words: look.state, title: look.words,
  }));
  const kinds = new Map(model.nodes.filter(model.isPolicy).map((node) => [model.kindOf(node), node]));
  const badges = [...kinds.values()].filter((node) => model.badge(node) !== node.object.kind);
  for (const node of badges) {
    const badge = model.badge(node);
    entries.push({ mark: () => [shape('g', { class: 'badge' }, shape('text', { class: 'badge-text', x: 0, y: 12 }, badge))], words: node.object.kind, title: model.kindOf(node), width: text.measure(badge, 'badge') + 2 });
  }
  plan.gateways.forEach((cell) => {
    if (plan.gateways.length > 12) return;
    entries.push({ mark: () => [shape('path', { class: `wire lane${model.colours.get(cell.node)}`, d: 'M0 8H22' })], words: model.name(model.nodes[cell.node]), title: 'routes of this Gateway' });
  });
  const boxes = [
    { words: 'does not exist', of: model.nodes.some((node) => node.missing), mark: () => [shape('g', { class: 'cell missing' }, shape('rect', { class: 'box', x: 0.5, y: 1.5, width: 21, height: 13, rx: 3 }))] },
    { words: 'of another namespace', of: plan.hasPortals, mark: () => [shape('g', { class: 'cell portal' }, shape('rect', { class: 'box', x: 0.5, y: 1.5, width: 21, height: 13, rx: 3 }))] },
    { words: 'overrides', of: model.overrides.some((set) => set.size > 0), mark: () => [shape('path', { class: 'arc', d: 'M0 8H16' }), shape('path', { class: 'arc-head', d: 'M14 8l8 -4v8z', transform: 'rotate(180 18 8)' })] },
  ];
  entries.push(...boxes.filter((entry) => entry.of));

  function list() {
    return make('ul', '', ...entries.map((entry) => {
      const item = make('li', '', shape('svg', { width: entry.width ?? 22, height: 16, 'aria-hidden': 'true' }, ...entry.mark()), entry.words);
      if (entry.title) item.title = text.plain(entry.title);
      return item;
    }));
  }

  /** The legend wrapped at a width, and its height. */
  function picture(width) {
    let [x, y] = [0, 0];
    const parts = entries.map((entry) => {
      const mark = entry.width ?? 22;
      const long = mark + 6 + text.measure(entry.words, 'plain');
      if (x > 0 && x + long > width) [x, y] = [0, y + 24];
      const part = shape('g', { transform: `translate(${x} ${y})` }, ...entry.mark(), shape('text', { class: 'kind', x: mark + 6, y: 12 }, entry.words));
      x += long + 22;
      return part;
    });
    return { parts, height: y + 24 };
  }

  return { list, picture };
}
