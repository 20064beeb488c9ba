// Links to objects, and names that break where names may.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Ref } from '../types';
import { kindOf, labelOf, nameOf, pageOf } from '../names';

/** A name that breaks after dots, dashes and slashes, and elsewhere only if it must. */
export function Breakable({ words }: { words: string }) {
  return <>{words.split(/(?<=[./#-])/).flatMap((part, i) => (i === 0 ? [part] : [<wbr key={i} />, part]))}</>;
}

export function ObjectLink({ to, short, class: className }: { to: Ref; short?: boolean; class?: string }) {
  return (
    <a class={`object ${className ?? ''}`} href={pageOf(to)} title={`${kindOf(to)} ${nameOf(to)}`}>
      <Breakable words={short ? nameOf(to) : labelOf(to)} />
    </a>
  );
}

/** A link to a section, by its own name: where the whole object is named beside it. */
export function SectionLink({ of, class: className }: { of: Ref; class?: string }) {
  return <a class={`object ${className ?? ''}`} href={pageOf(of)} title={labelOf(of)}><Breakable words={of.section ?? nameOf(of)} /></a>;
}

/** Links, with commas; the rest counted. */
export function ObjectLinks({ to, most = 5, short }: { to: Ref[]; most?: number; short?: boolean }) {
  const shown = to.slice(0, most);
  return (
    <>
      {shown.map((ref, i) => <span key={i}>{i > 0 && ', '}<ObjectLink to={ref} short={short} /></span>)}
      {to.length > most && <span class="faint" title={to.slice(most).map(labelOf).join('\n')}> and {to.length - most} more</span>}
    </>
  );
}

/** A kind as a small badge: its initials where they are clear, with the whole in the title. */
export function KindBadge({ kind, group }: { kind: string; group: string }) {
  return <span class="kind-badge" title={kindOf({ kind, group })}>{kind}</span>;
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  if (of.length === 0) return null;
  return <dl class="facts">{of.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

const STEP = 200;

/** A list that shows its first items, and more of them when asked. */
export function LongList<T>({ of, first = 12, item, class: className }: { of: T[]; first?: number; item: (one: T, i: number) => ComponentChildren; class?: string }) {
  const [most, setMost] = useState(first);
  return (
    <>
      <ul class={className}>{of.slice(0, most).map((one, i) => <li key={i}>{item(one, i)}</li>)}</ul>
      {of.length > most && <button type="button" class="plain more-items" onClick={() => setMost(most + STEP)}>Show {Math.min(STEP, of.length - most)} more of {of.length}</button>}
    </>
  );
}
