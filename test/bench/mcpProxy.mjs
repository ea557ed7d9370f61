import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { toRow } from './contests.mjs';
import { quartilesOf, runRounds } from './rounds.mjs';

const HOSTS = fileURLToPath(new URL('../hosts/', import.meta.url));
const PROXY = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const SERVER = '@modelcontextprotocol/server-everything';
const CALLS = 200;
const IN_FLIGHT = 100;
const WARM_UP = 20_000;

/**
 * What `hookstack mcp` costs the official client of MCP in front of the official server, with hooks of which none
 * matches: one call after the other, and a hundred at a time; and the same of a door, over HTTP.
 *
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row[]>}
 */
export async function measureMcpProxy(rounds) {
  if (!existsSync(path.join(HOSTS, 'node_modules', SERVER))) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: HOSTS, stdio: ['ignore', 2, 2] });
  }
  const home = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const clients = [];
  const started = [];
  try {
    await writeSettings(home);
    const { connect, server } = await loadSdk(home);
    const bare = await connect(server);
    clients.push(bare);
    const proxied = await connect([
      PROXY,
      'mcp',
      '--name',
      'all',
      '--',
      process.execPath,
      ...server,
    ]);
    clients.push(proxied);
    for (const client of clients) await timeTogether(client, WARM_UP);
    const url = await startHttpServer(server[0], started);
    const overHttp = await connect(url);
    clients.push(overHttp);
    const throughDoor = await connect(await startDoor(home, url, started));
    clients.push(throughDoor);
    for (const client of [overHttp, throughDoor]) await timeTogether(client, WARM_UP / 10);
    const measured = await runRounds(
      {
        bareAlone: () => timeAlone(bare),
        alone: () => timeAlone(proxied),
        bareTogether: () => timeTogether(bare, CALLS * 5),
        together: () => timeTogether(proxied, CALLS * 5),
        overHttp: () => timeAlone(overHttp),
        throughDoor: () => timeAlone(throughDoor),
      },
      rounds,
    );
    const { alone, together, bareAlone, bareTogether } = measured;
    const added = alone.map((ms, round) => ms - bareAlone[round]);
    const title = 'what `hookstack mcp` adds to a call that no hook matches, to the call itself';
    const other = `a call through \`hookstack mcp\` with ${IN_FLIGHT} in flight, to one without`;
    return [
      { ...toRow({ title }, { ours: added, theirs: bareAlone }), goalAmount: 0.3 },
      // A throughput of 0.7.
      toRow({ title: other, goal: 1.43 }, { ours: together, theirs: bareTogether }),
      toRow(
        { title: 'a call through a door of `hookstack mcp`, to one over HTTP without', goal: 2 },
        { ours: measured.throughDoor, theirs: measured.overHttp },
      ),
    ];
  } finally {
    for (const client of clients) await client.close();
    for (const child of started) child.kill();
    await rm(home, { recursive: true });
  }
}

/** Starts a program, and gives what stands at the first place in what it says. */
async function startUntil(args, options, line, started) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  started.push(child);
  return new Promise((resolve, reject) => {
    let said = '';
    const take = (chunk) => {
      said += chunk;
      const found = line.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    child.once('exit', () => reject(new Error(said)));
  });
}

async function startHttpServer(program, started) {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  const env = { ...process.env, PORT: String(port) };
  await startUntil([program, 'streamableHttp'], { env }, /(listening)/u, started);
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

async function startDoor(home, url, started) {
  const args = ['mcp', '--name', 'all', '--url', url.href, '--listen', '127.0.0.1:0'];
  const options = { cwd: home, env: { HOME: home, PATH: process.env.PATH } };
  return new URL(await startUntil([PROXY, ...args], options, /is at (http:\S+): write/u, started));
}

async function writeSettings(home) {
  const groups = [{ matcher: '^nothing$', hooks: [{ type: 'command', command: 'true' }] }];
  const settings = { enableHooks: true, hooks: { BeforeTool: groups, AfterTool: groups } };
  await mkdir(path.join(home, '.llxprt'));
  await writeFile(path.join(home, '.llxprt/settings.json'), JSON.stringify(settings));
}

async function loadSdk(home) {
  const require = createRequire(path.join(HOSTS, 'package.json'));
  const load = (file) =>
    import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${file}`)));
  const { Client } = await load('client/index.js');
  const { StdioClientTransport } = await load('client/stdio.js');
  const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');
  const folder = path.dirname(require.resolve(`${SERVER}/package.json`));
  const connect = async (args) => {
    const client = new Client({ name: 'bench', version: '1' });
    if (args instanceof URL) {
      await client.connect(new StreamableHTTPClientTransport(args));
      return client;
    }
    const env = { HOME: home, PATH: process.env.PATH };
    const start = { command: process.execPath, args, env, cwd: home, stderr: 'ignore' };
    await client.connect(new StdioClientTransport(start));
    return client;
  };
  return { connect, server: [path.join(folder, 'dist/index.js'), 'stdio'] };
}

function call(client) {
  return client.callTool({ name: 'echo', arguments: { message: 'hello' } });
}

/** @returns the ms of a call, in the median */
async function timeAlone(client) {
  const samples = [];
  for (let done = 0; done < CALLS; done++) {
    const startedAt = performance.now();
    await call(client);
    samples.push(performance.now() - startedAt);
  }
  return quartilesOf(samples).median;
}

/** @returns the ms of a call, by their number in that time */
async function timeTogether(client, calls) {
  let left = calls;
  const work = async () => {
    while (left-- > 0) await call(client);
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return (performance.now() - startedAt) / calls;
}
