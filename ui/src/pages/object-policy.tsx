// A policy: its state on each target, its settings, what it changes, and what is reported beside what is expected.
import type { OfPolicy, OnTarget } from '../types';
import { keyOf } from '../names';
import { Changes } from '../parts/changes';
import { Facts, ObjectLink, ObjectLinks } from '../parts/links';
import { Condition, ReportedConditions } from '../parts/on-object';
import { StatePill } from '../parts/state';
import { Code } from '../parts/yaml-view';
import { yamlOf } from '../yaml';
import { disagreementOf } from './policies';

export function PolicyObject({ of }: { of: OfPolicy }) {
  return (
    <>
      <div class="summary">
        <StatePill state={of.state} />
        {of.reason && <span>{of.reason}</span>}
        {of.by.length > 0 && <span>overridden{of.state === 'PartiallyEnforced' ? ' in part' : ''} by <ObjectLinks to={of.by} /></span>}
      </div>
      {of.disagreement && <div class="notice bad-notice"><p>{disagreementOf(of.disagreement)}</p></div>}
      {of.caveats?.map((words) => <p key={words} class="faint">{words}</p>)}
      <Facts of={factsOf(of)} />
      <section><h2>Targets</h2><Targets of={of.targets} /></section>
      <div class="columns">
        <section>
          <h2>Settings</h2>
          {Object.entries(of.settings).map(([part, value]) => <Code key={part} words={yamlOf({ [part]: value })} label={`Settings, ${part}`} />)}
        </section>
        <section><h2>Status</h2><Status of={of} /></section>
      </div>
      {of.changes.length > 0 && (
        <section>
          <h2>What it changes</h2>
          <p class="faint">What is in force with this policy, and what would be without it.</p>
          <Changes of={of.changes} before="Without it" after="With it" />
        </section>
      )}
    </>
  );
}

function factsOf(of: OfPolicy): [string, string][] {
  const facts: [string, string][] = [['Class', of.class]];
  if (of.strategy) facts.push(['Strategy', of.strategy]);
  if (of.writtenStrategy) facts.push(['Written as', of.writtenStrategy]);
  return facts;
}

function Targets({ of }: { of: OnTarget[] }) {
  return (
    <div class="table-scroll">
      <table class="grid" aria-label="Targets of this policy">
        <thead><tr><th scope="col">State</th><th scope="col">Target</th><th scope="col">Applies to</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {of.map((one) => (
            <tr key={keyOf(one.target)}>
              <td><StatePill state={one.state} /></td>
              <td><ObjectLink to={one.target} class="row-link" /></td>
              <td>{one.actsOn.length === 0 ? <span class="faint">nothing</span> : <ObjectLinks to={one.actsOn} most={6} />}</td>
              <td>
                {one.reason && <div>{one.reason}</div>}
                {Object.entries(one.lost ?? {}).map(([field, by]) => <div key={field}><code>{field}</code> overridden by <ObjectLinks to={by} short /></div>)}
                {one.overriddenOn.length > 0 && <div>all of it overridden on <ObjectLinks to={one.overriddenOn} most={3} /></div>}
                {one.mergedWith.length > 0 && <div class="faint">merged with <ObjectLinks to={one.mergedWith} short most={3} /></div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Status({ of }: { of: OfPolicy }) {
  return (
    <div class="beside">
      <div><h3>Its controllers report</h3><ReportedConditions of={of.reported ?? []} /></div>
      <div>
        <h3>attache expects</h3>
        {of.ancestors.length === 0 && <ul class="conditions">{of.conditions.map((one) => <li key={one.type}><Condition {...one} /></li>)}</ul>}
        {of.ancestors.map((one) => (
          <ul key={keyOf(one.ancestor)} class="conditions">
            {one.conditions.map((condition) => <li key={condition.type}><Condition {...condition} /><span class="faint">for <ObjectLink to={one.ancestor} /></span></li>)}
          </ul>
        ))}
      </div>
    </div>
  );
}
