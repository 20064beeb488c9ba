// Text and elements. Names come from users: they are always inserted as text, never as markup.
export const text = (() => {
  const SVG = 'http://www.w3.org/2000/svg';
  // Characters that are invisible or change the direction of the text after them.
  const UNSEEN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
  const FONTS = {
    name: '600 13px system-ui, sans-serif',
    plain: '12px system-ui, sans-serif',
    small: '11px system-ui, sans-serif',
    code: '11px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
    badge: '600 11px system-ui, sans-serif',
    title: '600 14px system-ui, sans-serif',
  };

  function plain(words) {
    return String(words).replace(UNSEEN, (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
  }

  function append(element, content) {
    const parts = content.flat().filter((part) => part !== null && part !== undefined && part !== false);
    element.append(...parts.map((part) => (part instanceof Node ? part : plain(part))));
    return element;
  }

  /** An element with text and other elements in it. */
  function make(tag, className, ...content) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    return append(element, content);
  }

  /** An SVG element. */
  function shape(tag, attributes, ...content) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value !== undefined && value !== null) element.setAttribute(name, typeof value === 'string' ? plain(value) : value);
    }
    return append(element, content);
  }

  /** A button with an action. */
  function button(className, action, ...content) {
    const element = make('button', className, ...content);
    element.type = 'button';
    element.addEventListener('click', action);
    return element;
  }

  /** A text that breaks after dots and slashes, and elsewhere only if it must. */
  function breakable(words) {
    const parts = plain(words).split(/(?<=[./])/);
    return parts.flatMap((part, i) => (i === 0 ? [part] : [document.createElement('wbr'), part]));
  }

  const ruler = document.createElement('canvas').getContext('2d');
  const widths = new Map();

  /** The width of a text, with a margin for wider fonts on other systems. */
  function measure(words, font) {
    const key = `${font}\n${words}`;
    let width = widths.get(key);
    if (width === undefined) {
      ruler.font = FONTS[font];
      width = Math.ceil(ruler.measureText(plain(words)).width * 1.03) + 1;
      widths.set(key, width);
    }
    return width;
  }

  /** A text, cut after `most` characters. */
  function cut(words, most) {
    const chars = [...words];
    return chars.length <= most ? words : `${chars.slice(0, most - 1).join('')}…`;
  }

  /** A name in lines of at most `most` characters, broken at dots or dashes if possible. */
  function lines(words, most) {
    const found = [];
    let rest = [...plain(words)];
    while (rest.length > most) {
      const head = rest.slice(0, most);
      const at = Math.max(head.lastIndexOf('.'), head.lastIndexOf('-'), head.lastIndexOf('/')) + 1;
      const end = at > most / 2 ? at : most;
      found.push(rest.slice(0, end).join(''));
      rest = rest.slice(end);
    }
    found.push(rest.join(''));
    return found;
  }

  /** A sentence in lines of about `most` characters, broken between words and cut after a number of lines. */
  function wrap(words, most, lineCount) {
    const found = [''];
    for (const word of plain(words).split(' ').flatMap((one) => lines(one, most))) {
      const last = found[found.length - 1];
      if (last === '') found[found.length - 1] = word;
      else if (last.length + 1 + word.length <= most) found[found.length - 1] = `${last} ${word}`;
      else found.push(word);
    }
    if (found.length <= lineCount) return found;
    return [...found.slice(0, lineCount - 1), `${cut(found[lineCount - 1], most - 1)} …`];
  }

  function count(n, one, many) {
    return `${n} ${n === 1 ? one : many ?? `${one}s`}`;
  }

  return { plain, make, shape, button, breakable, measure, cut, lines, wrap, count, FONTS };
})();
