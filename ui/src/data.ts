// Data of the server that follows the state: asked for again with each generation. What was shown stays until the new
// answer is there.
import { useEffect, useState } from 'preact/hooks';
import { Failure, get } from './api';
import { useApp } from './context';

export interface Loaded<T> {
  data: T | null;
  failure: Failure | null;
  isLoading: boolean;
}

const AGAIN = 3000;

/** `null` asks for nothing. */
export function useData<T>(path: string | null): Loaded<T> {
  const { generation } = useApp();
  const [loaded, setLoaded] = useState<Loaded<T> & { path: string | null }>({ path, data: null, failure: null, isLoading: path !== null });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    if (path === null) {
      setLoaded({ path, data: null, failure: null, isLoading: false });
      return undefined;
    }
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    setLoaded((last) => (last.path === path ? { ...last, isLoading: true } : { path, data: null, failure: null, isLoading: true }));
    get<T>(path, control.signal).then(
      (data) => setLoaded({ path, data, failure: null, isLoading: false }),
      (error: unknown) => {
        if (control.signal.aborted) return;
        const failure = error instanceof Failure ? error : new Failure(0, `This answer cannot be shown: ${String(error)}`, false);
        // Without a connection the last answer is better than none.
        setLoaded((last) => ({ path, data: failure.status === 0 && last.path === path ? last.data : null, failure, isLoading: false }));
        if (failure.status === 0 || failure.status === 503) timer = setTimeout(() => setAttempt((n) => n + 1), AGAIN);
      },
    );
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path, generation, attempt]);
  return loaded.path === path ? loaded : { data: null, failure: null, isLoading: path !== null };
}
