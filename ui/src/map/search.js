// Search by words in kinds, names, hostnames and matches. Hits are marked; Enter goes to the next one.
export function searchOf(model, input, output, canvas, view, signal) {
  const texts = model.nodes.map((node) => [
    node.id, model.kindOf(node), model.name(node), ...node.hostnames, ...node.matches, model.isPolicy(node) ? model.badge(node) : '', node.state ?? '',
  ].join(' ').toLowerCase());
  let hits = [];
  let hit = 0;
  let words = [];

  function find(moves = true) {
    words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const isHit = (number) => view.has(number) && words.every((word) => texts[number].includes(word));
    // A hit on an object hides hits on its sections, unless only a section matches.
    const isPart = (number) => model.owner[number] !== number && isHit(model.owner[number]);
    hits = words.length === 0 ? [] : [...texts.keys()].filter((number) => isHit(number) && !isPart(number));
    hit = 0;
    mark();
    if (moves && hits.length > 0) view.show(hits[0], false);
  }

  /** Marks the hits in the current drawing. */
  function mark() {
    for (const element of canvas.querySelectorAll('.hit')) element.classList.remove('hit');
    for (const number of hits) for (const element of view.elements(number)) element.classList.add('hit');
    canvas.classList.toggle('searching', words.length > 0);
    const some = hits.length > 0 ? `${hit + 1} of ${hits.length}` : 'none';
    output.textContent = words.length > 0 ? some : '';
  }

  input.addEventListener('input', () => find(), { signal });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && hits.length > 0) {
      hit = (hit + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
      view.show(hits[hit], true);
      mark();
    } else if (event.key === 'Escape') {
      input.value = '';
      find();
      input.blur();
      event.stopPropagation();
    }
  }, { signal });
  return { mark, find };
}
