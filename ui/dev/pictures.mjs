// Takes the pictures of the page for docs/pictures: each page at two sizes, light and dark. `node ui/dev/pictures.mjs` in the repository; `ATTACHE` names the
// program. It needs chromedriver, and pngquant, which makes the files small.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [attache, port] = [process.env.ATTACHE ?? 'attache', 9517];
const state = mkdtempSync(join(tmpdir(), 'attache-pictures-'));
for (const directory of ['tests/commands/estate', 'tests/browser/live/guardrails']) cpSync(directory, join(state, 'estate'), { recursive: true });

const CHANGE = `apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata:
  name: public-jwt
  namespace: infra
`;
// The times on the page of the history change with each run.
const EDITED = 'estate/30-platform-policies.yaml';
// What is on each: an element that is there when the page is ready, and a script before the picture.
const PAGES = [
  ['map', '#/map', '#view .cell', ''],
  ['map-object', '#/map/httproute/shop/cart', '#panel table', ''],
  ['policies', '#/policies', 'main tbody tr', ''],
  ['objects', '#/objects', 'main tbody tr', ''],
  ['object', '#/object/httproute/shop/cart', '.yaml', ''],
  ['request', '#/request?url=https%3A%2F%2Fshop.example.com%2Fcart&method=GET', '.hop', ''],
  ['change', '#/change', '#change-body', `const area = document.querySelector('#change-body'); area.value = ${JSON.stringify(CHANGE)};
    area.dispatchEvent(new Event('input', { bubbles: true })); area.rows = 6; document.querySelectorAll('main [type=radio]')[1].click();
    requestAnimationFrame(() => document.querySelector('main .primary').click());`],
  ['guardrails', '#/guardrails', '.bad-card', ''],
  ['history', '#/history', '.history li', ''],
];
const SIZES = [[1280, 800], [1920, 1080]];

const children = [];
function start(program, args, options) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], ...options });
  children.push(child);
  return child;
}

async function firstLine(child, pattern) {
  for await (const line of createInterface(child.stdout)) {
    const found = pattern.exec(line);
    if (found) return found[0];
  }
  throw new Error('it ended');
}

async function send(method, path, body) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
  const { value } = await response.json();
  if (value?.error) throw new Error(value.message);
  return value;
}

async function until(what, script, session) {
  for (let i = 0; i < 300; i += 1) {
    if (await send('POST', `${session}/execute/sync`, { script, args: [] })) return;
    await new Promise((done) => { setTimeout(done, 100); });
  }
  throw new Error(`not there: ${what}`);
}

try {
  await firstLine(start('chromedriver', [`--port=${port}`]), /started successfully/);
  // The name of the directory is on the page.
  const url = await firstLine(start(attache, ['ui', '--no-open', '--address', '127.0.0.1:0', '--from', 'estate'], { cwd: state }), /http:\S+/);
  const args = ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--force-device-scale-factor=1'];
  const { sessionId } = await send('POST', '/session', { capabilities: { alwaysMatch: { 'goog:chromeOptions': { args } } } });
  const session = `/session/${sessionId}`;
  const devtools = (cmd, params) => send('POST', `${session}/goog/cdp/execute`, { cmd, params });
  await send('POST', `${session}/url`, { url });
  for (const [page, hash, ready, script] of PAGES) {
    if (page === 'history') {
      const before = readFileSync(join(state, EDITED), 'utf8');
      writeFileSync(join(state, EDITED), before.replace('requestTimeout: 10s', 'requestTimeout: 5s'));
    }
    for (const [width, height] of SIZES) {
      for (const scheme of ['light', 'dark']) {
        const name = `ui-${page}-${width}-${scheme}.png`;
        await devtools('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
        await devtools('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }] });
        await send('POST', `${session}/url`, { url: 'about:blank' });
        await send('POST', `${session}/url`, { url: url.replace(/\?.*/, hash) });
        await until(ready, `return document.querySelector(${JSON.stringify(ready)}) !== null`, session);
        if (script) {
          await send('POST', `${session}/execute/sync`, { script, args: [] });
          await until('the result', "return document.querySelector('.figures') !== null", session);
        }
        await send('POST', `${session}/execute/sync`, { script: 'document.activeElement?.blur()', args: [] });
        const png = join(state, name);
        writeFileSync(png, Buffer.from(await send('GET', `${session}/screenshot`), 'base64'));
        const kept = join('docs/pictures', name);
        execFileSync('pngquant', ['--force', '--strip', '--speed', '1', '--output', kept, '128', png]);
        console.log(`${kept}: ${Math.round(readFileSync(kept).length / 1000)} kB`);
      }
    }
  }
  await send('DELETE', session);
} finally {
  for (const child of children) child.kill();
  rmSync(state, { recursive: true });
}
