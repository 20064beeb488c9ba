// Starts the page: the state of the server, its events, the keys, and the page that the address names.
import { render } from 'preact';
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import type { State } from './types';
import { Failure, get, signIn } from './api';
import { AppContext } from './context';
import { listenToKeys } from './keys';
import { listen, type Live } from './live';
import { showAllCharacters } from './plain';
import { useRoute, type Route } from './route';
import { savedTheme, setTheme, type Theme } from './theme';
import { ChangePage } from './pages/change';
import { GuardrailsPage } from './pages/guardrails';
import { HistoryPage } from './pages/history';
import { MapPage } from './pages/map';
import { ObjectPage } from './pages/object';
import { ObjectsPage } from './pages/objects';
import { PoliciesPage } from './pages/policies';
import { RequestPage } from './pages/request';
import { Keys, SignIn } from './parts/dialogs';
import { Empty, Failed, Loading } from './parts/notice';
import { Shell } from './parts/shell';

const NEXT_THEME: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const AGAIN = 3000;

function PageOf({ route }: { route: Route }) {
  switch (route.page) {
    case 'map': return <MapPage />;
    case 'policies': return <PoliciesPage route={route} />;
    case 'objects': return <ObjectsPage route={route} />;
    case 'object': return route.parts.length > 1 ? <ObjectPage route={route} /> : <ObjectsPage route={route} />;
    case 'request': return <RequestPage route={route} />;
    case 'change': return <ChangePage />;
    case 'guardrails': return <GuardrailsPage route={route} />;
    case 'history': return <HistoryPage route={route} />;
    default: return <Empty title="There is no such page.">The pages are listed on the left.</Empty>;
  }
}

/** The state of the server. Asked for again with each generation, and while it cannot be read. */
function useServer(generation: number, attempt: number) {
  const [state, setState] = useState<State | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [retry, setRetry] = useState(0);
  useEffect(() => {
    if (state !== null && state.generation === generation && failure === null) return undefined;
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const load = async () => {
      setState(await get<State>('state', control.signal));
      setFailure(null);
    };
    load().catch((error: unknown) => {
      if (control.signal.aborted) return;
      const known = error instanceof Failure ? error : new Failure(0, String(error), false);
      setFailure(known);
      if (known.status === 0 || known.status === 503) timer = setTimeout(() => setRetry((n) => n + 1), AGAIN);
    });
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [generation, attempt, retry]);
  return { state, failure };
}

function App() {
  const route = useRoute();
  const [live, setLive] = useState<Live>({ connection: 'connecting', generation: 0 });
  const [attempt, setAttempt] = useState(0);
  const [theme, chooseTheme] = useState(savedTheme);
  const [hasKeys, setKeys] = useState(false);
  const [said, setSaid] = useState('');
  const [refusal, setRefusal] = useState<Failure | null>(null);
  const { state, failure } = useServer(live.generation, attempt);
  const isKnown = state !== null;

  useEffect(() => setTheme(theme), [theme]);
  useEffect(() => {
    if (!isKnown) return undefined;
    const control = new AbortController();
    void listen((change) => setLive((last) => ({ ...last, ...change })), control.signal).then(setRefusal);
    return () => control.abort();
  }, [isKnown, attempt]);
  const changeTheme = useCallback(() => chooseTheme((last) => NEXT_THEME[last]), []);
  useEffect(() => {
    const control = new AbortController();
    listenToKeys({ help: () => setKeys(true), theme: changeTheme }, control.signal);
    return () => control.abort();
  }, []);

  const say = useCallback((words: string) => {
    setSaid('');
    requestAnimationFrame(() => setSaid(words));
  }, []);
  const generation = live.generation || (state?.generation ?? 0);
  const app = useMemo(() => (state ? { state, looks: state.looks, generation, say } : null), [state, generation]);
  useEffect(() => { document.title = `${titleOf(route)} · attache · ${state?.source ?? ''}`; }, [route.page, route.parts.join('/'), state?.source]);

  const refused = refusal ?? (failure?.wantsToken ? failure : null);
  if (refused) {
    const onToken = (token: string) => {
      signIn(token);
      setRefusal(null);
      setAttempt((n) => n + 1);
    };
    return <SignIn message={attempt > 0 || isKnown ? refused.message : ''} onToken={onToken} />;
  }
  if (!app) return <main class="start">{failure ? <Failed failure={failure} /> : <Loading what="the state" />}</main>;
  return (
    <AppContext.Provider value={app}>
      <Shell page={route.page} connection={live.connection} theme={theme} onTheme={changeTheme} onHelp={() => setKeys(true)}>
        <PageOf route={route} />
      </Shell>
      {hasKeys && <Keys onClose={() => setKeys(false)} />}
      <p class="toast" role="status">{said}</p>
    </AppContext.Provider>
  );
}

const titleOf = (route: Route) => (route.page === 'object' ? route.parts.slice(1).join('/') : route.page.charAt(0).toUpperCase() + route.page.slice(1));

showAllCharacters();
const root = document.getElementById('app');
if (root) render(<App />, root);
