// The policies on an object, and what their controllers report beside what attache expects.
import type { PolicyOnObject, Reported } from '../types';
import { keyOf } from '../names';
import { disagreementOf } from '../pages/policies';
import { Empty } from './notice';
import { KindBadge, ObjectLink, ObjectLinks } from './links';
import { StatePill } from './state';

export function PoliciesOnObject({ of }: { of: PolicyOnObject[] }) {
  if (of.length === 0) return <Empty title="No policy applies to this object.">Policies on its Gateway, its Namespace, itself and its sections would be listed here.</Empty>;
  return (
    <div class="table-scroll">
      <table class="grid" aria-label="Policies on this object">
        <thead><tr><th scope="col">State</th><th scope="col">Policy</th><th scope="col">Attached to</th><th scope="col">Strategy</th><th scope="col">Why</th></tr></thead>
        <tbody>
          {of.map((one, i) => (
            <tr key={`${keyOf(one.policy)} ${keyOf(one.target)} ${i}`}>
              <td><StatePill state={one.state} /></td>
              <td><ObjectLink to={one.policy} short class="row-link strong" /><br /><KindBadge {...one.policy} /></td>
              <td><ObjectLink to={one.target} />{one.relation === 'attached' && <span class="faint"> (here)</span>}</td>
              <td>{one.strategy && <span title={one.writtenStrategy ?? undefined}>{one.strategy}</span>}</td>
              <td>
                {one.reason && <div>{one.reason}</div>}
                {one.by.length > 0 && <div>overridden{one.state === 'PartiallyEnforced' ? ' in part' : ''} by <ObjectLinks to={one.by} most={3} short /></div>}
                {one.caveats?.map((words) => <div key={words} class="faint">{words}</div>)}
                {one.disagreement && <div class="bad">{disagreementOf(one.disagreement)}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The conditions that controllers wrote. */
export function ReportedConditions({ of }: { of: Reported[] }) {
  if (of.length === 0) return <p class="faint">No controller has written a status. In a directory of manifests there usually is none.</p>;
  return (
    <ul class="conditions">
      {of.map((one, i) => (
        <li key={i}>
          <Condition type={one.condition} status={one.status} reason={one.reason} message={one.message} />
          <span class="faint">
            {one.controller && <>by {one.controller} </>}
            {one.ancestor && <>for <ObjectLink to={one.ancestor} /> </>}
            {!one.current && <span class="bad">of an older generation of the object</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

export function Condition({ type, status, reason, message }: { type: string; status: string; reason: string; message: string }) {
  const look = status === 'True' ? 'in-force' : status === 'False' ? 'broken' : 'overridden';
  return (
    <div>
      <span class={`state ${look}`}>{type}={status}</span> <span class="strong">{reason}</span>
      {message && <div class="message">{message}</div>}
    </div>
  );
}
