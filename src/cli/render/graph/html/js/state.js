// What is selected, filtered and collapsed, and who is called when that changes.
function stateOf() {
  const now = {
    chosen: null,
    states: new Set(),
    kind: '',
    namespace: '',
    problems: false,
    // Whether a namespace is open, where the user said so; the others are open when there is room.
    folded: new Map(),
    overrides: false,
  };
  const watchers = [];

  /** Changes something and calls the watchers with the names of what changed. */
  function set(change) {
    const changed = Object.keys(change).filter((key) => now[key] !== change[key]);
    if (changed.length === 0) return;
    Object.assign(now, change);
    for (const watcher of watchers) watcher(new Set(changed));
  }

  const isFiltered = () => now.states.size > 0 || now.kind !== '' || now.namespace !== '' || now.problems;

  return { now, set, watch: (watcher) => watchers.push(watcher), isFiltered };
}
