// The bar of counts. Each count is a filter: by state, kind, namespace, or problems only.
import { countsOf } from './filter.js';
import { text } from './text.js';

export function barOf(model, state, bar) {
  const { make, button } = text;
  const { now } = state;
  const all = countsOf(model, model.nodes.map((node) => node.number));

  const troubled = new Set(model.problems.map((problem) => problem.number)).size;
  const chips = new Map();
  const stateGroup = make('div', 'chips');
  stateGroup.setAttribute('role', 'group');
  stateGroup.setAttribute('aria-label', 'Filter policies by state');
  for (const look of model.looks) {
    const count = all.states.get(look.state);
    if (!count) continue;
    const glyph = text.shape('svg', { width: 12, height: 12, 'aria-hidden': 'true' }, text.shape('path', { class: 'glyph', d: look.glyph }));
    const chip = button(`filter state ${look.class}`, () => {
      const states = new Set(now.states);
      if (!states.delete(look.state)) states.add(look.state);
      state.set({ states });
    }, glyph, make('b', '', String(count)), look.state);
    chip.title = `${look.words}. Click to show only these.`;
    chip.dataset.state = look.state;
    chips.set(look.state, chip);
    stateGroup.append(chip);
  }

  function select(id, label, none, counts, name, key) {
    const element = make('select', '');
    element.id = id;
    element.setAttribute('aria-label', label);
    const option = (value, words) => {
      const one = make('option', '', words);
      one.value = value;
      return one;
    };
    const values = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
    element.append(option('', none), ...values.map(([value, count]) => option(value, `${name(value)} (${count})`)));
    element.addEventListener('change', () => state.set({ [key]: element.value }));
    return element;
  }

  const kinds = select('by-kind', 'Filter by kind', 'all kinds', all.kinds, (kind) => kind.split('.')[0], 'kind');
  const namespaced = new Map([...all.namespaces].filter(([namespace]) => namespace !== ''));
  const namespaces = select('by-namespace', 'Filter by namespace', 'all namespaces', namespaced, (namespace) => namespace, 'namespace');

  const problems = button('filter problems', () => bar.dispatchEvent(new CustomEvent('problems')),
    make('b', '', String(troubled)), troubled === 1 ? 'problem' : 'problems');
  problems.title = 'Show only what has a problem, and list it (p)';
  problems.disabled = troubled === 0;
  const overrides = button('filter', () => state.set({ overrides: !now.overrides }), 'Overrides');
  overrides.title = 'Draw a curve from each policy to those that it overrides (o)';
  overrides.hidden = model.overrides.every((set) => set.size === 0);
  const clear = button('plain', () => state.set({ states: new Set(), kind: '', namespace: '', problems: false }), 'Clear filters');
  const shown = make('output', 'faint');
  shown.id = 'shown';
  bar.append(make('span', 'total', make('b', '', String(all.policies)), all.policies === 1 ? 'policy' : 'policies'), stateGroup, problems, overrides, kinds, namespaces, clear, shown);

  /** Shows the active filters and how many nodes remain. */
  function show(found) {
    for (const [name, chip] of chips) chip.setAttribute('aria-pressed', String(now.states.has(name)));
    problems.setAttribute('aria-pressed', String(now.problems));
    overrides.setAttribute('aria-pressed', String(now.overrides));
    kinds.value = now.kind;
    namespaces.value = now.namespace;
    clear.hidden = !state.isFiltered();
    const counts = countsOf(model, found.shown);
    shown.textContent = state.isFiltered() ? `${counts.policies} of ${text.count(all.policies, 'policy', 'policies')}, ${counts.objects} of ${text.count(all.objects, 'object')} shown` : '';
  }

  return { show };
}
