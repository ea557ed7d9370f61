import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { differences } from './aiSdkDifferences.mjs';

/*
 * Runs the AI SDK's own tests with the adapter slipped in, and says which of them differ, and why.
 *
 *   node test/hosts/suites/aiSdk.mjs CHECKOUT
 *
 * CHECKOUT is a clone of github.com/vercel/ai: its tests are not in its package. Nothing else is fetched.
 */

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, '../../..');
const CONFIG = path.join(import.meta.dirname, 'aiSdk.config.ts');
const PACKAGES = ['ai', 'provider', 'provider-utils', 'gateway'];
/** The one whose differences are known. */
const VERSION = '7.0.77';
/** See `aiSdkAround.ts`. */
const MODES = ['none', 'watched', 'silent'];

const checkout = process.argv[2] ?? process.env['AI_SDK_CHECKOUT'];
if (checkout === undefined) skip();
else process.exitCode = (await tryAll(checkout)) ? 0 : 1;

function skip() {
  const clone = `git clone --depth 1 --branch ai@${VERSION} https://github.com/vercel/ai`;
  const text = `SKIPPED: the AI SDK's own tests were not run, as they are not in its package. Run \`${clone}\`, and give the clone to test/hosts/suites/aiSdk.mjs`;
  // GitHub shows such a line above all others.
  console.log(process.env['GITHUB_ACTIONS'] ? `::warning::${text}` : text);
}

async function tryAll(directory) {
  const sources = await mkdtemp(path.join(tmpdir(), 'hookstack-ai-sdk-'));
  try {
    await copySources(path.resolve(directory), sources);
    let holds = true;
    for (const mode of MODES) holds = report(mode, await runTests(mode, sources)) && holds;
    return holds;
  } finally {
    await rm(sources, { recursive: true, force: true });
  }
}

/** Without their settings for TypeScript, which want packages that are not there. */
async function copySources(directory, to) {
  for (const name of PACKAGES) {
    const folder = `packages/${name}/src`;
    const archive = path.join(to, `${name}.tar`);
    const options = ['-o', archive, `--prefix=${folder}/`];
    await run('git', ['-C', directory, 'archive', ...options, `HEAD:${folder}`]);
    await run('tar', ['-xf', archive, '-C', to]);
  }
}

/** The names of all tests, and of those that failed. */
async function runTests(mode, sources) {
  const outputFile = path.join(sources, `${mode}.json`);
  const args = ['vitest', 'run', '--config', CONFIG, '--reporter=json', '--outputFile', outputFile];
  const env = { ...process.env, AI_SDK_SOURCES: sources, AI_SDK_HOOKS: mode };
  // It fails where a test fails; what counts is in the file.
  const failure = await run('npx', args, { cwd: ROOT, env, maxBuffer: 1e8 }).catch(
    (error) => error,
  );
  if (!existsSync(outputFile)) throw failure;
  const { testResults } = JSON.parse(await readFile(outputFile, 'utf8'));
  const broken = testResults.filter(({ assertionResults }) => assertionResults.length === 0);
  if (broken.length > 0) throw new Error(broken.map(({ message }) => message).join('\n'));
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = tests.filter(({ status }) => status === 'failed');
  return { count: tests.length, failed: failed.map(({ fullName }) => fullName) };
}

/** Whether all tests hold, or differ as declared. */
function report(mode, { count, failed }) {
  const declared = differences.filter(({ modes }) => modes.includes(mode));
  console.log(`hooks: ${mode}: ${count - failed.length} of ${count} tests of the AI SDK hold`);
  for (const { why, tests } of declared) {
    const names = failed.filter((name) => tests.some((test) => name.includes(test)));
    if (names.length > 0) console.log(`  ${names.length} differ: ${why}`);
  }
  const known = declared.flatMap(({ tests }) => tests);
  const unknown = failed.filter((name) => !known.some((test) => name.includes(test)));
  const certain = declared.filter(({ isByChance }) => !isByChance).flatMap(({ tests }) => tests);
  const gone = certain.filter((test) => !failed.some((name) => name.includes(test)));
  for (const name of unknown) console.log(`  FAILED: ${name}`);
  for (const test of gone) console.log(`  DECLARED, and not so: ${test}`);
  return unknown.length === 0 && gone.length === 0;
}
