// The frame of every page: where one can go, what is shown of which cluster, and whether it is live.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useApp } from '../context';
import type { Connection } from '../live';
import type { Theme } from '../theme';

const PAGES: [string, string, string][] = [
  ['map', 'Map', 'M2 4h4v3H2zM10 2h4v3h-4zM10 11h4v3h-4zM6 5.5h2v-2h2M8 5.5v7h2'],
  ['policies', 'Policies', 'M3 2h10v12H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h3'],
  ['objects', 'Objects', 'M8 2l5.5 3v6L8 14l-5.5-3V5zM2.5 5L8 8l5.5-3M8 8v6'],
  ['request', 'Request', 'M2 8h10M8.5 4.5L12 8l-3.5 3.5M14 3v10'],
  ['change', 'Change', 'M3 11.5V13h1.5L12 5.5 10.5 4zM9.5 5l1.5 1.5M8 13h5'],
  ['guardrails', 'Guardrails', 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.8 8l1.6 1.6L10.4 6.5'],
  ['history', 'History', 'M8 2.5A5.5 5.5 0 1 1 2.8 6.2M2.5 3v3.4h3.4M8 5.2V8l2.2 1.6'],
];

const LIVE_WORDS: Record<Connection, string> = { connecting: 'connecting …', live: 'live', lost: 'connection lost, trying again' };
const THEME_WORDS: Record<Theme, string> = { system: 'as the system', light: 'light', dark: 'dark' };

interface Props {
  page: string;
  connection: Connection;
  theme: Theme;
  onTheme: () => void;
  onHelp: () => void;
  children: ComponentChildren;
}

export function Shell({ page, connection, theme, onTheme, onHelp, children }: Props) {
  const { state } = useApp();
  const current = page === 'object' ? 'objects' : page;
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.querySelector<HTMLElement>('main h1')?.focus(); }}>Skip to the content</a>
      <header class="side">
        <p class="brand">attache</p>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(([key, words, icon]) => (
              <li key={key}><a href={`#/${key}`} aria-current={current === key ? 'page' : undefined}><svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><path class="icon" d={icon} /></svg>{words}</a></li>
            ))}
          </ul>
        </nav>
        <div class="side-foot">
          <p class="source" title={state.source}>{state.source}{state.user && <span class="faint"> as {state.user}</span>}</p>
          <Status connection={connection} problems={state.problems} />
          <div class="side-tools">
            <button type="button" onClick={onTheme} title="Light, dark, or as the system (t)" aria-label={`Colours: ${THEME_WORDS[theme]}`}>{theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}<span>{THEME_WORDS[theme]}</span></button>
            <button type="button" onClick={onHelp} title="Keys (?)" aria-label="Keys">?</button>
          </div>
          <p class="faint version">{state.version}</p>
        </div>
      </header>
      <main id="main" class={`page-${page}`}>{children}</main>
    </div>
  );
}

/** Whether the page is live, and what of the state could not be read. */
function Status({ connection, problems }: { connection: Connection; problems: string[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <p class={`live ${connection}`} role="status"><span class="dot" aria-hidden="true" />{LIVE_WORDS[connection]}</p>
      {problems.length > 0 && (
        <>
          <button type="button" class="unread" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>{problems.length === 1 ? '1 problem' : `${problems.length} problems`} while reading</button>
          {isOpen && <ul class="unread-list">{problems.map((words) => <li key={words}>{words}</li>)}</ul>}
        </>
      )}
    </>
  );
}
