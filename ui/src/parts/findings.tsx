// Findings: what is wrong or worth knowing, with the object, the field and the code.
import type { Finding } from '../types';
import { CopyButton } from './copy';
import { ObjectLink } from './links';

const MOST = 200;

export function Findings({ of }: { of: Finding[] }) {
  const rank = (one: Finding) => (one.notice ? 2 : one.severity === 'deny' ? 0 : 1);
  const sorted = [...of].sort((a, b) => rank(a) - rank(b));
  return (
    <>
      <div class="table-scroll">
        <table class="grid" aria-label="Findings">
          <thead><tr><th scope="col">Severity</th><th scope="col">Object</th><th scope="col">Finding</th><th scope="col">Code</th></tr></thead>
          <tbody>
            {sorted.slice(0, MOST).map((one, i) => (
              <tr key={i}>
                <td><Severity of={one} /></td>
                <td>{one.object && <ObjectLink to={one.object} class="row-link" />}</td>
                <td>{one.field && <><code>{one.field}</code> </>}{one.message}</td>
                <td><code>{one.code}</code> <CopyButton words={`attache help ${one.code}`} label={`the command that explains ${one.code}`} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {of.length > MOST && <p class="faint">and {of.length - MOST} more. <code>attache check</code> prints all of them.</p>}
    </>
  );
}

function Severity({ of }: { of: Finding }) {
  if (of.notice) return <span class="state no-effect">notice</span>;
  return of.severity === 'deny' ? <span class="state broken">deny</span> : <span class="state partly">warn</span>;
}
