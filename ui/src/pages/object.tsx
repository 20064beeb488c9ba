// One object: the policies on it, what is in force, what controllers report, its YAML, commands.
import type { Description, OfKind, OfTarget, OfWorkload, Ref } from '../types';
import { useApp } from '../context';
import { useData } from '../data';
import { askedOf, commandsOf, keyOf, labelOf, mapOf } from '../names';
import type { Route } from '../route';
import { Commands } from '../parts/copy';
import { EffectiveByKind } from '../parts/effective';
import { Facts, KindBadge, LongList, ObjectLink, ObjectLinks, SectionLink } from '../parts/links';
import { Await, PageTitle } from '../parts/notice';
import { PoliciesOnObject } from '../parts/on-object';
import { StatePill } from '../parts/state';
import { Code } from '../parts/yaml-view';
import { PolicyObject } from './object-policy';

export function ObjectPage({ route }: { route: Route }) {
  const name = askedOf(route.parts);
  const loaded = useData<Description>(`object?name=${encodeURIComponent(name)}`);
  return <Await loaded={loaded} what={name}>{(found) => <Described key={name} of={found} />}</Await>;
}

function Described({ of }: { of: Description }) {
  const { state } = useApp();
  if ('policyKind' in of) return <KindObject of={of} />;
  const { object } = of;
  return (
    <article>
      <PageTitle title={<><span class="title-kind">{object.kind}</span>{' '}{object.name}{object.section !== undefined && <>{' '}<span class="title-section">{object.section}</span></>}</>}
        tools={<><a class="tool" href={mapOf(object)}>Show on the map</a>{object.section !== undefined && <ObjectLink to={{ ...object, section: undefined }} class="tool" />}</>}>
        {object.namespace ? <>in namespace <ObjectLink to={{ group: '', kind: 'Namespace', namespace: '', name: object.namespace }} short /></> : 'cluster-scoped'}
        {object.group && <> · {object.group}</>}
      </PageTitle>
      {'settings' in of ? <PolicyObject of={of} /> : 'services' in of ? <WorkloadObject of={of} /> : <TargetObject of={of} />}
      <div class="columns">
        {(of.yaml || of.yamlProblem) && (
          <section><h2>The object</h2>{of.yaml ? <Code words={of.yaml} label={`YAML of ${labelOf(object)}`} /> : <p class="faint">{of.yamlProblem}</p>}</section>
        )}
        <section><h2>Commands</h2><Commands of={commandsOf(object, state.commandArguments)} /></section>
      </div>
    </article>
  );
}

function TargetObject({ of }: { of: OfTarget }) {
  const { overview } = of;
  return (
    <>
      <Facts of={factsOf(of)} />
      <Problems of={of} />
      {overview?.listeners && overview.listeners.length > 0 && <Listeners of={of} />}
      <section><h2>Policies</h2><PoliciesOnObject of={of.policies} /></section>
      {of.effective.length > 0 && (
        <section><h2>In force</h2><EffectiveByKind of={of.effective} /></section>
      )}
      {(of.onRoutes?.length ?? 0) > 0 && (
        <section><h2>In force on the way here</h2><p class="faint">Of policies on routes and Gateways, for requests that come to this object through them.</p><EffectiveByKind of={of.onRoutes ?? []} /></section>
      )}
      {of.backends?.some((backend) => backend.policies.length > 0) && (
        <section>
          <h2>Policies on its backends</h2>
          {of.backends.filter((backend) => backend.policies.length > 0).map((backend) => (
            <div key={keyOf(backend.object)}><h3><ObjectLink to={backend.object} /></h3><PoliciesOnObject of={backend.policies} /></div>
          ))}
        </section>
      )}
    </>
  );
}

type FactList = Parameters<typeof Facts>[0]['of'];

function factsOf(of: OfTarget): FactList {
  const facts: FactList = [];
  if (of.hostnames?.length) facts.push(['Hostnames', of.hostnames.join(', ')]);
  if (of.attachedTo?.length) facts.push(['Attached to', <ObjectLinks key="a" to={of.attachedTo} />]);
  if (of.notAttachedTo?.length) facts.push(['Not attached to', <span key="n" class="bad"><ObjectLinks to={of.notAttachedTo} /></span>]);
  if (of.backends?.length) facts.push(['Backends', <ObjectLinks key="b" to={of.backends.map((one) => one.object)} />]);
  if (of.usedBy?.length) facts.push(['Used by', <ObjectLinks key="u" to={of.usedBy} />]);
  const { overview } = of;
  if (overview?.class) facts.push(['Class', overview.class]);
  if (overview?.controller) facts.push(['Controller', overview.controller]);
  if (overview?.gateways?.length) facts.push(['Gateways', <ObjectLinks key="g" to={overview.gateways} />]);
  if (overview) facts.push(['Routes', overview.routes.length === 0 ? 'none' : <ObjectLinks key="r" to={overview.routes} most={8} />]);
  return facts;
}

function Problems({ of }: { of: OfTarget }) {
  const broken = of.overview?.brokenRoutes ?? [];
  const own = of.problems ?? [];
  const all: [Ref, string][] = [...own.map((one): [Ref, string] => [one.object, one.reason]), ...broken.flatMap(({ route, problems }) => problems.map((one): [Ref, string] => [route, one.reason]))];
  if (all.length === 0) return null;
  return (
    <section class="notice bad-notice">
      <h2>Problems</h2>
      <LongList of={all} item={([about, reason]) => <><ObjectLink to={about} />: {reason}</>} />
    </section>
  );
}

function Listeners({ of }: { of: OfTarget }) {
  return (
    <section>
      <h2>Listeners</h2>
      <div class="table-scroll">
        <table class="grid" aria-label="Listeners">
          <thead><tr><th scope="col">Name</th><th scope="col">Protocol</th><th scope="col" class="number">Port</th><th scope="col">Hostname</th><th scope="col" class="number">Routes</th></tr></thead>
          <tbody>
            {of.overview?.listeners?.map((one) => (
              <tr key={one.name}><td><SectionLink of={{ ...of.object, section: one.name }} class="row-link strong" /></td><td>{one.protocol}</td><td class="number">{one.port}</td><td>{one.hostname ?? 'any'}</td><td class="number">{one.routes}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function WorkloadObject({ of }: { of: OfWorkload }) {
  return (
    <>
      {[...of.routes, ...of.services].map((one) => (
        <section key={keyOf(one.object)} class="card"><h2><ObjectLink to={one.object} /></h2><TargetObject of={one} /></section>
      ))}
    </>
  );
}

function KindObject({ of }: { of: OfKind }) {
  return (
    <article>
      <PageTitle title={of.policyKind.kind}>{of.policyKind.group} · {of.policyKind.class} policies · versions {of.policyKind.versions.join(', ')}</PageTitle>
      <ul class="plain-list">{of.policies.map((one) => <li key={keyOf(one.policy)}><StatePill state={one.state} /> <ObjectLink to={one.policy} /> <KindBadge {...one.policy} /></li>)}</ul>
    </article>
  );
}
