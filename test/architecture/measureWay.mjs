// Which files, functions and lines one warmed-up call runs, from precise coverage of the sources compiled one to one:
// node test/architecture/measureWay.mjs tool|model [spawner]. A function counts once, with all of its lines. With
// `spawner`, another process starts the hooks, and what this one does is measured.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import inspector from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = path.resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(path.join(tmpdir(), 'hookstack-way-'));
const home = path.join(directory, 'out');
const tsc = path.join(project, 'node_modules/.bin/tsc');
const flags = ['--emitDeclarationOnly', 'false', '--declaration', 'false'];
execFileSync(tsc, ['-p', path.join(project, 'tsconfig.build.json'), '--outDir', home, ...flags]);
cpSync(path.join(project, 'package.json'), path.join(home, 'package.json'));
symlinkSync(path.join(project, 'node_modules'), path.join(home, 'node_modules'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const { Config, CoreToolScheduler, GeminiChat } = await import(
  pathToFileURL(path.join(home, 'src/index.js')).href
);
const { lookAtSpawner } = await import(
  pathToFileURL(path.join(home, 'src/process/spawner/spawner.js')).href
);
const spawner = process.argv[3] === 'spawner';
if (spawner) {
  const built = path.join(project, 'dist/chunks/spawner.cjs');
  cpSync(built, path.join(home, 'src/process/spawner/spawner.cjs'));
}
const command = `cat >/dev/null; echo '{"decision":"allow"}'`;
const groups = [{ hooks: [{ type: 'command', command }] }];

function openConfig(...events) {
  const hooks = Object.fromEntries(events.map((event) => [event, groups]));
  const options = { hooks, hooksRunner: { spawner } };
  return new Config({ enableHooks: true, workingDir: directory, trustedFolder: true, ...options });
}

const calls = {
  tool: () => {
    const config = openConfig('BeforeTool', 'AfterTool');
    const result = { llmContent: 'ok', returnDisplay: 'ok' };
    const tool = { name: 'write_file', description: '', parametersJsonSchema: { type: 'object' } };
    const tools = [{ ...tool, execute: async () => result }];
    const scheduler = new CoreToolScheduler({ config, tools });
    return () => scheduler.schedule([{ name: 'write_file', args: { a: 1 } }]);
  },
  model: () => {
    const config = openConfig('BeforeToolSelection', 'BeforeModel', 'AfterModel');
    const candidates = [{ content: { role: 'model', parts: [{ text: 'hello' }] } }];
    const generateContentStream = async function* () {
      yield { candidates };
    };
    const models = { generateContentStream: async () => generateContentStream() };
    const chat = new GeminiChat({ config, models, model: 'm' });
    return async () => {
      for await (const _event of chat.sendMessageStream('hi'));
    };
  },
};

const call = calls[process.argv[2]]();
await call();
// What is made ready after the first call belongs to it.
await setTimeout(300);
// It keeps nobody alive by itself.
const alive = setInterval(() => undefined, 1000);
if (spawner) {
  let found;
  do found = await lookAtSpawner();
  while (!found?.shells && (await setTimeout(50, true)));
}
clearInterval(alive);
const session = new inspector.Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
await session.post('Profiler.takePreciseCoverage');
await call();
const { result } = await session.post('Profiler.takePreciseCoverage');

const rows = result.flatMap(({ url, functions }) => {
  const file = url.startsWith('file:') ? path.relative(home, fileURLToPath(url)) : '..';
  if (file.startsWith('..') || file.startsWith('node_modules')) return [];
  const text = readFileSync(path.join(home, file), 'utf8');
  const lineAt = (offset) => text.slice(0, offset).split('\n').length;
  const ran = functions.filter(
    ({ functionName, ranges: [all] }) =>
      all.count > 0 && (functionName !== '' || all.startOffset > 0),
  );
  const lines = new Set();
  for (const { ranges } of ran) {
    const [{ startOffset, endOffset }] = ranges;
    for (let line = lineAt(startOffset); line <= lineAt(endOffset); line++) lines.add(line);
  }
  const source = file.replace(/\.js$/u, '.ts');
  return ran.length === 0 ? [] : [{ file: source, functions: ran.length, lines: lines.size }];
});
const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
const way = { rows, files: rows.length, functions: sum('functions'), lines: sum('lines') };
process.stdout.write(`${JSON.stringify(way, null, 2)}\n`, () => process.exit(0));
