import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { atMost } from './figures.mjs';
import { waitUntil } from './processes.mjs';

const CLI = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
/** Ms after which a server keeps no answer any more, where agents wait for 5 s. */
const KEPT_MS = 6000;
/** In the server: collects what can be, at a signal, and says how many KiB of heap are left. */
const HEAP = `data:text/javascript,process.on('SIGUSR2',()=>{gc();gc();console.error('heap',Math.round(process.memoryUsage().heapUsed/1024))})`;
// Code that is compiled again and again would be seen as growth.
const INTERPRETED = ['--no-opt', '--no-sparkplug'];

/**
 * Starts `hookstack serve` with a policy that is not watched.
 *
 * @param {string} home its directory
 * @param {Readonly<Record<string, string>>} files what is in it, `policy.json` among them, by name
 * @param {readonly string[]} options more of the program
 * @param {{ isInterpreted?: boolean }} [how] for exact figures of its heap, at the cost of speed
 */
export async function startServer(home, files, options, { isInterpreted = false } = {}) {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(home, name), text, { mode: 0o600 });
  }
  const node = ['--expose-gc', ...(isInterpreted ? INTERPRETED : []), '--import', HEAP, CLI];
  const args = ['--settings', 'policy.json', '--listen', '127.0.0.1:0', '--no-watch', ...options];
  const child = spawn(process.execPath, [...node, 'serve', ...args], {
    cwd: home,
    env: { HOME: home, PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-4096)));
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(said)));
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return {
    url: /http:\S+/u.exec(String(line))[0],
    hangUp: () => child.kill('SIGHUP'),
    /** What it has now; its heap once nothing is asked, and no answer is kept any more. */
    async take({ isQuiet = true } = {}) {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      if (isQuiet) await setTimeout(KEPT_MS);
      said = '';
      child.kill('SIGUSR2');
      await waitUntil(() => /^heap \d+$/mu.test(said), 10_000);
      return {
        heapKiB: Number(/^heap (\d+)$/mu.exec(said)[1]),
        memoryMiB: Math.round(Number(/^VmRSS:\s+(\d+)/mu.exec(status)[1]) / 1024),
        descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
        children: childrenOf(child.pid),
      };
    },
    /** @returns its exit code */
    async end() {
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = await exit;
      await waitUntil(() => childrenOf(child.pid) === 0, 5000);
      return code;
    },
  };
}

/**
 * @param {number} heapKiB that its heap may grow by
 */
export function compare(before, after, heapKiB) {
  const growth = (what) => [after[what] - before[what], `${before[what]} → ${after[what]}`];
  return [
    atMost('Resident memory of the server, growth in MiB', 24, ...growth('memoryMiB')),
    atMost('Its heap, growth in KiB', heapKiB, ...growth('heapKiB')),
    atMost('Its descriptors, growth', 4, ...growth('descriptors')),
    atMost('Its processes, growth', 2, ...growth('children')),
  ];
}

function childrenOf(parent) {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(parent)], {
    encoding: 'utf8',
  });
  return stdout.split('\n').filter((line) => line.trim() !== '').length;
}
