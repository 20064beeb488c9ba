// Filters of a table: a search, states with their counts, lists of kinds and namespaces.
import { useApp } from '../context';
import { Glyph } from './state';

export function Search({ value, onChange, label }: { value: string; onChange: (value: string) => void; label: string }) {
  return <input type="search" class="search-field" data-search placeholder={`${label}  ( / )`} aria-label={label} value={value} autocomplete="off" spellcheck={false} onInput={(event) => onChange(event.currentTarget.value)} />;
}

export function Select({ value, onChange, label, none, options }: { value: string; onChange: (value: string) => void; label: string; none: string; options: [string, string, number][] }) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{none}</option>
      {options.map(([key, words, count]) => <option key={key} value={key}>{`${words} (${count})`}</option>)}
    </select>
  );
}

export function States({ counts, chosen, onChange }: { counts: Map<string, number>; chosen: string[]; onChange: (states: string[]) => void }) {
  const { looks } = useApp();
  return (
    <div class="chips" role="group" aria-label="Filter by state">
      {looks.filter((look) => counts.has(look.state)).map((look) => {
        const isOn = chosen.includes(look.state);
        return (
          <button key={look.state} type="button" class={`filter state ${look.class}`} aria-pressed={isOn} title={`${look.words}. Click to show only these.`}
            onClick={() => onChange(isOn ? chosen.filter((one) => one !== look.state) : [...chosen, look.state])}>
            <Glyph d={look.glyph} /><b>{counts.get(look.state)}</b>{look.state}
          </button>
        );
      })}
    </div>
  );
}

/** The values with how many have each, in order. */
export function counted<T>(rows: T[], of: (row: T) => string, words: (value: string) => string = (value) => value): [string, string, number][] {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(of(row), (counts.get(of(row)) ?? 0) + 1);
  return [...counts].filter(([value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : 1)).map(([value, count]) => [value, words(value), count]);
}
