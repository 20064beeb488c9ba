// A table that sorts by its columns and shows long lists page by page.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ComponentChildren;
  /** What the column sorts by; it cannot be sorted without. */
  by?: (row: T) => string | number;
  number?: boolean;
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: T[];
  keyOf: (row: T) => string;
  /** The order as long as the user wants no other. */
  order?: (a: T, b: T) => number;
  sort: string;
  onSort: (sort: string) => void;
}

const PAGE = 100;

export function Table<T>({ label, columns, rows, keyOf, order, sort, onSort }: Props<T>) {
  const [first, setFirst] = useState(0);
  const isDown = sort.startsWith('-');
  const column = columns.find(({ key }) => key === sort.replace('-', ''));
  const sorted = useMemo(() => {
    const by = column?.by;
    if (!by) return order ? [...rows].sort(order) : rows;
    return [...rows].sort((a, b) => compare(by(a), by(b)) * (isDown ? -1 : 1) || (order?.(a, b) ?? 0));
  }, [rows, sort]);
  const start = first < sorted.length ? first : 0;
  const shown = sorted.slice(start, start + PAGE);
  const next = (key: string) => (sort === key ? `-${key}` : sort === `-${key}` ? '' : key);
  return (
    <>
      <div class="table-scroll">
        <table class="grid" aria-label={label} aria-rowcount={sorted.length + 1}>
          <thead>
            <tr>
              {columns.map(({ key, title, by, number }) => (
                <th key={key} scope="col" class={number ? 'number' : undefined} aria-sort={column?.key === key ? (isDown ? 'descending' : 'ascending') : undefined}>
                  {by ? <button type="button" class="sort" onClick={() => onSort(next(key))}>{title}<span class="arrow" aria-hidden="true">{column?.key === key ? (isDown ? '↓' : '↑') : ''}</span></button> : title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={keyOf(row)} aria-rowindex={start + i + 2}>
                {columns.map(({ key, cell, number }) => <td key={key} class={number ? 'number' : undefined}>{cell(row)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {sorted.length > PAGE && (
        <nav class="pages" aria-label={`Pages of ${label}`}>
          <button type="button" disabled={start === 0} onClick={() => setFirst(Math.max(0, start - PAGE))}>Previous</button>
          <span>{start + 1} to {Math.min(start + PAGE, sorted.length)} of {sorted.length}</span>
          <button type="button" disabled={start + PAGE >= sorted.length} onClick={() => setFirst(start + PAGE)}>Next</button>
        </nav>
      )}
    </>
  );
}

const compare = (a: string | number, b: string | number) => (typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b), 'en'));
