// What a change does: lost traffic and protection first, then guardrails, findings, and what else is in force.
import type { ComponentChildren } from 'preact';
import type { Finding, Guarded, Impact, Preview } from '../types';
import { keyOf } from '../names';
import { Changes } from './changes';
import { Findings } from './findings';
import { KindBadge, LongList, ObjectLink, ObjectLinks } from './links';
import { Empty } from './notice';

export function PreviewResult({ of }: { of: Preview }) {
  const { impact } = of;
  const { traffic } = impact;
  const lost = traffic.detached.length + traffic.reduced.length + traffic.moved.length + traffic.backends.length + traffic.unserved.length + traffic.notTaken.length + traffic.failing.length;
  const broken = newlyBroken(of);
  const [findings, others] = splitFindings(of);
  const nothing = lost + impact.lostProtection.length + broken.length + impact.changes.length + traffic.gained.length + traffic.answered.length + traffic.rerouted.length + impact.orphaned.length === 0;
  return (
    <>
      <div class="figures">
        <Figure n={lost} words="other routes lose traffic" isBad />
        <Figure n={impact.lostProtection.length} words="objects lose protection" isBad />
        <Figure n={broken.reduce((sum, one) => sum + one.faults.length, 0)} words="targets break a guardrail" isBad />
        <Figure n={findings.filter((one) => one.severity === 'deny' && !one.notice).length} words="reasons to refuse it" isBad />
        <Figure n={impact.changes.length} words="changes in force" />
      </div>
      <p class="faint">{impact.applied.length > 0 && <>applies <ObjectLinks to={impact.applied} /></>}{impact.deleted.length > 0 && <>deletes <ObjectLinks to={impact.deleted} /></>}{impact.deletedWith > 0 && ` and ${impact.deletedWith} objects with them`}</p>
      <LostTraffic of={impact} />
      {impact.lostProtection.length > 0 && (
        <section class="notice bad-notice"><h2>Lost protection</h2>
          <LongList of={impact.lostProtection} item={(one) => <><ObjectLink to={one.object} /> <LossOf loss={one} /> {one.protection} (<code>{one.settings.join(', ')}</code>) of <ObjectLinks to={one.from} />{one.reasons.length > 0 && `: ${one.reasons.join('; ')}`}</>} />
        </section>
      )}
      <GuardrailChanges of={of} />
      {findings.length > 0 && <section><h2>Findings</h2><Findings of={findings} /></section>}
      {others.length > 0 && <details class="card"><summary>{others.length} other findings of the state with this change</summary><Findings of={others} /></details>}
      {traffic.gained.length > 0 && <section><h2>Gained traffic</h2><LongList class="plain-list" of={traffic.gained} item={(one) => <><ObjectLink to={one.route} /> on <ObjectLinks to={one.listeners} /></>} /></section>}
      {traffic.answered.length > 0 && <section><h2>Requests that get no error any more</h2><LongList class="plain-list" of={traffic.answered} item={(one) => <>those of <ObjectLinks to={one.objects} />, which failed because <ObjectLink to={one.policy} /> was rejected</>} /></section>}
      {traffic.rerouted.length > 0 && <section><h2>Requests that another rule takes</h2><LongList class="plain-list" of={traffic.rerouted} item={(one) => <><ObjectLink to={one.to} /> takes <code>{one.requests.join(', ')}</code> from <ObjectLink to={one.from} /></>} /></section>}
      {traffic.notCompared > 0 && <p class="faint">The requests of {traffic.notCompared} more matches of routes were not compared.</p>}
      {impact.changes.length > 0 && <section><h2>In force, before and after</h2><Changes of={impact.changes} /></section>}
      {impact.orphaned.length > 0 && <section><h2>Policies that lose their only target</h2><LongList class="plain-list" of={impact.orphaned} item={(one) => <ObjectLink to={one} />} /></section>}
      {impact.idle.length > 0 && <section><h2>No effect</h2><LongList class="plain-list" of={impact.idle} item={(one) => <><ObjectLink to={one.object} />: {one.reason}</>} /></section>}
      {nothing && <Empty title="Nothing in force changes.">{findings.length > 0 ? 'See the findings for why.' : 'Traffic, protection, guardrails and policies stay as they are.'}</Empty>}
    </>
  );
}

function Figure({ n, words, isBad }: { n: number; words: string; isBad?: boolean }) {
  return <div class={`figure ${n > 0 && isBad ? 'bad-figure' : ''}`}><b>{n}</b><span>{words}</span></div>;
}

/** How an object loses a protection: on the paths that it had, or by new ones beside them. */
function LossOf({ loss }: { loss: Impact['lostProtection'][number] }) {
  if (loss.opened.length === 0) return <>{loss.partly ? 'keeps only part of' : 'loses'}</>;
  return <>now gets requests through <ObjectLinks to={loss.opened} /> too, {loss.partly ? 'with only part of' : 'without'}</>;
}

function LostTraffic({ of }: { of: Impact }) {
  const { detached, reduced, moved, backends, unserved, notTaken, failing } = of.traffic;
  const items: ComponentChildren[] = [
    ...detached.map((route) => <><ObjectLink to={route} /> is no longer attached to a Gateway</>),
    ...reduced.map((one) => <><ObjectLink to={one.route} /> is no longer attached to <ObjectLinks to={one.listeners} /></>),
    ...moved.map((one) => <><ObjectLink to={one.listener} /> serves {entry(one.after)} and no longer {entry(one.before)}: <ObjectLinks to={one.routes} /></>),
    ...notTaken.map((one) => <>no rule takes <code>{one.requests.join(', ')}</code> any more, which <ObjectLink to={one.rule} /> took</>),
    ...backends.map((one) => <><ObjectLink to={one.route} /> loses its backend <ObjectLink to={one.backend} />: {one.reason}</>),
    ...unserved.map((one) => <>no controller serves <ObjectLink to={one.gateway} /> any more: <ObjectLink to={one.class} /> does not exist</>),
    ...failing.map((one) => <>requests to <ObjectLinks to={one.objects} /> fail: <ObjectLink to={one.policy} /> is rejected</>),
  ];
  if (items.length === 0) return null;
  return <section class="notice bad-notice"><h2>Lost traffic</h2><LongList of={items} item={(item) => item} /></section>;
}

const entry = ({ hostname, port }: { hostname: string | null; port: number }) => `${hostname ?? 'any hostname'} on port ${port}`;

/** The findings about the objects of the change, and those that the state has in addition. */
function splitFindings({ findings, impact }: Preview): [Finding[], Finding[]] {
  const shown = (one: Finding) => !one.known && !one.suppressed;
  const key = (one: Finding) => `${one.code} ${one.object ? keyOf(one.object) : ''} ${one.field ?? ''} ${one.message}`;
  const applied = new Set(impact.applied.map(keyOf));
  const isOwn = (one: Finding) => Boolean(one.object && applied.has(keyOf(one.object)));
  const own = new Map([...impact.findings, ...findings.findings.filter(isOwn)].filter(shown).map((one) => [key(one), one]));
  return [[...own.values()], findings.findings.filter((one) => shown(one) && !own.has(key(one)))];
}

interface Difference { name: string; before: Guarded | undefined; after: Guarded | undefined; faults: Guarded['faults'] }

function differences({ guardrails }: Preview): Difference[] {
  const before = new Map(guardrails.before.guardrails.map((one) => [one.name, one]));
  const after = new Map(guardrails.after.guardrails.map((one) => [one.name, one]));
  const key = (fault: Guarded['faults'][number]) => `${keyOf(fault.target)} ${fault.rule}`;
  return [...new Set([...before.keys(), ...after.keys()])].map((name) => {
    const known = new Set(before.get(name)?.faults.map(key));
    return { name, before: before.get(name), after: after.get(name), faults: (after.get(name)?.faults ?? []).filter((fault) => !known.has(key(fault))) };
  });
}

const newlyBroken = (of: Preview) => differences(of).filter((one) => one.faults.length > 0);

function GuardrailChanges({ of }: { of: Preview }) {
  const all = differences(of);
  if (all.length === 0) return null;
  const changed = all.filter(({ before, after, faults }) => faults.length > 0 || before?.fulfilled !== after?.fulfilled || before?.broken !== after?.broken);
  if (changed.length === 0) return <section><h2>Guardrails</h2><p class="faint">{all.length === 1 ? 'The guardrail holds' : `All ${all.length} guardrails hold`} for as many targets as before.</p></section>;
  return (
    <section>
      <h2>Guardrails</h2>
      <div class="table-scroll">
        <table class="grid" aria-label="Guardrails before and after">
          <thead><tr><th scope="col">Guardrail</th><th scope="col" class="number">Fulfilled</th><th scope="col" class="number">Broken</th><th scope="col">Newly broken</th></tr></thead>
          <tbody>
            {changed.map(({ name, before, after, faults }) => (
              <tr key={name}>
                <td><a class="object row-link strong" href="#/guardrails">{name}</a><br />{after?.policyKind && <KindBadge {...after.policyKind} />}</td>
                <td class="number">{before?.fulfilled ?? 0} → {after?.fulfilled ?? 0}</td>
                <td class={`number ${faults.length > 0 ? 'bad' : ''}`}>{before?.broken ?? 0} → {after?.broken ?? 0}</td>
                <td>{faults.map((fault, i) => <div key={i}><ObjectLink to={fault.target} />: {fault.message}</div>)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
