// A server for work on the page: answers its requests by running `attache … -o json` on a directory of manifests.
// `node dev/server.mjs DIR [PORT]`; `ATTACHE` names the program. With `TOKEN`, it asks for that token as in a cluster.
import { execFile } from 'node:child_process';
import { readFileSync, watch, writeFileSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [directory, port = '8400'] = process.argv.slice(2);
const attache = process.env.ATTACHE ?? 'attache';
const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist');
const scratch = mkdtempSync(join(tmpdir(), 'attache-page-'));
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' };

let generation = 1;
const listeners = new Set();
watch(directory, { recursive: true }, () => {
  generation += 1;
  for (const listener of listeners) listener();
});

let kept = new Map();
let keptOf = generation;
/** Each answer once a generation: a large directory takes seconds. */
function run(...args) {
  if (keptOf !== generation) [kept, keptOf] = [new Map(), generation];
  const key = args.includes(join(scratch, 'change.yaml')) ? Symbol('change') : args.join('\n');
  if (!kept.has(key)) kept.set(key, ran(args));
  return kept.get(key);
}

function ran(args) {
  return new Promise((done, fail) => {
    execFile(attache, [...args, '--from', directory], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      // Findings and lost traffic also make the status non-zero.
      if (stdout === '') fail(Object.assign(new Error(stderr.trim()), { status: 404 }));
      else done(stdout);
    });
  });
}
const json = async (...args) => JSON.parse(await run(...args, '-o', 'json'));
// The command refuses a state without guardrails.
const guardrailsOf = () => json('guardrails').catch(() => ({ guardrails: [] }));

async function page() {
  const html = await run('graph', '-o', 'html');
  const [, data] = html.split('<script type="application/json" id="data">');
  return JSON.parse(data.split('</script>')[0]);
}

/** The arguments of a name `kind[.group]/[namespace/]name[#section]`. */
function named(name) {
  const [object, section] = name.split('#');
  const parts = object.split('/');
  const own = parts.length > 2 ? [`${parts[0]}/${parts[2]}${section ? `#${section}` : ''}`, '-n', parts[1]] : [object];
  return own;
}

async function change(body, isDelete) {
  const file = join(scratch, 'change.yaml');
  writeFileSync(file, body);
  const impact = await json('impact', file, ...(isDelete ? ['--delete'] : []));
  const guardrails = await guardrailsOf();
  return { impact, findings: { findings: impact.findings }, guardrails: { before: guardrails, after: guardrails } };
}

const answers = {
  state: async () => ({ mode: 'directory', source: directory, user: null, version: 'dev', generation, problems: [], commandArguments: ['--from', directory], looks: (await page()).looks }),
  graph: async () => ({ ...(await page()), details: undefined }),
  details: async (query) => {
    const all = await page();
    return all.details[all.graph.nodes.findIndex((node) => node.id === query.get('object'))] ?? {};
  },
  policies: () => json('policies', '-A'),
  object: async (query) => ({ ...(await json('describe', ...named(query.get('name')))), yaml: '# not in the server for work on the page\n' }),
  explain: (query) => json('explain', query.get('url'), '-X', query.get('method') ?? 'GET', ...query.getAll('header').flatMap((header) => ['-H', header])),
  guardrails: guardrailsOf,
  kinds: () => json('kinds'),
  history: async () => ({ since: new Date().toISOString(), entries: [] }),
};

function events(response) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  const tell = () => response.write(`event: changed\ndata: {"generation":${generation}}\n\n`);
  listeners.add(tell);
  tell();
  response.on('close', () => listeners.delete(tell));
}

async function answer(request, response) {
  const url = new URL(request.url, 'http://localhost');
  response.setHeader('Content-Security-Policy', POLICY);
  const [, api] = /^\/api\/(\w+)$/.exec(url.pathname) ?? [];
  if (api && process.env.TOKEN && request.headers['attache-token'] !== process.env.TOKEN) {
    response.writeHead(401, { 'Content-Type': 'application/json', 'WWW-Authenticate': 'Bearer' });
    return response.end(JSON.stringify({ error: 'The token is not valid. Make another one.' }));
  }
  if (api === 'events') return events(response);
  if (api) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const found = api === 'change' ? await change(Buffer.concat(chunks), url.searchParams.has('delete')) : await answers[api](url.searchParams);
    response.setHeader('Attache-Generation', String(generation));
    response.setHeader('Content-Type', 'application/json');
    return response.end(JSON.stringify(found));
  }
  const name = url.pathname === '/' ? 'index.html' : url.pathname.slice(1);
  response.setHeader('Content-Type', TYPES[name.split('.').pop()] ?? 'text/plain');
  return response.end(readFileSync(join(dist, name)));
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.writeHead(error.status ?? 500, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ error: error.message }));
  });
}).listen(Number(port), '127.0.0.1', () => console.log(`http://127.0.0.1:${port}/`));
