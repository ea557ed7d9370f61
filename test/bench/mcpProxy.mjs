import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
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
 * matches: one call after the other, and a hundred at a time.
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
    const { alone, together, bareAlone, bareTogether } = await runRounds(
      {
        bareAlone: () => timeAlone(bare),
        alone: () => timeAlone(proxied),
        bareTogether: () => timeTogether(bare, CALLS * 5),
        together: () => timeTogether(proxied, CALLS * 5),
      },
      rounds,
    );
    const added = alone.map((ms, round) => ms - bareAlone[round]);
    const title = 'what `hookstack mcp` adds to a call that no hook matches, to the call itself';
    const other = `a call through \`hookstack mcp\` with ${IN_FLIGHT} in flight, to one without`;
    return [
      { ...toRow({ title }, { ours: added, theirs: bareAlone }), goalAmount: 0.3 },
      // A throughput of 0.7.
      toRow({ title: other, goal: 1.43 }, { ours: together, theirs: bareTogether }),
    ];
  } finally {
    for (const client of clients) await client.close();
    await rm(home, { recursive: true });
  }
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
  const folder = path.dirname(require.resolve(`${SERVER}/package.json`));
  const connect = async (args) => {
    const client = new Client({ name: 'bench', version: '1' });
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
