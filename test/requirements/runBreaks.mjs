import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';

const ROOT = path.resolve(import.meta.dirname, '../..');
const LEFT_OUT = new Set(['.git', 'coverage', 'node_modules']);
const UNPROVED = 'does not pass without the break: correct the test, or name another one';

/** Tries breaks in a copy of the repository, one after the other, and tells of each. Says whether all were noticed. */
export async function runBreaks(breaks) {
  const copy = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-breaks-')));
  try {
    await copyTo(copy);
    const missed = await findMissed(copy, breaks);
    console.log(`breaks: ${breaks.length - missed.length} of ${breaks.length} noticed`);
    return missed.length === 0;
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function copyTo(copy) {
  await cp(ROOT, copy, {
    recursive: true,
    filter: (source) => !LEFT_OUT.has(path.relative(ROOT, source)),
  });
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
}

async function findMissed(copy, breaks) {
  const whole = await statusesOf(
    copy,
    breaks.map(({ test }) => test),
  );
  const missed = [];
  for (const each of breaks) {
    const problem =
      whole.get(keyOf(each.test)) === 'passed' ? await tryBreak(copy, each) : UNPROVED;
    console.log(`${problem ? 'NOT NOTICED' : 'noticed'} ${each.id}: ${each.what}`);
    if (!problem) continue;
    console.log(`  ${each.test.join(' — ')}: ${problem}`);
    missed.push(each);
  }
  return missed;
}

/** Why a break was not noticed, or nothing. */
async function tryBreak(copy, { edits, test }) {
  const originals = new Map();
  try {
    for (const [file, from, to] of edits) {
      const target = path.join(copy, file);
      const text = await readFile(target, 'utf8');
      if (!originals.has(target)) originals.set(target, text);
      const found = text.split(from).length - 1;
      if (found !== 1) {
        return `${JSON.stringify(from)} stands ${found} times in ${file} and not once: write the break anew`;
      }
      await writeFile(
        target,
        text.replace(from, () => to),
      );
    }
    const statuses = await statusesOf(copy, [test]);
    const status = statuses.get(keyOf(test)) ?? 'not run, so the break is none';
    return status === 'failed' ? undefined : `is ${status}`;
  } finally {
    for (const [file, text] of originals) await writeFile(file, text);
  }
}

/** What becomes of tests in the copy, by file and title. Tests of types run in another way. */
async function statusesOf(copy, tests) {
  const ofTypes = tests.filter(isOfTypes);
  const others = tests.filter((test) => !isOfTypes(test));
  return new Map([
    ...(await runTests(copy, others, ['--typecheck=false'])),
    ...(await runTests(copy, ofTypes, ['--typecheck.only'])),
  ]);
}

function isOfTypes([file]) {
  return file.endsWith('.test-d.ts');
}

async function runTests(copy, tests, options) {
  if (tests.length === 0) return [];
  const report = path.join(copy, 'coverage/report.json');
  const files = [...new Set(tests.map(([file]) => file))];
  const titles = tests.map(([, title]) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  // Vitest puts the file before the title of a type test.
  const pattern = `^(?:test/types/\\S+ )?(?:${titles.join('|')})$`;
  const args = [vitest, 'run', ...files, ...options, '--reporter=json', '-t', pattern];
  const { all } = await execa(process.execPath, args, {
    cwd: copy,
    // Whether a property is tried with what breaks it must not be a matter of luck.
    env: { PROPERTY_RUNS: '1000' },
    all: true,
    reject: false,
  });
  // Tests that fail make it fail: the report tells which.
  if (!existsSync(report)) throw new Error(`Vitest wrote no report:\n${all}`);
  const { testResults } = JSON.parse(await readFile(report, 'utf8'));
  await rm(report);
  return testResults.flatMap(({ name, assertionResults }) => {
    const file = path.relative(copy, name);
    return assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, status }) => [keyOf([file, fullName.replace(`${file} `, '')]), status]);
  });
}

function keyOf([file, title]) {
  return `${file}\n${title}`;
}
