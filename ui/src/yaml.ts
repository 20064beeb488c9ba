// Values as YAML, line by line, each with the JSON pointer of what is on it.

export interface Line {
  text: string;
  pointer: string;
}

const PLAIN = /^[A-Za-z_./][A-Za-z0-9_./:@%+, ()=-]*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|~|\.inf|\.nan)$/i;
const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');
const isEmpty = (value: object) => Object.keys(value).length === 0;

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  const isPlain = PLAIN.test(value) && !RESERVED.test(value) && !/: |:$| $|^\.+$|^\.[0-9]/.test(value);
  // A duration like 30s, as users write it.
  return isPlain || /^\d+(?:\.\d+)?[A-Za-z%]+$/.test(value) && !/^(?:0[xob]|\d+(?:\.\d+)?e)/i.test(value) ? value : JSON.stringify(value);
}

export function linesOf(value: unknown): Line[] {
  const lines: Line[] = [];
  const isBlock = (item: unknown): item is object => typeof item === 'object' && item !== null && !isEmpty(item);
  const text = (item: unknown): string => (typeof item === 'object' && item !== null ? (Array.isArray(item) ? '[]' : '{}') : scalar(item));

  function write(item: unknown, indent: string, first: string, pointer: string): void {
    if (Array.isArray(item)) {
      item.forEach((entry, i) => {
        const [head, at] = [`${i === 0 ? first : indent}- `, `${pointer}/${i}`];
        if (isBlock(entry)) write(entry, `${indent}  `, head, at);
        else lines.push({ text: head + text(entry), pointer: at });
      });
      return;
    }
    Object.entries(item as object).forEach(([key, entry], i) => {
      const [head, at] = [`${i === 0 ? first : indent}${scalar(key)}:`, `${pointer}/${escaped(key)}`];
      if (typeof entry === 'string' && entry.includes('\n') && !/[^\n\x20-\x7e]|^\s| \n/.test(entry)) {
        const [end, body] = entry.endsWith('\n') ? ['|', entry.slice(0, -1)] : ['|-', entry];
        lines.push({ text: `${head} ${end}`, pointer: at });
        for (const line of body.split('\n')) lines.push({ text: `${indent}  ${line}`, pointer: at });
      } else if (isBlock(entry)) {
        lines.push({ text: head, pointer: at });
        write(entry, `${indent}  `, `${indent}  `, at);
      } else {
        lines.push({ text: `${head} ${text(entry)}`, pointer: at });
      }
    });
  }

  if (isBlock(value)) write(value, '', '', '');
  else lines.push({ text: text(value), pointer: '' });
  return lines;
}

export const yamlOf = (value: unknown): string => linesOf(value).map((line) => line.text).join('\n');

/** The source of a line: of itself, or of the value that it is part of. None for a line that only holds others. */
export function sourceOf<T>(sources: Record<string, T>, pointer: string): T | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    if (Object.hasOwn(sources, at)) return sources[at];
    if (at === '') return undefined;
  }
}

/** All values in a tree that hold no others, by pointer. */
export function leavesOf(value: unknown, pointer = '', found = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null && !isEmpty(value)) {
    for (const [key, entry] of Object.entries(value)) leavesOf(entry, `${pointer}/${escaped(key)}`, found);
  } else {
    found.set(pointer, JSON.stringify(value) ?? 'null');
  }
  return found;
}
