// The effective policy on each path: the same values once, and what differs between paths marked.
import type { Effective, OnPaths, Ref } from '../types';
import { keyOf, kindOf, labelOf } from '../names';
import { leavesOf } from '../yaml';
import { KindBadge, ObjectLink, ObjectLinks } from './links';
import { SourcedYaml } from './yaml-view';

export function EffectiveByKind({ of }: { of: OnPaths[] }) {
  const kinds = new Map<string, OnPaths[]>();
  for (const one of alike(of)) kinds.set(kindOf(one.policyKind), [...(kinds.get(kindOf(one.policyKind)) ?? []), one]);
  return <>{[...kinds].map(([kind, groups]) => <OfKind key={kind} groups={groups} />)}</>;
}

/** Paths with the same values from the same policies are one. */
function alike(of: OnPaths[]): OnPaths[] {
  const found = new Map<string, OnPaths>();
  for (const one of of) {
    const { path: _, paths, targets, listeners, ...rest } = one;
    const key = JSON.stringify(rest);
    const same = found.get(key);
    if (same) found.set(key, { ...same, paths: same.paths + paths, targets: [...same.targets, ...targets], listeners: union(same.listeners, listeners) });
    else found.set(key, one);
  }
  return [...found.values()];
}

function union(a: Ref[], b: Ref[]): Ref[] {
  const known = new Set(a.map(keyOf));
  return [...a, ...b.filter((one) => !known.has(keyOf(one)))];
}

const MOST = 8;

function OfKind({ groups }: { groups: OnPaths[] }) {
  const [first] = groups;
  if (!first) return null;
  const differing = differingOf(groups);
  const shown = [...groups].sort((a, b) => b.paths - a.paths).slice(0, MOST);
  return (
    <section class="kind-section">
      <h3><KindBadge {...first.policyKind} />{groups.length > 1 && <span class="faint">differs between paths: {groups.length} variants; <span class="mark-key">marked lines</span> differ</span>}</h3>
      <div class="variants">
        {shown.map((one, i) => (
          <div key={i} class="variant">
            <p class="variant-title">{one.targets.length > 0 ? <ObjectLinks to={one.targets} most={3} /> : 'all paths'}<PathWords of={one} /></p>
            {one.incomplete || one.spec === null
              ? <p class="faint">Only the controller of this kind knows how these policies merge: <ObjectLinks to={one.mergedOf ?? []} /></p>
              : <SourcedYaml value={one.spec} sources={one.sources} label={`${one.policyKind.kind} in force on ${one.targets.slice(0, 3).map(labelOf).join(', ')}`} marked={differing} />}
            <Removed of={one} />
          </div>
        ))}
      </div>
      {groups.length > MOST && <p class="faint">and {groups.length - MOST} more variants. <code>attache describe</code> prints all of them.</p>}
    </section>
  );
}

export function Removed({ of }: { of: Effective }) {
  if (!of.removed?.length) return null;
  return <p class="faint">removed by a policy: {of.removed.join(', ')}</p>;
}

function PathWords({ of }: { of: OnPaths }) {
  const parts = [
    of.listeners.length > 0 ? <span key="through">{' '}through <ObjectLinks to={of.listeners} most={2} /></span> : null,
    of.requestsFrom?.length ? <span key="from">{' '}for requests from {of.requestsFrom.join(', ')}</span> : null,
    of.notAttached ? <span key="not" class="bad">{' '}not attached to a Gateway: nothing serves this path</span> : null,
  ];
  return <span class="faint">{parts}<PathDetails of={of} /></span>;
}

function PathDetails({ of }: { of: OnPaths }) {
  return (
    <details class="path">
      <summary>{of.paths === 1 ? '1 path' : `${of.paths} paths`}</summary>
      {of.paths > 1 && <p>One of them:</p>}
      <ol>{of.path.map((ref, i) => <li key={i}><ObjectLink to={ref} /></li>)}</ol>
    </details>
  );
}

/** The pointers whose values are not the same on all paths. */
function differingOf(groups: OnPaths[]): Set<string> {
  const found = new Set<string>();
  if (groups.length < 2) return found;
  const leaves = groups.map((one) => leavesOf(one.spec));
  for (const own of leaves) {
    for (const [pointer, value] of own) if (leaves.some((other) => other.get(pointer) !== value)) found.add(pointer);
  }
  return found;
}
