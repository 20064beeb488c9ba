// What changed in this session: which object, when, and what that changed in force.
import type { Entry, History } from '../types';
import { useData } from '../data';
import { useQuery, type Route } from '../route';
import { Changes } from '../parts/changes';
import { Await, Empty, PageTitle } from '../parts/notice';

const SIGNS = { created: '+', updated: '~', deleted: '−' };

export function HistoryPage({ route }: { route: Route }) {
  const loaded = useData<History>('history');
  const [only, setOnly] = useQuery(route, 'only');
  return (
    <>
      <PageTitle title="History" tools={(
        <div class="group" role="group" aria-label="Which changes">
          <button type="button" aria-pressed={only !== 'in-force'} onClick={() => setOnly('')}>All</button>
          <button type="button" aria-pressed={only === 'in-force'} onClick={() => setOnly('in-force')}>Changed what is in force</button>
        </div>
      )}>The newest 200 changes since this server started, newest first.</PageTitle>
      <Await loaded={loaded} what="history">
        {({ since, entries }) => {
          const shown = only === 'in-force' ? entries.filter((entry) => entry.inForce.length > 0) : entries;
          if (shown.length === 0) return <Empty title={entries.length === 0 ? 'Nothing has changed yet.' : 'No change has changed what is in force.'}>Since <Time of={since} />. Changes of objects appear here by themselves.</Empty>;
          return <ol class="history">{shown.map((entry) => <OneEntry key={entry.generation} of={entry} />)}</ol>;
        }}
      </Await>
    </>
  );
}

function OneEntry({ of }: { of: Entry }) {
  const count = of.inForce.length;
  return (
    <li class="card">
      <div class="card-title">
        <h2><Time of={of.time} /></h2>
        <span class={count > 0 ? 'state partly' : 'chip-plain'}>{count === 0 ? 'nothing in force changed' : `${count} ${count === 1 ? 'change' : 'changes'} in force`}</span>
      </div>
      <ul class="plain-list">
        {of.objects.slice(0, 50).map((one) => <li key={one.object}><span class={`sign ${one.change}`} aria-hidden="true">{SIGNS[one.change]}</span> <a class="object" href={addressOf(one.object)}>{one.object}</a> <span class="faint">{one.change}</span></li>)}
        {of.objects.length > 50 && <li class="faint">and {of.objects.length - 50} more objects</li>}
      </ul>
      {count > 0 && <details open={count <= 3}><summary>What changed in force</summary><Changes of={of.inForce} /></details>}
    </li>
  );
}

/** `HTTPRoute.gateway.networking.k8s.io/shop/cart`, as an address. */
function addressOf(id: string): string {
  const [kind = '', ...names] = id.split('/');
  const short = kind.replace(/\.gateway\.networking\.k8s\.io$/, '').toLowerCase();
  return `#/object/${[short, ...names].map(encodeURIComponent).join('/')}`;
}

function Time({ of }: { of: string }) {
  const date = new Date(of);
  return <time dateTime={of} title={of}>{Number.isNaN(date.getTime()) ? of : date.toLocaleTimeString()}</time>;
}
