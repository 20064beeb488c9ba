// YAML, with the policy that each line comes from beside it.
import type { Ref } from '../types';
import { labelOf } from '../names';
import { linesOf, sourceOf } from '../yaml';
import { CopyButton } from './copy';
import { ObjectLink } from './links';

/** Plain YAML text. */
export function Code({ words, label }: { words: string; label: string }) {
  return (
    <div class="code-box">
      <CopyButton words={words} label={label} />
      <pre tabIndex={0} aria-label={label}>{words}</pre>
    </div>
  );
}

interface Sourced {
  value: unknown;
  sources: Record<string, Ref>;
  label: string;
  /** Pointers of lines to mark. */
  marked?: Set<string>;
}

/** A value; each line has the policy that it comes from, said once for lines that follow each other. */
export function SourcedYaml({ value, sources, label, marked }: Sourced) {
  const lines = linesOf(value);
  let last = '';
  return (
    <div class="code-box">
      <CopyButton words={lines.map((line) => line.text).join('\n')} label={label} />
      <div class="yaml-scroll" tabIndex={0} role="region" aria-label={label}>
        <table class="yaml">
          <thead class="hidden"><tr><th scope="col">Setting</th><th scope="col">From</th></tr></thead>
          <tbody>
            {lines.map((line, i) => {
              const source = sourceOf(sources, line.pointer);
              const name = source ? labelOf(source) : '';
              const isMarked = marked?.has(line.pointer) ?? false;
              const isNew = name !== last || isMarked;
              if (name) last = name;
              return (
                <tr key={i} class={isMarked ? 'differs' : undefined}>
                  <td><code>{line.text}</code></td>
                  <td>{source && (isNew ? <ObjectLink to={source} short /> : <span class="same" title={name} aria-label={name}>″</span>)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}
