// The events of the server: which generation of the state is the newest. A lost connection is tried again, more slowly
// each time.
import { Failure, request } from './api';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Live {
  connection: Connection;
  generation: number;
}

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

/**
 * Calls `tell` with each change of the connection and of the generation, until the signal aborts. Ends with the failure
 * if the server no longer takes the token.
 */
export async function listen(tell: (live: Partial<Live>) => void, signal: AbortSignal): Promise<Failure | null> {
  let wait = FIRST_WAIT;
  while (!signal.aborted) {
    try {
      const response = await request('events', { signal });
      if (response.body) {
        await read(response.body, (generation) => {
          wait = FIRST_WAIT;
          tell({ connection: 'live', generation });
        });
      }
    } catch (error) {
      if (error instanceof Failure && error.wantsToken) return error;
      // Others are tried again below.
    }
    if (signal.aborted) return null;
    tell({ connection: 'lost' });
    await pause(wait, signal);
    wait = Math.min(LONGEST_WAIT, wait * 2);
  }
  return null;
}

async function read(body: ReadableStream<Uint8Array>, changed: (generation: number) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const events = (rest + value).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const lines = event.split('\n');
      const data = lines.find((line) => line.startsWith('data:'));
      if (!data || !lines.some((line) => /^event: ?changed$/.test(line))) continue;
      const { generation } = JSON.parse(data.slice(5)) as { generation: number };
      changed(generation);
    }
  }
}

/** Waits; the network coming back ends it early. */
function pause(time: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      removeEventListener('online', end);
      done();
    };
    const timer = setTimeout(end, time);
    addEventListener('online', end);
    signal.addEventListener('abort', end, { once: true });
  });
}
