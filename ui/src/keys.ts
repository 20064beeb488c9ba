// Keys of the whole page. Pages have their own in addition: those of the map are in map/actions.js.
import { go } from './route';

export interface Shortcut {
  keys: string[];
  words: string;
}

const PAGES: Record<string, string> = { m: 'map', p: 'policies', o: 'objects', r: 'request', c: 'change', g: 'guardrails', h: 'history' };

export const SHORTCUTS: { title: string; of: Shortcut[] }[] = [
  {
    title: 'Everywhere',
    of: [
      { keys: ['g', 'm'], words: 'map' },
      { keys: ['g', 'p'], words: 'policies' },
      { keys: ['g', 'o'], words: 'objects' },
      { keys: ['g', 'r'], words: 'request' },
      { keys: ['g', 'c'], words: 'change' },
      { keys: ['g', 'g'], words: 'guardrails' },
      { keys: ['g', 'h'], words: 'history' },
      { keys: ['/'], words: 'search' },
      { keys: ['t'], words: 'light, dark, or as the system' },
      { keys: ['?'], words: 'these keys' },
      { keys: ['Esc'], words: 'close, or leave a field' },
    ],
  },
  {
    title: 'Tables',
    of: [
      { keys: ['j'], words: 'next row' },
      { keys: ['k'], words: 'previous row' },
      { keys: ['Enter'], words: 'open the row' },
    ],
  },
  {
    title: 'Map',
    of: [
      { keys: ['+'], words: 'zoom in' },
      { keys: ['-'], words: 'zoom out' },
      { keys: ['0'], words: 'all of it' },
      { keys: ['1'], words: 'actual size' },
      { keys: ['←', '↑', '→', '↓'], words: 'move' },
      { keys: ['e'], words: 'expand all namespaces' },
      { keys: ['c'], words: 'collapse all namespaces' },
      { keys: ['o'], words: 'draw overrides' },
      { keys: ['p'], words: 'problems only' },
    ],
  },
  { title: 'Change and request', of: [{ keys: ['Ctrl', 'Enter'], words: 'preview, or explain' }] },
];

/** Handles the keys of the whole page until the signal aborts. */
export function listenToKeys(actions: { help: () => void; theme: () => void }, signal: AbortSignal): void {
  let isGoing = false;
  const handle = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches('input, select, textarea')) {
      if (event.key === 'Escape') {
        // Not also emptied, as browsers do; the search of the map is.
        if (target.id !== 'search') event.preventDefault();
        target.blur();
      }
      return;
    }
    if (document.querySelector('dialog[open]')) return;
    const { key } = event;
    const action = isGoing && PAGES[key] ? () => go(`#/${PAGES[key]}`)
      : key === '?' ? actions.help
        : key === 't' ? actions.theme
          : key === 'j' ? () => row(1)
            : key === 'k' ? () => row(-1)
              : key === '/' ? search : null;
    const wasGoing = isGoing;
    isGoing = key === 'g' && !wasGoing;
    if (action === null && !isGoing) return;
    event.preventDefault();
    // The map has keys of the same names as some pages.
    event.stopPropagation();
    action?.();
  };
  addEventListener('keydown', handle, { capture: true, signal });
}

function search(): void {
  const input = document.querySelector<HTMLInputElement>('[data-search], #search');
  input?.focus();
  input?.select();
}

/** Moves the focus to the next or previous row of the table. */
function row(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>('main table tbody a.row-link')];
  const now = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = links[now < 0 ? 0 : Math.max(0, Math.min(links.length - 1, now + step))];
  next?.focus();
}
