// Objects by name: in words, in addresses, in requests and in commands.
import type { Ref, Kind } from './types';
import { hashOf } from './route';

const GATEWAY_API = 'gateway.networking.k8s.io';
const isWellKnown = (group: string) => group === '' || group === GATEWAY_API;

export const kindOf = ({ kind, group }: Kind): string => (group ? `${kind}.${group}` : kind);

/** `kind` or `kind.group`, as kubectl takes it. */
const resource = ({ kind, group }: Kind): string => (isWellKnown(group) ? kind : `${kind}.${group}`).toLowerCase();

/** `shop/cart#checkout`, without the kind. */
export function nameOf({ namespace, name, section }: Ref): string {
  const whole = namespace ? `${namespace}/${name}` : name;
  return section === undefined ? whole : `${whole}#${section}`;
}

export const labelOf = (ref: Ref): string => `${ref.kind} ${nameOf(ref)}`;

/** A key that no other object has. */
export const keyOf = (ref: Ref): string => `${kindOf(ref)}/${nameOf(ref)}`;

const partsOf = (ref: Ref): string[] => [resource(ref), ...(ref.namespace ? [ref.namespace] : []), ref.name, ...(ref.section === undefined ? [] : [ref.section])];

export const pageOf = (ref: Ref): string => hashOf('object', partsOf(ref));
export const mapOf = (ref: Ref): string => hashOf('map', partsOf(ref));

/** The name for `api/object` of the parts of an address. A kind and two names may also be an object without namespace and its section. */
export function askedOf(parts: string[]): string {
  const [kind = '', ...names] = parts;
  if (names.length < 3) return [kind, ...names].join('/');
  const [namespace, name, ...section] = names;
  return `${kind}/${namespace}/${name}#${section.join('/')}`;
}

const isPlain = (word: string) => /^[A-Za-z0-9_./:@%+,-]+$/.test(word);
/** A word, quoted for a shell if necessary. */
export const quoted = (word: string): string => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Commands that show the same. `selection` are the arguments that select the state. */
export function commandsOf(ref: Ref, selection: string[]): string[] {
  const at = ref.namespace ? ` -n ${quoted(ref.namespace)}` : '';
  const end = selection.length > 0 ? ` ${selection.map(quoted).join(' ')}` : '';
  const context = selection.indexOf('--context');
  const where = context < 0 ? '' : ` --context ${quoted(selection[context + 1] ?? '')}`;
  const long = `${ref.kind.toLowerCase()}${ref.group ? `.${ref.group}` : ''}`;
  const place = `${long}/${ref.name}`;
  return [
    `kubectl${where} get ${quoted(place)}${at} -o yaml`,
    `attache describe ${quoted(ref.section === undefined ? place : `${place}#${ref.section}`)}${at}${end}`,
  ];
}
