// Moves and zooms the map by pointer, wheel and keys.
export function mover(canvas, view, sizeOf, signal) {
  const LEAST = 0.03;
  const MOST = 4;
  const FAR = 0.42;
  const MARGIN = 20;
  const at = { x: 0, y: 0, scale: 1 };
  let isMoved = false;
  let onShow = () => {};

  function show() {
    view.setAttribute('transform', `translate(${at.x} ${at.y}) scale(${at.scale})`);
    canvas.classList.toggle('far', at.scale < FAR);
    // The names of frames keep their size on the screen.
    view.style.setProperty('--far-size', `${Math.min(110, Math.max(24, 15 / at.scale))}px`);
    onShow(at.scale);
  }

  const inside = () => {
    const box = canvas.getBoundingClientRect();
    return { width: box.width - 2 * MARGIN, height: box.height - 2 * MARGIN };
  };

  /** Zooms; the point of the screen stays in place. */
  function zoom(factor, point) {
    const box = canvas.getBoundingClientRect();
    const { x, y } = point ?? { x: box.width / 2, y: box.height / 2 };
    const scale = Math.min(MOST, Math.max(LEAST, at.scale * factor));
    at.x = x - (x - at.x) * (scale / at.scale);
    at.y = y - (y - at.y) * (scale / at.scale);
    at.scale = scale;
    show();
  }

  /** Shows the whole map at a scale of at least `least`, then from the top left. */
  function fit(least = 0) {
    const { width, height } = sizeOf();
    const room = inside();
    const whole = Math.min(room.width / Math.max(1, width), room.height / Math.max(1, height), 1);
    at.scale = Math.min(MOST, Math.max(LEAST, least, whole));
    at.x = MARGIN + Math.max(0, (room.width - width * at.scale) / 2);
    at.y = MARGIN + Math.max(0, (room.height - height * at.scale) / 3);
    show();
  }

  function centre(element) {
    const [box, own] = [canvas.getBoundingClientRect(), element.getBoundingClientRect()];
    at.x += box.left + box.width / 2 - (own.left + own.width / 2);
    at.y += box.top + box.height / 2 - (own.top + own.height / 2);
    show();
  }

  function by(x, y) {
    at.x += x;
    at.y += y;
    show();
  }

  function to(place) {
    Object.assign(at, place);
    show();
  }

  function isOutside(element) {
    const [box, own] = [canvas.getBoundingClientRect(), element.getBoundingClientRect()];
    return own.left < box.left || own.right > box.right || own.top < box.top || own.bottom > box.bottom;
  }

  const pointers = new Map();
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
    isMoved = pointers.size > 1;
  }, { signal });
  addEventListener('pointermove', (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    const next = { x: event.clientX, y: event.clientY };
    if (!isMoved && Math.hypot(next.x - last.x, next.y - last.y) < 4) return;
    isMoved = true;
    canvas.classList.add('moving');
    if (pointers.size === 1) {
      by(next.x - last.x, next.y - last.y);
    } else {
      const [id] = [...pointers.keys()].filter((other) => other !== event.pointerId);
      const other = pointers.get(id);
      const box = canvas.getBoundingClientRect();
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const after = Math.hypot(next.x - other.x, next.y - other.y);
      zoom(after / Math.max(before, 1), { x: other.x - box.left, y: other.y - box.top });
    }
    pointers.set(event.pointerId, next);
  }, { signal });
  for (const end of ['pointerup', 'pointercancel']) {
    addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (pointers.size === 0) canvas.classList.remove('moving');
    }, { signal });
  }
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const step = Math.max(-120, Math.min(120, event.deltaY * lines));
    zoom(Math.exp(-step / 300), { x: event.clientX - box.left, y: event.clientY - box.top });
  }, { passive: false, signal });

  return { at, zoom, fit, centre, by, to, isOutside, inside, moved: () => isMoved, onShow: (then) => { onShow = then; } };
}
