// What the user does with pointer and keys on the map and around it.
const byId = (id) => document.getElementById(id);

export function actionsOf(map, signal) {
  const { state, move, view, canvas, panel, divider, choose, close, toggle, foldAll, onlyProblems, readable } = map;
  const on = (element, type, action) => element.addEventListener(type, action, { signal });

  on(canvas, 'click', (event) => {
    if (move.moved()) return;
    const element = event.target.closest('.node');
    // All of a closed frame opens it.
    const frame = event.target.closest('.frame.closed')?.querySelector('.toggle') ?? event.target.closest('.toggle');
    if (element) choose(Number(element.dataset.n), element);
    else if (frame) toggle(frame.dataset.ns);
    else if (!panel.hidden) close();
  });

  on(canvas, 'focusin', (event) => {
    const element = event.target.closest('.node, .toggle');
    if (element?.matches(':focus-visible') && move.isOutside(element)) move.centre(element);
  });
  on(byId('close'), 'click', close);
  on(byId('in'), 'click', () => move.zoom(1.25));
  on(byId('out'), 'click', () => move.zoom(1 / 1.25));
  on(byId('level'), 'click', () => move.zoom(1 / move.at.scale));
  on(byId('fit'), 'click', () => move.fit());
  on(byId('fold'), 'click', () => { foldAll(false); move.fit(readable); });
  on(byId('unfold'), 'click', () => { foldAll(true); move.fit(readable); });

  function widen(width) {
    const most = document.documentElement.clientWidth - 320;
    const own = Math.round(Math.max(260, Math.min(most, width)));
    panel.style.flexBasis = `${own}px`;
    divider.setAttribute('aria-valuenow', String(own));
  }
  on(divider, 'pointerdown', (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  on(divider, 'pointermove', (event) => {
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
    o: () => state.set({ overrides: !state.now.overrides }),
    p: onlyProblems,
    ArrowLeft: () => move.by(STEP, 0),
    ArrowRight: () => move.by(-STEP, 0),
    ArrowUp: () => move.by(0, STEP),
    ArrowDown: () => move.by(0, -STEP),
  };

  on(document, 'keydown', (event) => {
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
}
