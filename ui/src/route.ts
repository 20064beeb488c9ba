// The address of the page: `#/policies?state=Overridden`. Every view has one, and the back button works.
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  page: string;
  /** The decoded parts of the path after the page. */
  parts: string[];
  query: URLSearchParams;
}

export function routeOf(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const [page = '', ...parts] = path.split('/').map(decoded);
  return { page: page || 'map', parts: parts.filter((part) => part !== ''), query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function hashOf(page: string, parts: string[] = [], query?: URLSearchParams): string {
  const path = [page, ...parts].map(encodeURIComponent).join('/');
  const asked = query?.toString() ?? '';
  return `#/${path}${asked ? `?${asked}` : ''}`;
}

export function go(hash: string): void {
  location.hash = hash;
}

/** Changes the address without a step for the back button: while a filter is typed. */
export function replace(hash: string): void {
  if (hash === location.hash) return;
  history.replaceState(null, '', hash);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash));
  useEffect(() => {
    const follow = () => setRoute(routeOf(location.hash));
    addEventListener('hashchange', follow);
    addEventListener('popstate', follow);
    return () => {
      removeEventListener('hashchange', follow);
      removeEventListener('popstate', follow);
    };
  }, []);
  return route;
}

/** One value of the query, and how to change it. */
export function useQuery(route: Route, key: string): [string, (value: string) => void] {
  const change = (value: string) => {
    const query = new URLSearchParams(routeOf(location.hash).query);
    if (value === '') query.delete(key);
    else query.set(key, value);
    replace(hashOf(route.page, route.parts, query));
  };
  return [route.query.get(key) ?? '', change];
}
