// Connects the parts of the page: user actions change the state, and the state changes the drawing.
const byId = (id) => document.getElementById(id);
const model = modelOf(JSON.parse(byId('data').textContent));
const state = stateOf();
const { now } = state;
const canvas = byId('canvas');
const view = byId('view');
const panel = byId('panel');
const divider = byId('divider');
const cells = cellsOf(model);
const links = linksOf(model, state);
// Text is unreadable below this scale.
const READABLE = 0.5;
// With more objects than this, namespaces are collapsed at first.
const MANY = 400;

let map = null;
let elements = new Map();
let wires = [];
let opener = null;
let isListing = false;

function tell(words) {
  byId('said').textContent = words;
}

const move = mover(canvas, view, () => map?.plan ?? { width: 1, height: 1 });
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
  const [first] = drawnOf(number);
  if (first && move.isOutside(first)) move.centre(first);
}

/** Selects a node and brings it into view. */
function go(number) {
  show(number, true);
  choose(number);
  const [first] = drawnOf(number);
  if (first) move.centre(first);
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

const parts = panelOf(model, go, links.to, tell);
const bar = barOf(model, state, byId('bar'));
const search = searchOf(model, byId('search'), byId('hits'), canvas, {
  has: (number) => map.found.shown.has(number), show, elements: drawnOf,
});
savingOf(model, () => map, tell);
byId('bar').addEventListener('problems', onlyProblems);

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

// --- user actions

canvas.addEventListener('click', (event) => {
  if (move.moved()) return;
  const element = event.target.closest('.node');
  // All of a closed frame opens it.
  const frame = event.target.closest('.frame.closed')?.querySelector('.toggle') ?? event.target.closest('.toggle');
  if (element) choose(Number(element.dataset.n), element);
  else if (frame) toggle(frame.dataset.ns);
  else if (!panel.hidden) close();
});

canvas.addEventListener('focusin', (event) => {
  const element = event.target.closest('.node, .toggle');
  if (element?.matches(':focus-visible') && move.isOutside(element)) move.centre(element);
});
byId('close').addEventListener('click', close);
byId('in').addEventListener('click', () => move.zoom(1.25));
byId('out').addEventListener('click', () => move.zoom(1 / 1.25));
byId('level').addEventListener('click', () => move.zoom(1 / move.at.scale));
byId('fit').addEventListener('click', () => move.fit());
byId('fold').addEventListener('click', () => { foldAll(false); move.fit(READABLE); });
byId('unfold').addEventListener('click', () => { foldAll(true); move.fit(READABLE); });

function widen(width) {
  const most = document.documentElement.clientWidth - 320;
  const own = Math.round(Math.max(260, Math.min(most, width)));
  panel.style.flexBasis = `${own}px`;
  divider.setAttribute('aria-valuenow', String(own));
}
divider.addEventListener('pointerdown', (event) => {
  divider.setPointerCapture(event.pointerId);
  event.preventDefault();
});
divider.addEventListener('pointermove', (event) => {
  if (divider.hasPointerCapture(event.pointerId)) widen(document.documentElement.clientWidth - event.clientX);
});

const STEP = 60;
const keys = {
  '+': () => move.zoom(1.25),
  '=': () => move.zoom(1.25),
  '-': () => move.zoom(1 / 1.25),
  0: () => move.fit(),
  1: () => move.zoom(1 / move.at.scale),
  '/': () => byId('search').focus(),
  c: () => byId('fold').click(),
  e: () => byId('unfold').click(),
  o: () => state.set({ overrides: !now.overrides }),
  p: onlyProblems,
  ArrowLeft: () => move.by(STEP, 0),
  ArrowRight: () => move.by(-STEP, 0),
  ArrowUp: () => move.by(0, STEP),
  ArrowDown: () => move.by(0, -STEP),
};

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select, textarea')) return;
  if (event.target === divider) {
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      event.preventDefault();
      widen(panel.getBoundingClientRect().width + (event.key === 'ArrowLeft' ? 24 : -24));
    }
    return;
  }
  if (event.key === 'Escape' && !panel.hidden) {
    close();
    return;
  }
  const element = event.target.closest?.('.node, .toggle');
  if (element && (event.key === 'Enter' || event.key === ' ')) {
    event.preventDefault();
    if (element.matches('.toggle')) toggle(element.dataset.ns);
    else choose(Number(element.dataset.n), element);
    return;
  }
  // Arrow keys scroll the panel.
  if (event.key.startsWith('Arrow') && panel.contains(event.target)) return;
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
});

/** Applies the selection and filters in the address. */
function follow() {
  const { chosen, unknown, ...filters } = links.read(location.hash);
  isReading = true;
  state.set(filters);
  if (chosen !== null) go(chosen);
  else if (now.chosen !== null) close();
  isReading = false;
  if (unknown !== null) tell(`There is no ${unknown} on this page`);
}

addEventListener('hashchange', follow);
addEventListener('popstate', follow);
draw(false);
if (location.hash.length > 1) follow();
