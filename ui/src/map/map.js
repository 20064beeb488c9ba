// The map with its bar, panel and search: user actions change the state, and the state changes the drawing. Mounted on a
// page that has the elements; the page of `attache graph -o html` and that of `attache ui` both do.
import { actionsOf } from './actions.js';
import { barOf } from './bar.js';
import { cellsOf } from './cells.js';
import { drawing } from './draw.js';
import { savingOf } from './export.js';
import { shownBy } from './filter.js';
import { framesOf } from './frames.js';
import { legendOf } from './legend.js';
import { linksOf } from './link.js';
import { modelOf } from './model.js';
import { mover } from './move.js';
import { panelOf } from './panel.js';
import { placed } from './place.js';
import { wiresOf } from './routing.js';
import { searchOf } from './search.js';
import { stateOf } from './state.js';

// Text is unreadable below this scale.
const READABLE = 0.5;
// With more objects than this, namespaces are collapsed at first.
const MANY = 400;

/**
 * Draws the map and connects it with the page, until the signal of `options` aborts.
 *
 * `options.prefix` is the part of the address before the selection; `options.details` fetches what the data does not
 * have of a node; `options.pageOf` is the address of a page of a node; `options.before` is what `snapshot` returned.
 */
export function mount(data, options) {
  const { signal, before } = options;
  const byId = (id) => document.getElementById(id);
  const model = modelOf(data);
  const state = stateOf();
  const { now } = state;
  const canvas = byId('canvas');
  const view = byId('view');
  const panel = byId('panel');
  const divider = byId('divider');
  const cells = cellsOf(model);
  const links = linksOf(model, state, options.prefix ?? '');

  let map = null;
  let elements = new Map();
  let wires = [];
  let opener = null;
  let isListing = false;

  function tell(words) {
    byId('said').textContent = words;
  }

  const move = mover(canvas, view, () => map?.plan ?? { width: 1, height: 1 }, signal);
  move.onShow((scale) => { byId('level').textContent = `${Math.round(scale * 100)}%`; });

  // --- the map

  function arrange(found, isOpen) {
    const frames = framesOf(model, cells, found.shown, isOpen);
    const plan = placed(model, frames, move.inside());
    const screen = move.inside();
    plan.hasPortals = frames.frames.some((one) => (one.parts ?? []).some((part) => part.portals.size > 0));
    return { frames, plan, scale: Math.min(1, screen.width / plan.width, screen.height / plan.height) };
  }

  /** The map with all namespaces open if that is readable, otherwise with all collapsed. */
  function arranged(found) {
    const opens = (otherwise) => (namespace, own) => now.folded.get(namespace) ?? own ?? otherwise;
    const boxes = [...found.shown].filter((number) => model.nodes[number].object.section === undefined && !model.isPolicy(model.nodes[number])).length;
    if (boxes <= MANY) {
      const open = arrange(found, opens(true));
      if (open.scale >= READABLE || now.folded.size === 0 && open.frames.frames.length < 2) return open;
    }
    return arrange(found, opens(false));
  }

  function draw(keep) {
    const found = shownBy(model, now);
    const { frames, plan } = arranged(found);
    const drawn = drawing(model, plan, frames, wiresOf(model, frames, plan), now);
    view.replaceChildren(...drawn.layers);
    const legend = legendOf(model, plan);
    byId('legend').replaceChildren(legend.list());
    map = { found, frames, plan, drawn, legend };
    elements = new Map();
    for (const element of view.querySelectorAll('.node')) {
      const number = Number(element.dataset.n);
      elements.set(number, [...(elements.get(number) ?? []), element]);
    }
    wires = [...view.querySelectorAll('.wire')].map((element) => ({
      element, from: Number(element.dataset.from), to: element.dataset.to.split(' ').map(Number),
    }));
    bar.show(found);
    if (!keep) move.fit(READABLE);
    mark();
    search.mark();
  }

  /** The frame that holds a node. */
  function frameOf(number) {
    const whole = model.owner[number];
    const one = map.frames.placeOf.get(whole);
    return one && one !== 'left' ? one : null;
  }

  /** The elements that show a node: its own, those of its object, or those of nodes that refer to it. */
  function drawnOf(number) {
    const own = elements.get(number) ?? elements.get(model.owner[number]);
    if (own) return own;
    const isNamespace = model.nodes[number].type === 'namespace';
    for (const edge of isNamespace ? [] : [...model.above[number], ...model.below[number]]) {
      const other = elements.get(edge.from === number ? edge.to : edge.from) ?? elements.get(model.owner[edge.from]);
      if (other && edge.type !== 'parent') return other;
    }
    const one = isNamespace
      ? map.frames.frames.find((frame) => frame.node === number)
      : [number, ...model.targetsOf[number].map((edge) => edge.to)].map(frameOf).find(Boolean);
    const toggle = one && [...view.querySelectorAll('.toggle')].find((element) => element.dataset.ns === one.namespace);
    return toggle ? [toggle] : [];
  }

  /** Opens the frames that hold a node; for a policy, those of its targets. */
  function open(number) {
    const held = [number, ...model.targetsOf[number].map((edge) => edge.to)];
    const closed = held.map(frameOf).filter((one) => one && !one.open);
    if (closed.length === 0) return false;
    const folded = new Map(now.folded);
    for (const one of allFrames()) folded.set(one.namespace, one.open);
    for (const one of closed.slice(0, 4)) folded.set(one.namespace, true);
    state.set({ folded });
    return true;
  }

  /** Brings a node into view. */
  function show(number, opens) {
    if (!map.found.shown.has(number)) state.set({ states: new Set(), kind: '', namespace: '', problems: false });
    if (opens) open(number);
    const [first] = drawnOf(number);
    if (first && move.isOutside(first)) move.centre(first);
  }

  function toggle(namespace) {
    const all = allFrames();
    const one = all.find((frame) => frame.namespace === namespace);
    if (!one) return;
    const folded = new Map(all.map((frame) => [frame.namespace, frame.open]));
    folded.set(namespace, !one.open);
    state.set({ folded });
    const element = [...view.querySelectorAll('.toggle')].find((other) => other.dataset.ns === namespace);
    element?.focus({ preventScroll: true });
    if (element && move.isOutside(element)) move.centre(element);
  }

  const allFrames = () => [...map.frames.frames, ...(map.frames.problems ? [map.frames.problems] : [])];
  const foldAll = (isOpen) => state.set({ folded: new Map(allFrames().map((one) => [one.namespace, isOpen])) });

  // --- select

  /** Marks the selection and everything on the paths through it. */
  function mark() {
    const { chosen } = now;
    for (const element of view.querySelectorAll('.selected')) {
      element.classList.remove('selected');
      element.removeAttribute('aria-pressed');
    }
    canvas.classList.toggle('choosing', chosen !== null);
    map.drawn.layers[3].replaceChildren(...(chosen !== null || now.overrides ? map.drawn.arcs(now.overrides ? null : chosen) : []));
    if (chosen === null) return;
    for (const element of drawnOf(chosen)) {
      element.classList.add('selected');
      element.setAttribute('aria-pressed', 'true');
    }
    const related = model.related(chosen);
    for (const { element, from, to } of wires) element.classList.toggle('on', related.has(from) && to.some((end) => related.has(end)));
    const others = new Set([...model.overrides[chosen], ...model.overriddenBy[chosen], chosen]);
    for (const cell of view.querySelectorAll('.cell')) {
      const inside = [...cell.querySelectorAll(':scope > .node, :scope > g > .node')];
      cell.classList.toggle('on', inside.some((one) => related.has(Number(one.dataset.n)) || others.has(Number(one.dataset.n))));
    }
    for (const frame of view.querySelectorAll('.frame')) {
      const one = allFrames().find((other) => other.namespace === frame.dataset.frame);
      const members = one?.members ?? one?.cells.flatMap((cell) => cell.rows.map((row) => row.node)) ?? [];
      frame.classList.toggle('on', one?.node === chosen || members.some((number) => related.has(number)));
    }
  }

  function fillPanel(content) {
    byId('about').replaceChildren(...content);
    panel.hidden = false;
    divider.hidden = false;
    panel.scrollTop = 0;
    panel.focus({ preventScroll: true });
  }

  function choose(number, from) {
    isListing = false;
    opener = from ?? null;
    state.set({ chosen: number });
    fillPanel(parts.about(number));
    complete(number);
    const [first] = drawnOf(number);
    if (first && move.isOutside(first)) move.centre(first);
  }

  /** Fetches the details of a node, and shows them if it is still selected. */
  async function complete(number) {
    const node = model.nodes[number];
    if (!options.details || node.isComplete) return;
    const about = await options.details(node);
    if (about === null || signal.aborted) return;
    Object.assign(node, { about, isComplete: true });
    if (now.chosen !== number || isListing) return;
    const { scrollTop } = panel;
    byId('about').replaceChildren(...parts.about(number));
    panel.scrollTop = scrollTop;
  }

  /** Selects a node and brings it into view. */
  function go(number) {
    show(number, true);
    choose(number);
  }

  function close() {
    const number = now.chosen;
    isListing = false;
    panel.hidden = true;
    divider.hidden = true;
    state.set({ chosen: null });
    const element = opener?.isConnected ? opener : number === null ? null : drawnOf(number)[0];
    element?.focus({ preventScroll: true });
  }

  /** Shows only nodes with problems, with a list of them; or everything again. */
  function onlyProblems() {
    if (model.problems.length === 0) return;
    const problems = !now.problems;
    // The map fits the space next to the panel.
    if (problems) fillPanel([]);
    state.set({ problems, chosen: null });
    if (problems) listProblems();
    else if (isListing) close();
  }

  function listProblems() {
    isListing = true;
    opener = null;
    fillPanel(parts.problems(map.found.shown));
  }

  const parts = panelOf(model, go, links.to, tell, options.pageOf);
  byId('bar').replaceChildren();
  const bar = barOf(model, state, byId('bar'));
  const search = searchOf(model, byId('search'), byId('hits'), canvas, {
    has: (number) => map.found.shown.has(number), show, elements: drawnOf,
  }, signal);
  savingOf(() => map, tell, signal);
  byId('bar').addEventListener('problems', onlyProblems, { signal });

  let isReading = false;
  state.watch((changed) => {
    const moves = ['states', 'kind', 'namespace', 'problems'].some((key) => changed.has(key));
    if (moves && !changed.has('folded')) now.folded = new Map();
    if (moves || changed.has('folded')) draw(!moves);
    else if (changed.has('chosen') || changed.has('overrides')) mark();
    bar.show(map.found);
    if (isListing && moves) byId('about').replaceChildren(...parts.problems(map.found.shown));
    if (!isReading) links.write();
  });

  /** Applies the selection and filters in the address. */
  function follow() {
    const found = links.read(location.hash);
    if (found === null) return;
    const { chosen, unknown, ...filters } = found;
    isReading = true;
    state.set(filters);
    if (chosen !== null) go(chosen);
    else if (now.chosen !== null) close();
    isReading = false;
    if (unknown !== null) tell(`There is no ${unknown} on this page`);
  }

  /** What the user has chosen and where the view is, for the next map of the page. */
  function snapshot() {
    const focused = document.activeElement?.closest?.('.node, .toggle');
    return {
      now, at: { ...move.at }, scroll: panel.scrollTop, isListing, hasPanel: !panel.hidden,
      chosen: now.chosen === null ? null : model.nodes[now.chosen].id,
      focused: focused ? { id: model.nodes[focused.dataset.n]?.id, namespace: focused.dataset.ns } : null,
    };
  }

  /** Restores what was chosen, as far as it is still there. Nothing moves. */
  function restore() {
    const chosen = before.chosen === null ? null : model.numbers.get(before.chosen) ?? null;
    Object.assign(now, before.now, { chosen });
    draw(true);
    move.to(before.at);
    // The input may have words in it.
    search.find(false);
    if (before.isListing) byId('about').replaceChildren(...parts.problems(map.found.shown));
    else if (chosen !== null) byId('about').replaceChildren(...parts.about(chosen));
    else if (before.hasPanel) close();
    isListing = before.isListing;
    if (chosen !== null) complete(chosen);
    panel.scrollTop = before.scroll;
    const { focused } = before;
    const number = focused?.id === undefined ? undefined : model.numbers.get(focused.id);
    const element = number === undefined
      ? focused && [...view.querySelectorAll('.toggle')].find((other) => other.dataset.ns === focused.namespace)
      : drawnOf(number)[0];
    element?.focus({ preventScroll: true });
  }

  actionsOf({
    state, move, view, canvas, panel, divider, choose, close, toggle, foldAll, onlyProblems, readable: READABLE,
  }, signal);
  addEventListener('hashchange', follow, { signal });
  addEventListener('popstate', follow, { signal });
  if (before) {
    restore();
  } else {
    draw(false);
    follow();
  }
  return { snapshot };
}
