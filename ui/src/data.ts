// Data of the server that follows the state: asked for again with each generation. What was shown stays until the new
// answer is there.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure, get } from './api';
import { useApp } from './context';

export interface Loaded<T> {
  data: T | null;
  failure: Failure | null;
  isLoading: boolean;
}

const AGAIN = 3000;

/**
 * The answer to a request, asked again with each generation. While one is on its way, no other is sent: many changes in a
 * row must not keep the first answer from arriving. `null` asks for nothing.
 */
export function useData<T>(path: string | null): Loaded<T> {
  const { generation } = useApp();
  const [loaded, setLoaded] = useState<Loaded<T> & { path: string | null }>({ path, data: null, failure: null, isLoading: path !== null });
  const refresh = useRef<() => void>(() => {});
  useEffect(() => {
    const control = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isAsking = false;
    let isOld = false;
    const ask = async () => {
      if (path === null) return;
      clearTimeout(timer);
      isAsking = true;
      do {
        isOld = false;
        const { failure } = await answered<T>(path, control.signal, setLoaded);
        if (control.signal.aborted) return;
        if (failure && (failure.status === 0 || failure.status === 503)) timer = setTimeout(() => { void ask(); }, AGAIN);
      } while (isOld);
      isAsking = false;
    };
    refresh.current = () => {
      isOld = true;
      if (!isAsking) void ask();
    };
    if (path === null) setLoaded({ path, data: null, failure: null, isLoading: false });
    void ask();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [path]);
  const shown = useRef(generation);
  useEffect(() => {
    if (shown.current !== generation) refresh.current();
    shown.current = generation;
  }, [generation]);
  return loaded.path === path ? loaded : { data: null, failure: null, isLoading: path !== null };
}

type Keep<T> = (change: (last: Loaded<T> & { path: string | null }) => Loaded<T> & { path: string | null }) => void;

/** Asks once, and keeps the answer or the failure. */
async function answered<T>(path: string, signal: AbortSignal, keep: Keep<T>): Promise<{ failure: Failure | null }> {
  try {
    const data = await get<T>(path, signal);
    if (!signal.aborted) keep((last) => (last.path === path && last.data === data && !last.failure ? last : { path, data, failure: null, isLoading: false }));
    return { failure: null };
  } catch (error) {
    const failure = error instanceof Failure ? error : new Failure(0, `This answer cannot be shown: ${String(error)}`, false);
    // Without a connection the last answer is better than none.
    if (!signal.aborted) keep((last) => ({ path, data: failure.status === 0 && last.path === path ? last.data : null, failure, isLoading: false }));
    return { failure };
  }
}
