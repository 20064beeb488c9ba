// The selection, the filters and the collapsed namespaces, and who is notified of changes.
export function stateOf() {
  const now = {
    chosen: null,
    states: new Set(),
    kind: '',
    namespace: '',
    problems: false,
    // Whether a namespace is open, if the user decided; the others are open if there is room.
    folded: new Map(),
    overrides: false,
  };
  const watchers = [];

  /** Changes the state and notifies the watchers with the names of the changes. */
  function set(change) {
    const changed = Object.keys(change).filter((key) => now[key] !== change[key]);
    if (changed.length === 0) return;
    Object.assign(now, change);
    for (const watcher of watchers) watcher(new Set(changed));
  }

  const isFiltered = () => now.states.size > 0 || now.kind !== '' || now.namespace !== '' || now.problems;

  return { now, set, watch: (watcher) => watchers.push(watcher), isFiltered };
}
