// Guardrails: which targets fulfil them, which do not, and the exceptions; by guardrail or by team.
import type { Guarded, Guardrails } from '../types';
import { useData } from '../data';
import { keyOf } from '../names';
import { useQuery, type Route } from '../route';
import { Facts, KindBadge, ObjectLink, ObjectLinks } from '../parts/links';
import { Await, Empty, PageTitle } from '../parts/notice';

type Fault = Guarded['faults'][number];

export function GuardrailsPage({ route }: { route: Route }) {
  const loaded = useData<Guardrails>('guardrails');
  const [by, setBy] = useQuery(route, 'by');
  return (
    <>
      <PageTitle title="Guardrails" tools={(
        <div class="group" role="group" aria-label="Group by">
          <button type="button" aria-pressed={by !== 'team'} onClick={() => setBy('')}>By guardrail</button>
          <button type="button" aria-pressed={by === 'team'} onClick={() => setBy('team')}>By team</button>
        </div>
      )}>Rules of your organization about what must be in force, and where they are broken.</PageTitle>
      <Await loaded={loaded} what="guardrails">{(data) => (data.guardrails.length === 0 ? <NoGuardrails /> : by === 'team' ? <ByTeam of={data} /> : <ByGuardrail of={data.guardrails} />)}</Await>
    </>
  );
}

function NoGuardrails() {
  return <Empty title="There are no guardrails here.">A guardrail is a rule such as “every route on the public Gateway has authentication”. Write one in the configuration or as an object <code>Guardrail</code>; <code>attache schema guardrail</code> prints its fields.</Empty>;
}

function Figures({ of }: { of: Guarded[] }) {
  const sum = (key: 'fulfilled' | 'broken' | 'errors' | 'excepted') => of.reduce((all, one) => all + one[key], 0);
  return (
    <div class="figures">
      <div class="figure"><b>{of.length}</b><span>{of.length === 1 ? 'guardrail' : 'guardrails'}</span></div>
      <div class="figure good-figure"><b>{sum('fulfilled')}</b><span>targets fulfil</span></div>
      <div class={`figure ${sum('broken') > 0 ? 'bad-figure' : ''}`}><b>{sum('broken')}</b><span>targets break</span></div>
      {sum('errors') > 0 && <div class="figure bad-figure"><b>{sum('errors')}</b><span>cannot be judged</span></div>}
      <div class="figure"><b>{sum('excepted')}</b><span>exceptions</span></div>
    </div>
  );
}

function ByGuardrail({ of }: { of: Guarded[] }) {
  const sorted = [...of].sort((a, b) => b.broken + b.errors - (a.broken + a.errors) || (a.name < b.name ? -1 : 1));
  return (
    <>
      <Figures of={of} />
      {sorted.map((one) => <OneGuardrail key={one.name} of={one} />)}
    </>
  );
}

/** The state of a guardrail in words, and the class of its badge. */
function stateOf(of: Guarded): { text: string; look: 'broken' | 'no-effect' | 'in-force' } {
  if (of.error) return { text: 'cannot be judged', look: 'broken' };
  const parts = [of.broken > 0 && `${of.broken} broken`, of.errors > 0 && `${of.errors} cannot be judged`].filter(Boolean);
  if (parts.length > 0) return { text: parts.join(', '), look: 'broken' };
  if (of.fulfilled + of.excepted === 0) return { text: 'judges nothing', look: 'no-effect' };
  return { text: 'fulfilled', look: 'in-force' };
}

function OneGuardrail({ of }: { of: Guarded }) {
  const { text, look } = stateOf(of);
  return (
    <section class={`card ${look === 'broken' ? 'bad-card' : ''}`}>
      <div class="card-title">
        <h2>{of.name}</h2>
        <span class={`state ${look}`}>{text}</span>
      </div>
      <Facts of={[['Judges', of.policyKind ? <KindBadge key="k" {...of.policyKind} /> : 'all kinds of policies together'], ['Action', of.action], ['Fulfilled', String(of.fulfilled)], ['Broken', String(of.broken)], ['Exceptions', String(of.excepted)]]} />
      {of.error && <p class="bad">{of.error}</p>}
      {of.notes?.map((note) => <p key={note} class="notice">{note}</p>)}
      {of.faults.length > 0 && <Faults of={of.faults} />}
      {of.broken + of.errors > of.faults.length && <p class="faint">and {of.broken + of.errors - of.faults.length} more. <code>attache guardrails</code> prints all of them.</p>}
      {of.exceptions.length > 0 && <Exceptions of={of} />}
    </section>
  );
}

function Faults({ of, names }: { of: Fault[]; names?: string[] }) {
  return (
    <div class="table-scroll">
      <table class="grid" aria-label="Broken">
        <thead><tr>{names && <th scope="col">Guardrail</th>}<th scope="col">Target</th><th scope="col">Message</th><th scope="col">Policies</th><th scope="col" class="number">Paths</th></tr></thead>
        <tbody>
          {of.slice(0, 500).map((one, i) => (
            <tr key={i}>
              {names && <td>{names[i]}</td>}
              <td><ObjectLink to={one.target} class="row-link" />{one.through && <div class="faint small">through {one.through}</div>}</td>
              <td>{one.message}{one.isError && <span class="bad"> (cannot be judged)</span>}</td>
              <td>{one.policies.length === 0 ? <span class="faint">none</span> : <ObjectLinks to={one.policies} short />}</td>
              <td class="number">{one.paths}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Exceptions({ of }: { of: Guarded }) {
  return (
    <>
      <h3>Exceptions</h3>
      <ul class="plain-list">
        {of.exceptions.map((one, i) => (
          <li key={i}>
            <span class="strong">{one.namespace ? `${one.namespace}/` : ''}{one.name}</span> until <time dateTime={one.until}>{one.until}</time>
            {one.ended && <span class="bad"> (ended: it no longer counts)</span>}: {one.reason}
          </li>
        ))}
      </ul>
    </>
  );
}

function ByTeam({ of }: { of: Guardrails }) {
  const teams = new Map<string, { name: string; fault: Fault }[]>();
  for (const guardrail of of.guardrails) {
    for (const fault of guardrail.faults) {
      const namespace = fault.target.namespace || fault.target.name;
      const team = of.teams?.[namespace] ?? `namespace ${namespace}`;
      teams.set(team, [...(teams.get(team) ?? []), { name: guardrail.name, fault }]);
    }
  }
  const idle = of.guardrails.filter((one) => one.error || stateOf(one).look === 'no-effect');
  const sorted = [...teams].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  return (
    <>
      <Figures of={of.guardrails} />
      {sorted.length === 0 && (idle.length === 0
        ? <Empty title="Every guardrail is fulfilled.">Each team that breaks one would be listed here.</Empty>
        : <Empty title="No team breaks a guardrail.">But not all of them are judged.</Empty>)}
      {idle.map((one) => <OneGuardrail key={one.name} of={one} />)}
      {sorted.map(([team, items]) => (
        <section key={team} class="card bad-card">
          <div class="card-title"><h2>{team}</h2><span class="state broken">{items.length} broken</span></div>
          <Faults key={items.map(({ fault }) => keyOf(fault.target)).join()} of={items.map(({ fault }) => fault)} names={items.map(({ name }) => name)} />
        </section>
      ))}
    </>
  );
}
