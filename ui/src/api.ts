// Requests to the server of the page. An answer is kept with its ETag, so that an unchanged one is not sent again.

/** An answer that is not what was asked for. */
export class Failure extends Error {
  constructor(readonly status: number, message: string, readonly wantsToken: boolean) {
    super(message);
  }
}

/** In memory only: a reload asks for it again. */
let token: string | null = null;
const kept = new Map<string, { etag: string; data: unknown }>();
const KEPT_MOST = 40;

export function signIn(value: string): void {
  token = value.trim();
  kept.clear();
}

const headersOf = (more: Record<string, string>): Record<string, string> => (token === null ? more : { ...more, 'Attache-Token': token });

export async function request(path: string, options: { method?: string; body?: string; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
  const { headers, ...rest } = options;
  let response: Response;
  try {
    response = await fetch(`./api/${path}`, { ...rest, headers: headersOf(headers ?? {}) });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Failure(0, 'The server does not answer. Is attache ui still running? This page tries again by itself.', false);
  }
  if (response.ok || response.status === 304) return response;
  throw new Failure(response.status, await messageOf(response), response.headers.get('WWW-Authenticate')?.startsWith('Bearer') ?? false);
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { error } = (await response.json()) as { error?: unknown };
    if (typeof error === 'string') return error;
  } catch {
    // Not JSON: an answer of a proxy.
  }
  if (response.status === 401) return 'This page needs the address that attache ui printed, with its token. Open that address again.';
  return `The server answers ${response.status} ${response.statusText}`;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const last = kept.get(path);
  const response = await request(path, { signal, headers: last ? { 'If-None-Match': last.etag } : {} });
  if (response.status === 304 && last) return last.data as T;
  const data = (await response.json()) as T;
  const etag = response.headers.get('ETag');
  kept.delete(path);
  if (etag) kept.set(path, { etag, data });
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT_MOST) break;
    kept.delete(oldest);
  }
  return data;
}

export async function post<T>(path: string, body: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, { method: 'POST', body, signal, headers: { 'Content-Type': 'application/yaml' } });
  return (await response.json()) as T;
}
