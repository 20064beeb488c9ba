// The content of the boxes: an object with its policies and problems, then its sections with theirs, row by row.
// Computes sizes, not positions.
import { text } from './text.js';

export function cellsOf(model) {
  const { nodes } = model;
  const ROW = { head: 24, line: 17, section: 22, policy: 24, problem: 19, more: 20, foot: 6 };
  const PAD = 12;
  const NAME = 56;
  const MOST = 12;

  const measure = text.measure;

  /** The first rows of a box: the object and the facts that users look for. */
  function headOf(node, place) {
    const names = text.lines(node.object.name, NAME);
    const rows = [];
    const kind = node.type === 'frontend' ? `${node.object.kind} in the mesh` : node.object.kind;
    const where = place !== 'frame' ? node.object.namespace : '';
    rows.push({
      type: 'head', node: node.number, names, kind, where, height: ROW.head + 16 * names.length,
      width: Math.max(...names.map((line) => measure(line, 'name')), measure(kind, 'small') + (where ? measure(where, 'small') + 20 : 0)),
    });
    const line = (words, font, title) => rows.push({
      type: 'line', node: node.number, words, font, title, height: ROW.line, width: measure(words, font),
    });
    if (place === 'portal') return rows;
    if (node.class !== undefined) line(`class ${node.class}`, 'small');
    for (const hostname of node.type === 'route' ? node.hostnames.slice(0, 3) : []) line(text.cut(hostname, NAME), 'code', hostname);
    if (node.type === 'route' && node.hostnames.length > 3) {
      line(`and ${text.count(node.hostnames.length - 3, 'more hostname')}`, 'small', node.hostnames.join('\n'));
    }
    return rows;
  }

  function problemRows(node, shown) {
    return shown.map((problem) => {
      const lines = text.wrap(problem, 54, 3);
      return {
        type: 'problem', node: node.number, lines, title: problem, height: ROW.problem + 14 * (lines.length - 1),
        width: Math.max(...lines.map((line) => measure(line, 'small'))) + 18,
      };
    });
  }

  /** The note to the right of a policy: how many it overrides, or which one overrides it on this target. */
  function noteOf(edge) {
    if (edge.by?.length > 0) {
      const [first] = edge.by;
      const more = edge.by.length > 1 ? ` +${edge.by.length - 1}` : '';
      return `by ${nodes[first].object.name}${more}`;
    }
    const count = model.overrides[edge.from].size;
    return count > 0 ? `overrides ${count}` : '';
  }

  function policyRow(number, edge) {
    const node = nodes[number];
    const names = text.lines(node.object.name, NAME - 8);
    const state = edge?.state ?? node.state;
    const note = edge ? noteOf(edge) : '';
    const badge = model.badge(node);
    return {
      type: 'policy', node: number, edge, names, state, note, badge, height: ROW.policy + 15 * (names.length - 1),
      width: 22 + measure(badge, 'badge') + 12 + Math.max(...names.map((line) => measure(line, 'plain'))) + (note ? measure(note, 'small') + 18 : 0) + 8,
    };
  }

  function policyRows(number, isShown) {
    const edges = model.policiesAt[number].filter((edge) => isShown(edge.from));
    const most = edges.length > MOST ? MOST - 1 : MOST;
    const rows = edges.slice(0, most).map((edge) => policyRow(edge.from, edge));
    if (edges.length > most) {
      const words = `and ${edges.length - most} more policies`;
      rows.push({ type: 'more', node: number, words, height: ROW.more, width: measure(words, 'small') });
    }
    return rows;
  }

  /** The two texts in the row of a section. */
  function sectionWords(node) {
    const { section } = node.object;
    if (node.type === 'listener') {
      const parts = [node.protocol, node.port, node.hostnames[0] ?? (node.protocol ? 'any hostname' : '')];
      return { left: section, right: parts.filter((part) => part !== undefined && part !== '').join(' '), title: '' };
    }
    if (node.type === 'rule') {
      const isNamed = !/^(unnamed )?rule-\d+$/.test(section);
      const [first] = node.matches;
      const more = node.matches.length > 1 ? ` +${node.matches.length - 1}` : '';
      const left = first === undefined ? section : text.cut(first, 52) + more;
      return { left, right: isNamed && first !== undefined ? section : '', title: node.matches.join('\nor ') };
    }
    if (node.type === 'port') return { left: section, right: String(node.port ?? ''), title: '' };
    return { left: section, right: '', title: '' };
  }

  /** Whether a section needs no row: it is the only one, has no policies, and is a port or a rule that matches everything. */
  function isPlain(node, siblings) {
    const everything = node.matches.length === 0 || (node.matches.length === 1 && ['PathPrefix /', 'everything'].includes(node.matches[0]));
    const unnamed = node.type === 'port' || (node.type === 'rule' && node.object.section === 'rule-1' && everything);
    return siblings === 1 && unnamed && !node.missing && model.policiesAt[node.number].length === 0 && model.problemsOf(node).length === 0;
  }

  function sectionRows(number, isShown) {
    const parts = model.sections[number].filter((part) => {
      const node = nodes[part];
      // A missing section without policies is reported at the route that names it.
      return !node.missing || model.policiesAt[part].length > 0;
    });
    return parts.filter((part) => !isPlain(nodes[part], parts.length)).flatMap((part) => {
      const node = nodes[part];
      const { left, right, title } = sectionWords(node);
      const row = {
        type: 'section', node: part, left, right, title, missing: node.missing, height: ROW.section,
        width: measure(left, 'code') + (right ? measure(right, 'small') + 24 : 0),
      };
      return [row, ...problemRows(node, model.problemsOf(node)), ...policyRows(part, isShown)];
    });
  }

  function cellOf(key, node, rows, place) {
    let height = 0;
    for (const row of rows) {
      row.top = height;
      height += row.height;
    }
    const width = Math.max(120, ...rows.map((row) => row.width + 2 * PAD));
    const bad = rows.some((row) => row.type === 'problem') || (node !== null && nodes[node].missing);
    return { key, node, rows, place, width, height: height + ROW.foot, bad };
  }

  /** The box of an object; `place` is where: left, frame, portal or problems. */
  function objectCell(number, place, isShown) {
    const node = nodes[number];
    const rows = headOf(node, place);
    if (place === 'portal') return cellOf(`p${number}`, number, rows, place);
    rows.push(...problemRows(node, model.problemsOf(node)));
    rows.push(...policyRows(number, isShown), ...sectionRows(number, isShown));
    return cellOf(`n${number}`, number, rows, place);
  }

  /** A box for policies that are not attached. */
  function idleCell(numbers) {
    const rows = numbers.flatMap((number) => {
      const why = nodes[number].about.why ?? nodes[number].reason;
      return [policyRow(number, undefined), ...(why ? problemRows(nodes[number], [why]) : [])];
    });
    const words = 'not attached';
    return cellOf(`i${numbers[0]}`, null, [{ type: 'line', node: null, words, font: 'small', height: 22, width: measure(words, 'small') }, ...rows], 'problems');
  }

  return { objectCell, idleCell, policyRows, PAD };
}
