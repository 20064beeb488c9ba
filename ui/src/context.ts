// What every part of the page can read: the state of the server, and how to say something to screen readers.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Look, State } from './types';

export interface App {
  state: State;
  looks: Look[];
  generation: number;
  say: (words: string) => void;
}

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error('outside of the page');
  return app;
}
