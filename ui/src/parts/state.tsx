// The state of a policy: glyph, colour and word.
import { useApp } from '../context';

export function StatePill({ state, label }: { state: string | null | undefined; label?: string }) {
  const { looks } = useApp();
  const look = looks.find((one) => one.state === state);
  if (!state || !look) return <span class="chip-plain">{label ?? state ?? 'attached'}</span>;
  return (
    <span class={`state ${look.class}`} title={look.words}>
      <Glyph d={look.glyph} />
      {label ?? look.state}
    </span>
  );
}

export function Glyph({ d }: { d: string }) {
  return <svg class="glyph-box" width="12" height="12" aria-hidden="true"><path class="glyph" d={d} /></svg>;
}

const BAD = new Set(['rejected', 'broken']);

/** How urgent a state is: broken first, in force last. */
export function useUrgency(): (state: string) => number {
  const { looks } = useApp();
  const order = ['broken', 'rejected', 'overridden', 'no-effect', 'partly', 'in-force'];
  return (state) => order.indexOf(looks.find((look) => look.state === state)?.class ?? 'in-force');
}

export function useIsBad(): (state: string) => boolean {
  const { looks } = useApp();
  return (state) => BAD.has(looks.find((look) => look.state === state)?.class ?? '');
}
