// All objects of the state: where a look at one begins.
import { useMemo } from 'preact/hooks';
import type { GraphData, GraphNode } from '../types';
import { useData } from '../data';
import { kindOf, mapOf, nameOf, pageOf } from '../names';
import { hashOf, replace, useQuery, type Route } from '../route';
import { counted, Search, Select } from '../parts/filters';
import { Breakable, KindBadge } from '../parts/links';
import { Await, Empty, PageTitle } from '../parts/notice';
import { StatePill, useIsBad } from '../parts/state';
import { Table, type Column } from '../parts/table';

interface Row {
  node: GraphNode;
  policies: number;
  problem: string;
  isBad: boolean;
}

export function ObjectsPage({ route }: { route: Route }) {
  const loaded = useData<GraphData>('graph');
  return (
    <>
      <PageTitle title="Objects">Gateways, routes, backends and policies. Open one to see what is in force on it.</PageTitle>
      <Await loaded={loaded} what="objects">{(data) => <List data={data} route={route} />}</Await>
    </>
  );
}

function List({ data, route }: { data: GraphData; route: Route }) {
  const isBad = useIsBad();
  const all = useMemo(() => rowsOf(data, isBad), [data]);
  const [words, setWords] = useQuery(route, 'q');
  const [kind, setKind] = useQuery(route, 'kind');
  const [namespace, setNamespace] = useQuery(route, 'namespace');
  const [sort, setSort] = useQuery(route, 'sort');
  const rows = useMemo(() => {
    const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
    return all.filter(({ node }) => (kind === '' || kindOf(node.object) === kind) && (namespace === '' || node.object.namespace === namespace)
      && parts.every((part) => `${kindOf(node.object)} ${nameOf(node.object)} ${(node.hostnames ?? []).join(' ')}`.toLowerCase().includes(part)));
  }, [all, words, kind, namespace]);
  const order = (a: Row, b: Row) => Number(b.isBad) - Number(a.isBad) || (a.node.id < b.node.id ? -1 : 1);
  if (all.length === 0) return <Empty title="There are no objects here.">Gateways, routes and their policies appear here when they are created.</Empty>;
  return (
    <>
      <div class="filters" role="search">
        <Search value={words} onChange={setWords} label="Search objects" />
        <Select value={kind} onChange={setKind} label="Filter by kind" none="all kinds" options={counted(all, ({ node }) => kindOf(node.object), (one) => one.split('.')[0] ?? one)} />
        <Select value={namespace} onChange={setNamespace} label="Filter by namespace" none="all namespaces" options={counted(all, ({ node }) => node.object.namespace)} />
        <output class="faint" aria-live="polite">{rows.length === all.length ? `${all.length} objects` : `${rows.length} of ${all.length} objects`}</output>
      </div>
      {rows.length === 0
        ? <Empty title="No object matches."><button type="button" class="plain" onClick={() => replace(hashOf(route.page))}>Clear filters</button></Empty>
        : <Table label="Objects" columns={COLUMNS} rows={rows} keyOf={({ node }) => node.id} order={order} sort={sort} onSort={setSort} />}
    </>
  );
}

function rowsOf(data: GraphData, isBad: (state: string) => boolean): Row[] {
  const whole = (id: string) => id.split('#')[0] ?? id;
  const policies = new Map<string, number>();
  const rejected = new Map<string, string>();
  for (const edge of data.graph.edges) {
    if (edge.type === 'attached') policies.set(whole(edge.to), (policies.get(whole(edge.to)) ?? 0) + 1);
    // Of a rejected reference, the route is to blame: above a backend, below a Gateway.
    if (edge.type === 'rejected' && edge.reason) for (const end of [edge.from, edge.to]) rejected.set(whole(end), edge.reason);
  }
  return data.graph.nodes.filter((node) => node.object.section === undefined && node.type !== 'frontend').map((node) => {
    const problem = node.missing ? 'does not exist' : node.unaccepted ?? (node.type === 'route' ? rejected.get(node.id) : undefined)
      ?? (node.state && isBad(node.state) ? node.reason ?? '' : '');
    return { node, policies: policies.get(node.id) ?? 0, problem, isBad: problem !== '' || Boolean(node.state && isBad(node.state)) };
  });
}

const COLUMNS: Column<Row>[] = [
  {
    key: 'name', title: 'Name', by: ({ node }) => node.object.name,
    cell: ({ node }) => <><a class="object row-link strong" href={pageOf(node.object)}><Breakable words={node.object.name} /></a>{(node.hostnames?.length ?? 0) > 0 && <div class="faint small">{node.hostnames?.slice(0, 2).join(', ')}</div>}</>,
  },
  { key: 'kind', title: 'Kind', by: ({ node }) => kindOf(node.object), cell: ({ node }) => <KindBadge {...node.object} /> },
  { key: 'namespace', title: 'Namespace', by: ({ node }) => node.object.namespace, cell: ({ node }) => node.object.namespace },
  { key: 'policies', title: 'Policies', number: true, by: ({ policies }) => policies, cell: ({ policies }) => policies || '' },
  { key: 'state', title: 'State', by: ({ node }) => node.state ?? '', cell: ({ node }) => node.state && <StatePill state={node.state} /> },
  { key: 'problem', title: 'Problem', by: ({ problem }) => problem, cell: ({ problem }) => problem && <span class="bad">{problem}</span> },
  { key: 'map', title: 'Where', cell: ({ node }) => <a class="object one-line" href={mapOf(node.object)} aria-label={`Show ${node.object.name} on the map`}>on the map</a> },
];
