// Parts of the panel: states, tables of settings, YAML, commands to copy.
import { text } from './text.js';

export function partsOf(model, go, linkTo, tell) {
  const { make, button, breakable } = text;
  const { nodes } = model;

  /** A state with its glyph. */
  function pill(state, more) {
    const look = model.look(state);
    const glyph = text.shape('svg', { width: 12, height: 12, 'aria-hidden': 'true' }, text.shape('path', { class: 'glyph', d: look.glyph }));
    const part = make('span', `state ${look.class}`, glyph, more ?? state);
    part.title = look.words;
    return part;
  }

  /** A link to a node; its id if it is not in the graph. */
  function link(number, words) {
    return button('link', () => go(number), ...breakable(words ?? model.label(nodes[number])));
  }

  /** The policy that a setting comes from, without its kind if the heading has it. */
  function source(id, kind) {
    const number = model.numbers.get(id);
    if (number === undefined) return make('span', '', id);
    const node = nodes[number];
    return link(number, kind.split('.')[0] === node.object.kind ? model.name(node) : undefined);
  }

  function list(title, items) {
    if (items.length === 0) return [];
    return [make('h3', '', title), make('ul', '', ...items.map((item) => make('li', '', ...[item].flat())))];
  }

  /** Copies a text, even if the browser denies local files access to the clipboard. */
  async function copy(words) {
    try {
      await navigator.clipboard.writeText(words);
    } catch {
      const area = make('textarea', 'hidden');
      area.value = words;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    tell('Copied');
  }

  function copyable(words, label) {
    const one = button('copy', () => copy(words), 'Copy');
    one.setAttribute('aria-label', `Copy ${label}`);
    return one;
  }

  function code(words, label, isOpen) {
    const block = make('details', 'code', make('summary', '', label), copyable(words, label), make('pre', '', words.trimEnd()));
    block.open = isOpen;
    return block;
  }

  const isPlain = (word) => /^[A-Za-z0-9_./:@%+,-]+$/.test(word);
  /** A word, quoted for a shell if necessary. */
  const quoted = (word) => (isPlain(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

  function commands(node) {
    const { kind, group, namespace, name, section } = node.object;
    const from = model.data.from.map(quoted).join(' ');
    const at = namespace ? ` -n ${quoted(namespace)}` : '';
    const resource = `${kind.toLowerCase()}${group ? `.${group}` : ''}`;
    const place = `${resource}/${name}${section === undefined ? '' : `#${section}`}`;
    const end = from ? ` ${from}` : '';
    const lines = [
      `attache describe ${quoted(place)}${at}${end}`,
      `attache graph ${quoted(place)}${at} -o html${end} > graph.html`,
    ];
    if (!node.missing) {
      const context = model.data.from.indexOf('--context');
      const where = context < 0 ? '' : ` --context ${quoted(model.data.from[context + 1])}`;
      lines.unshift(`kubectl${where} get ${quoted(`${resource}/${name}`)}${at} -o yaml`);
    }
    const rows = lines.map((line) => make('li', 'command', make('code', '', line), copyable(line, line)));
    rows.push(make('li', 'command', make('code', '', `#${model.slug(node.number)}`), copyable(linkTo(node.number), 'the link to this object')));
    return [make('h3', '', 'Commands'), make('ul', 'commands', ...rows)];
  }

  /** The effective settings: those that all paths share, then the others path by path. */
  function inForce(groups) {
    const kinds = new Map();
    for (const group of groups) kinds.set(group.kind, [...(kinds.get(group.kind) ?? []), group]);
    return [...kinds].flatMap(([kind, all]) => {
      const [short] = kind.split('.');
      const heading = make('h4', '', short);
      heading.title = kind;
      const key = (setting) => JSON.stringify([setting.field, setting.value, setting.from]);
      const known = all.filter((group) => group.settings);
      const paths = all.reduce((sum, group) => sum + group.paths, 0);
      const common = known.length < 2 || known.length < all.length ? new Set()
        : known.map((group) => new Set(group.settings.map(key))).reduce((a, b) => new Set([...a].filter((one) => b.has(one))));
      const parts = [heading];
      if (common.size > 0) {
        parts.push(make('p', 'path', `on all ${text.count(paths, 'path')}`), table(kind, known[0].settings.filter((one) => common.has(key(one))), false));
      }
      for (const group of all) {
        const rows = group.settings?.filter((one) => !common.has(key(one)));
        if (rows?.length === 0) continue;
        const more = group.paths > 1 ? ` and ${text.count(group.paths - 1, 'more path')}` : '';
        parts.push(make('p', 'path', ...breakable(group.path.join(' › ')), more));
        parts.push(rows ? table(kind, rows, common.size > 0) : make('p', 'faint', 'Only the controller of this kind knows how these policies merge.'));
      }
      return parts;
    });
  }

  function table(kind, settings, differs) {
    const rows = settings.flatMap((setting) => {
      const isLong = setting.value?.includes('\n') || setting.value?.length > 40;
      const row = make('tr', differs ? 'differs' : '', make('td', 'field', ...breakable(setting.field)),
        setting.value === undefined ? make('td', 'faint', 'removed') : make('td', 'value', isLong ? '' : make('pre', '', setting.value)),
        make('td', '', source(setting.from, kind)));
      if (!isLong) return [row];
      const cell = make('td', 'value', make('pre', '', setting.value));
      cell.colSpan = 3;
      row.classList.add('above');
      return [row, make('tr', '', cell)];
    });
    const titles = ['Field', 'Value', 'From'].map((title) => {
      const cell = make('th', '', title);
      cell.scope = 'col';
      return cell;
    });
    return make('table', '', make('thead', '', make('tr', '', ...titles)), make('tbody', '', ...rows));
  }

  return { pill, link, list, code, commands, inForce };
}
