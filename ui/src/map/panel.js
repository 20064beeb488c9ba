// The panel: everything known about the selected object, or the list of problems.
import { partsOf } from './panel-parts.js';
import { text } from './text.js';

export function panelOf(model, go, linkTo, tell, pageOf) {
  const { make } = text;
  const { nodes, above, below } = model;
  const { pill, link, list, code, commands, inForce } = partsOf(model, go, linkTo, tell);

  const heading = (words) => {
    const element = make('h2', '', ...text.breakable(words));
    element.id = 'panel-name';
    return element;
  };

  function pageLink(node) {
    const link = make('a', 'page', 'Open its page');
    link.href = pageOf(node);
    return link;
  }

  function about(number) {
    const node = nodes[number];
    const { namespace, section, name } = node.object;
    const noun = { listener: 'Listener of ', rule: 'Rule of ', port: 'Port of ' }[node.type] ?? '';
    const kind = ['', 'gateway.networking.k8s.io'].includes(node.object.group) ? node.object.kind : model.kindOf(node);
    const whole = model.owner[number];
    const where = section !== undefined ? link(whole) : namespace ? `Namespace ${namespace}` : null;
    const tags = [
      node.state && pill(node.state),
      node.missing && make('span', 'tag bad', 'does not exist'),
      node.type === 'frontend' && make('span', 'tag', 'as called in the mesh'),
      node.about.class && make('span', 'tag', node.about.class),
    ].filter(Boolean);
    const problems = model.isPolicy(node) ? [] : model.problemsOf(node).filter((words) => words !== 'does not exist');
    return [
      heading(section ?? name),
      make('p', 'faint', `${noun}${kind}`),
      where ? make('p', 'faint', where) : null,
      pageOf ? make('p', '', pageLink(node)) : null,
      tags.length > 0 ? make('p', 'tags', ...tags) : null,
      ...facts(node),
      ...list('Problems', problems.map((words) => make('span', 'bad', words))),
      ...(model.isPolicy(node) ? aboutPolicy(node) : aboutObject(node)),
      ...list('Above', neighbours(number, above, 'from')),
      ...list('Below', neighbours(number, below, 'to')),
      ...commands(node),
      node.about.spec ? code(node.about.spec, 'spec (YAML)', false) : null,
    ].filter((part) => part !== null);
  }

  function facts(node) {
    const rows = [];
    if (node.class !== undefined) rows.push(['Class', node.class]);
    if (node.protocol !== undefined) rows.push(['Listens', `${node.protocol} ${node.port}`]);
    if (node.type === 'port' && node.port !== undefined) rows.push(['Port', String(node.port)]);
    if (['route', 'listener'].includes(node.type) && !node.missing) {
      const names = node.hostnames.length > 0 ? node.hostnames : ['any'];
      rows.push([names.length > 1 ? 'Hostnames' : 'Hostname', names.join('\n')]);
    }
    if (node.matches.length > 0) rows.push(['Matches', node.matches.join('\nor ')]);
    if (rows.length === 0) return [];
    return [make('dl', '', ...rows.flatMap(([key, value]) => [make('dt', '', key), make('dd', '', value)]))];
  }

  function neighbours(number, edges, end) {
    return edges[number].filter((edge) => !model.isOfPolicy(edge)).map((edge) => [
      link(edge[end]), edge.reason ? make('span', 'bad', ` ${edge.reason}`) : null,
    ]);
  }

  function aboutPolicy(node) {
    const { number, about: { why, reported, settings } } = node;
    const targets = model.targetsOf[number].map((edge) => [
      edge.state ? pill(edge.state) : null, ' ', link(edge.to),
      ...edge.by.flatMap((by) => [make('span', 'faint', ', overridden by '), link(by)]),
      edge.type === 'notAttached' ? make('span', 'bad', ` not attached: ${edge.reason}`) : null,
    ]);
    const text = why ?? node.reason;
    return [
      text ? make('p', model.isBad(node.state) ? 'bad' : 'faint', text) : null,
      ...list('Reported by its controllers', (reported ?? []).map((words) => [words])),
      ...list('Targets', targets),
      ...list('Overridden by', [...model.overriddenBy[number]].map((other) => link(other))),
      ...list('Overrides', [...model.overrides[number]].map((other) => link(other))),
      ...(settings ?? []).map((stanza) => code(stanza.spec, `Settings, ${stanza.strategy} (YAML)`, true)),
    ];
  }

  /** The policies over a node, those attached to it or to a section of it, and those that are not attached. */
  function policiesOf(node) {
    const applying = (node.about.policies ?? []).map((policy) => ({ number: model.numbers.get(policy.policy), ...policy }));
    const parts = [node.number, ...model.sections[node.number]];
    const edges = parts.flatMap((part) => model.policiesAt[part]);
    const items = applying.map((policy) => {
      return [pill(policy.state), ' ', policy.number === undefined ? policy.policy : link(policy.number), make('span', 'faint', ` on ${policy.at}`)];
    });
    const listed = new Set(applying.map((policy) => policy.number));
    for (const edge of edges.filter((one) => !listed.has(one.from))) {
      const at = edge.to === node.number ? [] : [make('span', 'faint', ` on ${model.label(nodes[edge.to])}`)];
      items.push([edge.state ? pill(edge.state) : make('span', 'tag', 'attached'), ' ', link(edge.from), ...at,
        edge.reason ? make('span', 'bad', ` not attached: ${edge.reason}`) : null]);
    }
    return items;
  }

  function aboutObject(node) {
    const policies = list('Policies', policiesOf(node));
    const found = inForce(node.about.effective ?? []);
    const more = [
      node.about.more ? make('p', 'faint', `and ${node.about.more} more`) : null,
      node.about.omitted ? make('p', 'faint', 'Details left out: there are too many. Run the command below for this object.') : null,
    ].filter(Boolean);
    return [
      ...(policies.length > 0 ? policies : [make('h3', '', 'Policies'), make('p', 'faint', 'None.')]),
      ...(found.length + more.length > 0 ? [make('h3', '', 'In force'), ...found, ...more] : []),
    ];
  }

  /** The list of all visible problems. */
  function problems(shown) {
    const found = model.problems.filter((problem) => shown.has(problem.number));
    const byNumber = new Map();
    for (const problem of found) byNumber.set(problem.number, [...(byNumber.get(problem.number) ?? []), problem.words]);
    const MOST = 500;
    const items = [...byNumber].slice(0, MOST).map(([number, words]) => [
      nodes[number].state ? [pill(nodes[number].state), ' '] : null, link(number), ...words.map((one) => make('div', 'bad', one)),
    ].flat());
    const more = byNumber.size > MOST ? [make('p', 'faint', `and ${byNumber.size - MOST} more`)] : [];
    return [heading('Problems'), make('p', 'faint', text.count(byNumber.size, 'object')), make('ul', 'problem-list', ...items.map((item) => make('li', '', ...item))), ...more];
  }

  return { about, problems };
}
