// What is shown of texts by others. Preact inserts texts as text; here characters that are invisible or turn the
// direction of writing become visible, wherever a text or a title is shown.
import { options } from 'preact';
import { text } from './map/text.js';

const SHOWN = ['title', 'aria-label', 'placeholder', 'alt'];

export function showAllCharacters(): void {
  const before = options.vnode;
  options.vnode = (vnode) => {
    const props = vnode.props as unknown;
    if (typeof vnode.type === 'string') {
      const all = props as Record<string, unknown>;
      for (const name of SHOWN) if (typeof all[name] === 'string') all[name] = text.plain(all[name]);
    } else if (typeof props === 'string') {
      (vnode as { props: unknown }).props = text.plain(props);
    }
    before?.(vnode);
  };
}
