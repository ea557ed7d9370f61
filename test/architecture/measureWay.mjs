// Which files, functions and lines one warmed-up call runs, as installed: in the host and in the process that starts its
// hooks. From precise coverage of the sources compiled one to one: node test/architecture/measureWay.mjs tool|model. A
// function counts once, with all of its lines.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import inspector from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const project = path.resolve(import.meta.dirname, '../..');
const directory = mkdtempSync(path.join(tmpdir(), 'hookstack-way-'));
const home = path.join(directory, 'out');
const tsc = path.join(project, 'node_modules/.bin/tsc');
const flags = ['--emitDeclarationOnly', 'false', '--declaration', 'false', '--noEmit', 'false'];
execFileSync(tsc, ['-p', path.join(project, 'tsconfig.json'), '--outDir', home, ...flags]);
cpSync(path.join(project, 'package.json'), path.join(home, 'package.json'));
symlinkSync(path.join(project, 'node_modules'), path.join(home, 'node_modules'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));

const { Config, CoreToolScheduler, GeminiChat } = await import(
  pathToFileURL(path.join(home, 'src/index.js')).href
);
const { readySpawner } = await import(
  pathToFileURL(path.join(home, 'src/process/spawner/spawner.js')).href
);
// In the place of the built file. It tells what it has run since it was asked last.
const socket = path.join(directory, 'coverage.sock');
writeFileSync(
  path.join(home, 'src/process/spawner/spawner.cjs'),
  `const inspector = require('node:inspector/promises');
const session = new inspector.Session();
session.connect();
void (async () => {
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await import('./main.js');
  const connection = require('node:net').connect(${JSON.stringify(socket)});
  connection.unref();
  connection.on('data', async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    connection.write(JSON.stringify(result) + '\\n');
  });
})();`,
);
const server = createServer().listen(socket);

const command = `cat >/dev/null; echo '{"decision":"allow"}'`;
const groups = [{ hooks: [{ type: 'command', command }] }];

function openConfig(...events) {
  const hooks = Object.fromEntries(events.map((event) => [event, groups]));
  const options = { hooks, hooksRunner: { spawner: true } };
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
const connecting = once(server, 'connection');
await call();
// It keeps nobody alive by itself.
const alive = setInterval(() => undefined, 1000);
const [spawner] = await connecting;
// From the second call on, the process that starts hooks has what it needs, and holds it for the third.
for (let round = 0; round < 2; round += 1) {
  do await setTimeout(300);
  while (!holdsAny());
  if (round === 0) await call();
}
const session = new inspector.Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
/** Where others use the machine, a hook may come before what was to be held for it. That is not the way it should go. */
const MEASURED_CALLS = 5;
let way;
for (let measured = 0; measured < MEASURED_CALLS; measured += 1) {
  await session.post('Profiler.takePreciseCoverage');
  await covered(spawner);
  await call();
  const inHost = (await session.post('Profiler.takePreciseCoverage')).result;
  // What is made ready after a call belongs to it.
  do await setTimeout(300);
  while (!holdsAny());
  const found = wayOf([...inHost, ...(await covered(spawner))]);
  const isShorter = !way || found.lines + found.functions < way.lines + way.functions;
  if (isShorter) way = found;
}
clearInterval(alive);
process.stdout.write(`${JSON.stringify(way, null, 2)}\n`, () => process.exit(0));

function holdsAny() {
  const { pid } = readySpawner() ?? {};
  if (pid === undefined) return false;
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim() !== '';
}

async function covered(connection) {
  connection.write('?');
  let answer = '';
  for (;;) {
    const [chunk] = await once(connection, 'data');
    answer += chunk;
    if (answer.endsWith('\n')) return JSON.parse(answer);
  }
}

/** @param coverage of both processes: a function that runs in both counts once */
function wayOf(coverage) {
  const ranByFile = new Map();
  for (const { url, functions } of coverage) {
    const file = url.startsWith('file:') ? path.relative(home, fileURLToPath(url)) : '..';
    if (file.startsWith('..') || file.startsWith('node_modules') || file.endsWith('.cjs')) continue;
    const ran = ranByFile.get(file) ?? new Map();
    for (const { functionName, ranges } of functions) {
      const [{ count, startOffset, endOffset }] = ranges;
      if (count > 0 && (functionName !== '' || startOffset > 0))
        ran.set(`${startOffset}:${endOffset}`, ranges[0]);
    }
    if (ran.size > 0) ranByFile.set(file, ran);
  }
  const rows = [...ranByFile].map(([file, ran]) => {
    const text = readFileSync(path.join(home, file), 'utf8');
    const lineAt = (offset) => text.slice(0, offset).split('\n').length;
    const lines = new Set();
    for (const { startOffset, endOffset } of ran.values()) {
      for (let line = lineAt(startOffset); line <= lineAt(endOffset); line++) lines.add(line);
    }
    return { file: file.replace(/\.js$/u, '.ts'), functions: ran.size, lines: lines.size };
  });
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  return { rows, files: rows.length, functions: sum('functions'), lines: sum('lines') };
}
