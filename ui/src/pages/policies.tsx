// All policies: problems first, with filters that are in the address.
import { useMemo } from 'preact/hooks';
import type { Listed, Policies } from '../types';
import { useData } from '../data';
import { keyOf, kindOf, labelOf, nameOf, pageOf } from '../names';
import { hashOf, replace, routeOf, useQuery, type Route } from '../route';
import { counted, Search, Select, States } from '../parts/filters';
import { Breakable, KindBadge, ObjectLinks } from '../parts/links';
import { Await, Empty, PageTitle } from '../parts/notice';
import { StatePill, useIsBad, useUrgency } from '../parts/state';
import { Table, type Column } from '../parts/table';

export function PoliciesPage({ route }: { route: Route }) {
  const loaded = useData<Policies>('policies');
  return (
    <>
      <PageTitle title="Policies">Every policy, with its state on all its targets. What needs a look is first.</PageTitle>
      <Await loaded={loaded} what="policies">{({ policies }) => <List policies={policies} route={route} />}</Await>
    </>
  );
}

function List({ policies, route }: { policies: Listed[]; route: Route }) {
  const [words, setWords] = useQuery(route, 'q');
  const [kind, setKind] = useQuery(route, 'kind');
  const [namespace, setNamespace] = useQuery(route, 'namespace');
  const [sort, setSort] = useQuery(route, 'sort');
  const [problems, setProblems] = useQuery(route, 'problems');
  const states = route.query.getAll('state');
  const isBad = useIsBad();
  const urgency = useUrgency();
  const rows = useMemo(() => {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    return policies.filter((one) => (states.length === 0 || states.includes(one.state))
      && (kind === '' || kindOf(one.policy) === kind) && (namespace === '' || one.policy.namespace === namespace)
      && (problems === '' || isProblem(one, isBad)) && parts.every((part) => textOf(one).includes(part)));
  }, [policies, words, kind, namespace, problems, states.join()]);
  const counts = useMemo(() => {
    const found = new Map<string, number>();
    for (const { state } of policies) found.set(state, (found.get(state) ?? 0) + 1);
    return found;
  }, [policies]);
  const troubled = useMemo(() => policies.filter((one) => isProblem(one, isBad)).length, [policies]);
  const setStates = (next: string[]) => {
    const query = new URLSearchParams(routeOf(location.hash).query);
    query.delete('state');
    for (const one of next) query.append('state', one);
    replace(hashOf(route.page, [], query));
  };
  const isFiltered = [words, kind, namespace, problems].some(Boolean) || states.length > 0;
  const order = (a: Listed, b: Listed) => urgency(a.state) - urgency(b.state) || (keyOf(a.policy) < keyOf(b.policy) ? -1 : 1);
  if (policies.length === 0) return <Empty title="There are no policies here.">A policy is an object that attaches settings to a Gateway, a route, a Service or a Namespace. When one is created, it appears here.</Empty>;
  return (
    <>
      <div class="filters" role="search">
        <Search value={words} onChange={setWords} label="Search policies" />
        <States counts={counts} chosen={states} onChange={setStates} />
        <button type="button" class="filter problems" aria-pressed={problems !== ''} disabled={troubled === 0} title="Show only policies that need a look" onClick={() => setProblems(problems === '' ? '1' : '')}><b>{troubled}</b>{troubled === 1 ? 'problem' : 'problems'}</button>
        <Select value={kind} onChange={setKind} label="Filter by kind" none="all kinds" options={counted(policies, (one) => kindOf(one.policy), (one) => one.split('.')[0] ?? one)} />
        <Select value={namespace} onChange={setNamespace} label="Filter by namespace" none="all namespaces" options={counted(policies, (one) => one.policy.namespace)} />
        {isFiltered && <button type="button" class="plain" onClick={() => replace(hashOf(route.page))}>Clear filters</button>}
        <output class="faint" aria-live="polite">{isFiltered ? `${rows.length} of ${policies.length} policies` : `${policies.length} policies`}</output>
      </div>
      {rows.length === 0
        ? <Empty title="No policy matches these filters."><button type="button" class="plain" onClick={() => replace(hashOf(route.page))}>Clear filters</button></Empty>
        : <Table label="Policies" columns={COLUMNS} rows={rows} keyOf={(one) => keyOf(one.policy)} order={order} sort={sort} onSort={setSort} />}
    </>
  );
}

const isProblem = (one: Listed, isBad: (state: string) => boolean) => isBad(one.state) || Boolean(one.disagreement);

const texts = new WeakMap<Listed, string>();
function textOf(one: Listed): string {
  let found = texts.get(one);
  if (found === undefined) {
    found = [kindOf(one.policy), nameOf(one.policy), one.state, ...one.targets.map(({ target }) => labelOf(target)), one.strategy ?? '', one.reason ?? ''].join(' ').toLowerCase();
    texts.set(one, found);
  }
  return found;
}

const COLUMNS: Column<Listed>[] = [
  { key: 'state', title: 'State', by: ({ state }) => state, cell: ({ state }) => <StatePill state={state} /> },
  {
    key: 'policy', title: 'Policy', by: ({ policy }) => policy.name,
    cell: ({ policy }) => <><a class="object row-link strong" href={pageOf(policy)}><Breakable words={policy.name} /></a><br /><KindBadge {...policy} /></>,
  },
  { key: 'namespace', title: 'Namespace', by: ({ policy }) => policy.namespace, cell: ({ policy }) => policy.namespace },
  { key: 'targets', title: 'Targets', by: ({ targets }) => (targets[0] ? labelOf(targets[0].target) : ''), cell: ({ targets }) => <ObjectLinks to={targets.map(({ target }) => target)} most={3} /> },
  { key: 'actsOn', title: 'Applies to', number: true, by: ({ actsOn }) => actsOn, cell: ({ actsOn }) => actsOn },
  { key: 'strategy', title: 'Strategy', by: ({ strategy }) => strategy ?? '', cell: ({ strategy, writtenStrategy }) => <span title={writtenStrategy ?? undefined}>{strategy ?? ''}</span> },
  { key: 'why', title: 'Why', cell: (one) => <Why of={one} /> },
];

function Why({ of }: { of: Listed }) {
  return (
    <>
      {of.reason && <div>{of.reason}</div>}
      {!of.reason && of.targets.map((target) => target.reason).filter(Boolean).slice(0, 1).map((reason) => <div key="target">{reason}</div>)}
      {of.by.length > 0 && <div>overridden{of.state === 'PartiallyEnforced' ? ' in part' : ''} by <ObjectLinks to={of.by} most={2} short /></div>}
      {of.disagreement && <div class="bad">{disagreementOf(of.disagreement)}</div>}
    </>
  );
}

/** How the controllers' status differs from the state. */
export function disagreementOf(differs: string): string {
  switch (differs) {
    case 'rejected': return 'Its controllers reject it; attache expects them to accept it.';
    case 'accepted': return 'Its controllers accept it; attache expects them not to.';
    case 'not-enforced': return 'Its controllers do not enforce it; attache expects them to.';
    case 'overridden': return 'Its controllers report it as overridden; attache expects it to be in force.';
    default: return `Its controllers report something else than attache expects: ${differs}`;
  }
}
