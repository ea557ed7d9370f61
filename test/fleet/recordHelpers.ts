import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { vi } from 'vitest';
import { collect } from '../../src/cli/collect/collect.js';
import { connectNats } from '../../src/fleet/natsConnection.js';
import { SpanSender } from '../../src/fleet/spanSender.js';
import { Spool, type SpoolOptions } from '../../src/fleet/spool.js';
import { OpenSpan } from '../../src/trace/span.js';
import { MAIN } from '../cli/helpers.js';
import { FLEET_SECRETS, type TestNats } from '../helpers/natsServer.js';

/** Ends spans with these names, as hooks that block. */
export function endSpans(...names: readonly string[]): void {
  for (const name of names) {
    const span = new OpenSpan('hook', { name, event: 'BeforeTool' as never });
    span.end(() => ({ verdict: 'block', reason: `why ${name}` }));
  }
}

export function numbered(count: number, what = 'n'): string[] {
  return Array.from({ length: count }, (_, index) => `${what}${index}`);
}

export interface TestSender {
  readonly sender: SpanSender;
  readonly problems: string[];
}

/** An agent of `acme`, whose spool is in a directory. */
export function joinAs(
  port: number,
  directory: string,
  {
    agent = 'one',
    user = 'one',
    spool = {},
    flushMs = 5000,
  }: {
    agent?: string;
    user?: keyof typeof FLEET_SECRETS;
    spool?: SpoolOptions;
    flushMs?: number;
  } = {},
): TestSender {
  const problems: string[] = [];
  const sender = new SpanSender({
    address: { kind: 'nats', server: `127.0.0.1:${port}`, tls: false, team: 'acme', agent },
    readSecret: async () => FLEET_SECRETS[user],
    onProblem: (message) => problems.push(message),
    spool: new Spool(path.join(directory, 'spool'), spool),
    flushMs,
  });
  return { sender, problems };
}

export function writeToken(directory: string, secret: string = FLEET_SECRETS.policy): string {
  const file = path.join(directory, `token-${secret.split(':')[0]}`);
  writeFileSync(file, secret, { mode: 0o600 });
  return file;
}

/** Does what `hookstack collect --once` does, and says what that prints. */
export async function collectOnce(nats: Pick<TestNats, 'url'>, directory: string) {
  let [stdout, stderr] = ['', ''];
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((stdout += text))),
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((stderr += text))),
  ];
  try {
    const tokenFile = writeToken(directory);
    const out = path.join(directory, 'out');
    const exitCode = await collect({ nats: nats.url, tokenFile, out, once: true });
    return { exitCode, stdout: stdout.trim(), stderr };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Runs `hookstack collect` in a process of its own. */
export function startCollector(
  nats: Pick<TestNats, 'url'>,
  directory: string,
  ...more: readonly string[]
) {
  const token = writeToken(directory);
  const args = ['--nats', nats.url, '--token-file', token, '--out', path.join(directory, 'out')];
  return execa(process.execPath, [MAIN, 'collect', ...args, ...more], { reject: false });
}

/** Runs `hookstack collect --once` in a process of its own. */
export async function collectApart(nats: Pick<TestNats, 'url'>, directory: string) {
  const { exitCode, stdout, stderr } = await startCollector(nats, directory, '--once');
  return { exitCode, stdout, stderr };
}

/** A disk of 64 KB, where this user may mount one. Call what it gives when it is not needed any more. */
export function mountSmallDisk(directory: string): (() => void) | undefined {
  mkdirSync(directory, { mode: 0o700 });
  try {
    const args = ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', directory];
    execFileSync('mount', args, { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return () => void execFileSync('umount', ['-l', directory]);
}

export interface Collected {
  readonly id: string;
  readonly kind: string;
  readonly name: string;
  readonly from: string;
  readonly sizes?: { readonly missing?: number };
}

/** All lines of all days. */
export async function readCollected(directory: string): Promise<Collected[]> {
  const out = path.join(directory, 'out');
  const files = (await readdir(out)).filter((name) => name.endsWith('.jsonl'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(out, name), 'utf8')));
  return texts
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Collected);
}

/** The names of spans that wait on disk, the oldest first. */
export async function readSpool(directory: string): Promise<string[]> {
  const spool = path.join(directory, 'spool');
  const names = (await readdir(spool).catch((): string[] => [])).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(path.join(spool, name), 'utf8')));
  return texts
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { name: string }).name);
}

/** A span, as an agent could write it. */
export interface SpanFields {
  readonly id: string;
  readonly name?: string;
  readonly parent?: string | null;
  readonly session?: string;
  readonly from?: string;
  readonly start?: number;
  readonly [field: string]: unknown;
}

let count = 0;
export const newId = () => (count += 1).toString(16).padStart(16, '0');
export const span = (fields: Partial<SpanFields>): SpanFields => ({
  id: newId(),
  parent: null,
  kind: 'hook',
  name: 'guard',
  event: 'BeforeTool',
  verdict: 'allow',
  start: Date.now(),
  durationMs: 1.5,
  ...fields,
});

/** As agents would. `from` says which one. */
export async function publishSpans(
  { port }: Pick<TestNats, 'port'>,
  spans: readonly SpanFields[],
): Promise<void> {
  const address = { server: `127.0.0.1:${port}`, tls: false };
  const policy = await connectNats({ address, secret: FLEET_SECRETS.policy, name: 'test' });
  for (const { from = 'acme/one', ...each } of spans) {
    policy.publish(`hooks.event.${from.replace('/', '.')}`, JSON.stringify(each));
  }
  await policy.drain();
}

/** Names of files, of what is below a directory, in which a text stands. */
export function grep(text: string, below: string): string[] {
  return readdirSync(below, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
