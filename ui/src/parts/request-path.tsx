// The path of a request as a row of boxes, and why nothing else takes it.
import type { ComponentChildren } from 'preact';
import type { Criterion, Step, Unserved } from '../types';
import { keyOf, kindOf } from '../names';
import { Removed } from './effective';
import { KindBadge, ObjectLink, ObjectLinks, SectionLink } from './links';
import { StatePill } from './state';
import { SourcedYaml } from './yaml-view';

function Box({ title, children, isBad }: { title: string; children: ComponentChildren; isBad?: boolean }) {
  return <li class={isBad ? 'hop bad-hop' : 'hop'}><span class="hop-title">{title}</span>{children}</li>;
}

const BACKEND_WORDS: Record<string, string> = {
  NotLooked: 'not looked up', Missing: 'does not exist', NotGranted: 'no ReferenceGrant allows it', NoSuchPort: 'has no such port', PortUnsaid: 'no port is named', NoBackend: 'is not a backend',
};

export function ServedStep({ of }: { of: Step }) {
  const matched = matchWords(of);
  return (
    <section class="card">
      <ol class="hops" aria-label="Path of the request">
        {of.gateway && <Box title="Gateway"><ObjectLink to={of.gateway} short /></Box>}
        {of.service && <Box title="Service in the mesh"><ObjectLink to={of.service} short /></Box>}
        {of.listener && <Box title="Listener"><SectionLink of={of.listener} /><span class="faint">{[of.protocol, of.port, of.hostname].filter(Boolean).join(' ')}</span></Box>}
        {of.route && <Box title={of.route.kind}><ObjectLink to={of.route} short /></Box>}
        {of.rule && <Box title="Rule"><SectionLink of={of.rule} />{matched && <span class="faint">{matched}</span>}</Box>}
        {of.backends.length > 0 && (
          <Box title={of.backends.length === 1 ? 'Backend' : 'Backends'} isBad={of.backends.some((one) => one.state !== 'Used')}>
            {of.backends.map((one) => (
              <span key={keyOf(one.backend)}>
                <ObjectLink to={{ ...one.backend, section: undefined }} short />{one.port ? <span class="faint">:{one.port}</span> : null}
                {of.backends.length > 1 && <span class="faint"> weight {one.weight}</span>}
                {one.state !== 'Used' && <span class="bad"> {BACKEND_WORDS[one.state] ?? one.state}{one.answer ? `: ${one.answer}` : ''}</span>}
              </span>
            ))}
          </Box>
        )}
        {of.answer && <Box title="Answer">{of.answer.message}</Box>}
      </ol>
      {of.filters.length > 0 && <p><span class="faint">Filters: </span>{of.filters.join(', ')}</p>}
      {of.mirrors && of.mirrors.length > 0 && <p><span class="faint">Mirrored to: </span><ObjectLinks to={of.mirrors.map((one) => one.backend)} /></p>}
      {of.notes.map((note) => <p key={note} class="faint">{note}</p>)}
      <InForce of={of} />
      {of.considered.length > 0 && <details open><summary>Why not the others</summary><ConsideredList of={of.considered} more={of.consideredMore} /></details>}
    </section>
  );
}


function matchWords({ matched }: Step): string {
  if (!matched) return '';
  const parts = [
    matched.hostname && `hostname ${matched.hostname}`, matched.path && `${matched.path.type} ${matched.path.value}`, matched.method && `method ${matched.method}`,
    matched.grpcService && `service ${matched.grpcService}`, matched.grpcMethod && `method ${matched.grpcMethod}`,
    ...matched.headers.map((one) => `header ${one.name}: ${one.value}`), ...matched.query.map((one) => `query ${one.name}=${one.value}`),
  ];
  return parts.filter(Boolean).join(', ');
}

function InForce({ of }: { of: Step }) {
  return (
    <>
      <h2>Policies</h2>
      {of.policies.length === 0 && <p class="faint">No policy is in force on this request.</p>}
      {of.policies.length > 0 && (
        <div class="table-scroll">
          <table class="grid" aria-label="Policies on this request">
            <thead><tr><th scope="col">State</th><th scope="col">Policy</th><th scope="col">Attached to</th><th scope="col">Why</th></tr></thead>
            <tbody>
              {of.policies.map((one) => (
                <tr key={keyOf(one.policy)}>
                  <td><StatePill state={one.state} /></td>
                  <td><ObjectLink to={one.policy} short class="row-link strong" /><br /><KindBadge {...one.policy} /></td>
                  <td><ObjectLinks to={one.at} /></td>
                  <td>
                    {one.reason}{one.by.length > 0 && <>{one.lost.length > 0 ? <code>{one.lost.join(', ')}</code> : null} overridden by <ObjectLinks to={one.by} short /></>}
                    {one.caveats?.map((words) => <div key={words} class="faint">{words}</div>)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {of.effective.length > 0 && <h2>In force</h2>}
      <div class="variants">
        {of.effective.map((one) => (
          <div key={kindOf(one.policyKind)} class="variant">
            <p class="variant-title"><KindBadge {...one.policyKind} /></p>
            {one.spec === null || one.spec === undefined ? <p class="faint">Only the controller of this kind knows how these policies merge.</p> : <SourcedYaml value={one.spec} sources={one.sources} label={`${one.policyKind.kind} in force`} />}
            <Removed of={one} />
          </div>
        ))}
      </div>
    </>
  );
}

function ConsideredList({ of, more }: { of: Criterion[]; more: number }) {
  return (
    <ul class="plain-list">
      {of.map((one, i) => <li key={i}><ObjectLink to={one.route} />: {one.message}</li>)}
      {more > 0 && <li class="faint">and {more} more</li>}
    </ul>
  );
}

export function UnservedList({ of, isServed }: { of: Unserved[]; isServed: boolean }) {
  const items = (
    <ul class="plain-list spaced">
      {of.map((one, i) => (
        <li key={i}>
          {one.listener ? <ObjectLink to={one.listener} /> : one.gateway ? <ObjectLink to={one.gateway} /> : one.service ? <ObjectLink to={one.service} /> : 'The request'}
          {one.protocol && <span class="faint"> {one.protocol} {one.port}</span>}: {one.message}
          {one.nearest.length > 0 && <div class="faint">nearest: {one.nearest.join(', ')}</div>}
          {one.notes.map((note) => <div key={note} class="faint">{note}</div>)}
          {one.considered.length > 0 && <ConsideredList of={one.considered} more={one.consideredMore} />}
        </li>
      ))}
    </ul>
  );
  if (!isServed) return <section class="card"><h2>Why not</h2>{items}</section>;
  return <details class="card"><summary>Gateways that do not serve it</summary>{items}</details>;
}
