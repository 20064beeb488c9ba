// Builds dist/: what is checked in and part of the program. The same sources give the same bytes.
import { readFileSync, readdirSync, writeFileSync, copyFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const LARGEST = 400_000;

const common = {
  absWorkingDir: here, bundle: true, minify: true, charset: 'utf8', target: ['es2022'], legalComments: 'none', outdir: 'dist',
  jsx: 'automatic', jsxImportSource: 'preact', metafile: true, logLevel: 'warning',
};
const bundles = await Promise.all([
  build({ ...common, format: 'iife', entryPoints: { app: 'src/app.tsx', graph: 'src/map/graph.js' } }),
  build({ ...common, entryPoints: { app: 'src/css/app.css', graph: 'src/map/css/graph.css' } }),
]);
copyFileSync(join(here, 'src/index.html'), join(here, 'dist/index.html'));
writeFileSync(join(here, 'LICENSES.txt'), licences());

const size = readdirSync(join(here, 'dist')).reduce((sum, name) => sum + gzipSync(readFileSync(join(here, 'dist', name))).length, 0);
console.log(`dist: ${Math.round(size / 1000)} kB compressed`);
if (size > LARGEST) throw new Error(`dist is ${size} bytes compressed, more than ${LARGEST}`);

/** The licences of the packages that are in the bundles. */
function licences() {
  const inputs = bundles.flatMap((bundle) => Object.keys(bundle.metafile.inputs));
  const names = new Set(inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]).filter(Boolean));
  return [...names].sort().map((name) => {
    const folder = join(here, 'node_modules', name);
    const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const file = ['LICENSE', 'LICENSE.md', 'license'].map((one) => join(folder, one)).find(existsSync);
    if (!file) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`;
  }).join('\n----\n\n');
}
