// Changes of what is in force: fields before and after, by object and policy kind.
import type { Change, FieldChange } from '../types';
import { keyOf, kindOf } from '../names';
import { yamlOf } from '../yaml';
import { Breakable, KindBadge, ObjectLink } from './links';

const FIRST = 20;

interface Props {
  of: Change[];
  before?: string;
  after?: string;
}

export function Changes({ of, before = 'Before', after = 'After' }: Props) {
  const shown = of.slice(0, FIRST);
  const rest = of.slice(FIRST);
  return (
    <>
      {shown.map((one, i) => <OneChange key={`${keyOf(one.object)} ${kindOf(one.policyKind)} ${i}`} of={one} before={before} after={after} />)}
      {rest.length > 0 && (
        <details class="more">
          <summary>{rest.length} more</summary>
          <ul class="plain-list">
            {rest.slice(0, 1000).map((one, i) => <li key={i}><ObjectLink to={one.object} /> <KindBadge {...one.policyKind} /> <span class="faint">{one.fields.map((field) => field.field).join(', ')}</span></li>)}
          </ul>
        </details>
      )}
    </>
  );
}

function OneChange({ of, before, after }: { of: Change; before: string; after: string }) {
  const some = of.paths.changed < of.paths.of ? ` on ${of.paths.changed} of ${of.paths.of} paths` : '';
  return (
    <div class="change">
      <h3><ObjectLink to={of.object} /><KindBadge {...of.policyKind} /><span class="faint">{WORDS[of.change]}{some}</span></h3>
      <div class="table-scroll">
        <table class="fields">
          <thead><tr><th scope="col">Setting</th><th scope="col">{before}</th><th scope="col">{after}</th><th scope="col">From</th></tr></thead>
          <tbody>{of.fields.map((field) => <Field key={field.field} of={field} />)}</tbody>
        </table>
      </div>
    </div>
  );
}

const WORDS = { changed: 'changed', added: 'new in force', removed: 'no longer in force' };

function Field({ of }: { of: FieldChange }) {
  return (
    <tr>
      <th scope="row"><code><Breakable words={of.field} /></code></th>
      <td class="was"><Value of={of.before} /></td>
      <td class="is">{of.removed ? <span class="faint">removed</span> : <Value of={of.after} />}</td>
      <td>{of.source && <ObjectLink to={of.source} short />}</td>
    </tr>
  );
}

function Value({ of }: { of: unknown }) {
  if (of === null || of === undefined) return <span class="faint">none</span>;
  return <pre>{yamlOf(of)}</pre>;
}
