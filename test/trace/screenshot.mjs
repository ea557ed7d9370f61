// Draws docs/trace.png: the demo's session as a page. Run it by hand, after a build, when the page's looks have changed:
//
//   npm run build && node test/trace/screenshot.mjs

import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { launchChromium } from './browser.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-screenshot-'));
const trace = path.join(directory, 'demo.jsonl');
const html = path.join(directory, 'demo.html');

const inRoot = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] };
const runDemo = `
  const { traceToFile } = await import('./dist/index.js');
  traceToFile(process.env.TRACE);
  await import('./examples/demo/demo.mjs');`;
const demo = ['--input-type=module', '--eval', runDemo];
execFileSync(process.execPath, demo, { ...inRoot, env: { ...process.env, TRACE: trace } });
execFileSync(process.execPath, ['dist/cli.cjs', 'trace', trace, '--html', html], inRoot);

const browser = await launchChromium();
const page = await browser.newPage({
  viewport: { width: 1200, height: 726 },
  colorScheme: 'light',
});
await page.goto(pathToFileURL(html).href);

/** The row of a span by its kind and name. */
const row = (kind, name) =>
  page
    .locator(`.k-${kind}`)
    .filter({ has: page.locator('.title').getByText(name, { exact: true }) });
for (const turn of ['2', '3']) await row('turn', turn).locator('.fold').click();
await row('event', 'AfterModel').first().locator('.fold').click();
await row('model', 'gemini-2.5-flash').last().locator('.fold').click();
await row('hook', 'drafts-only').click();
await page.mouse.move(0, 0);

const picture = path.join(root, 'docs/trace.png');
await page.screenshot({ path: picture });
await browser.close();
await rm(directory, { recursive: true });
console.log(`Drew ${path.relative(process.cwd(), picture)}: look at it`);
