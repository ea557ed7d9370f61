import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { GUARDED, RULED } from './question.mjs';
import { GROUPS, passwordOf } from './startBroker.mjs';

const CLI = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url));
const HOOK = fileURLToPath(new URL('../scripts/defined.mjs', import.meta.url));

/** A program of the package, until it is closed. */
class Program {
  constructor(args, directory) {
    const env = { HOME: directory, PATH: process.env.PATH };
    this.child = spawn(process.execPath, [CLI, ...args], { cwd: directory, env });
    this.pid = this.child.pid;
    this.told = '';
    this.child.stderr.on('data', (chunk) => (this.told = `${this.told}${chunk}`.slice(-4096)));
    this.lines = createInterface(this.child.stdout)[Symbol.asyncIterator]();
    this.ended = once(this.child, 'exit');
  }

  async close() {
    this.child.kill();
    await this.ended;
  }
}

/**
 * Starts the policy servers of an account, all with the same hooks: ten that match nothing here, a guard and a rule.
 *
 * @param {keyof typeof GROUPS} group
 * @param {string} directory an empty one
 * @param {string} server of NATS, as `host:port`
 * @param {readonly string[]} more options
 * @returns {Promise<{ url: string, pid: number, close: () => Promise<void> }[]>} `url` is that of HTTP
 */
export async function startServers(group, directory, server, more = []) {
  const settings = path.join(directory, 'policy.json');
  await writeFile(settings, JSON.stringify(policy()));
  const tokenFile = await writeSecret(directory, `policy-${group}`);
  const starting = Array.from({ length: GROUPS[group] }, async () => {
    const nats = ['--nats', `nats://${server}`, '--token-file', tokenFile];
    const args = ['serve', '--settings', settings, '--listen', '127.0.0.1:0', ...nats];
    const program = new Program([...args, ...more, '--max-concurrent', '256'], directory);
    const { value } = await program.lines.next();
    program.url = /https?:\S+/.exec(value ?? '')?.[0];
    if (!program.url) throw new Error(`hookstack serve has ended: ${program.told}`);
    return program;
  });
  return Promise.all(starting);
}

/** Starts who reads the record into files. */
export async function startCollector(group, directory, server) {
  const tokenFile = await writeSecret(directory, `policy-${group}`);
  const nats = ['--nats', `nats://${server}`, '--token-file', tokenFile];
  return new Program(['collect', ...nats, '--out', path.join(directory, 'record')], directory);
}

/**
 * @param {string} directory
 * @param {string} user
 * @returns {Promise<string>} the file that holds who it is
 */
export async function writeSecret(directory, user) {
  const file = path.join(directory, `${user}.token`);
  await writeFile(file, `${user}:${passwordOf(user)}\n`, { mode: 0o600 });
  return file;
}

function policy() {
  const command = `${JSON.stringify(process.execPath)} ${JSON.stringify(HOOK)} BeforeTool`;
  const others = Array.from({ length: 10 }, (_, index) => ({
    matcher: `^edit_${index}$`,
    hooks: [{ type: 'command', command: 'false' }],
  }));
  const hook = { type: 'command', command, persistent: true, timeout: 10_000, onFailure: 'deny' };
  const guard = { matcher: `^${GUARDED}$`, hooks: [hook] };
  const rule = { type: 'rule', name: 'no-tests', decision: 'deny', reason: 'Tests run elsewhere.' };
  const rules = { matcher: `^${RULED}$`, when: 'Bash(npm test *)', hooks: [rule] };
  return { enableHooks: true, hooks: { BeforeTool: [...others, guard, rules] } };
}
