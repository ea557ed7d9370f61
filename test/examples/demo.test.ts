import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const DEMO = path.resolve(import.meta.dirname, '../../examples/demo');
const ANNOTATED = 'tool result annotated';
const EFFECTS = [
  'tool call blocked',
  'tool call rewritten',
  ANNOTATED,
  'request changed',
  'answer redacted',
  'tool choice restricted',
  'agent stopped',
];

let temporary: string;
let hasPython: boolean;

beforeAll(async () => {
  temporary = await mkdtemp(path.join(os.tmpdir(), 'hookstack-test-'));
  hasPython = !(await execa('python3', ['--version'], { reject: false })).failed;
});

afterAll(() => rm(temporary, { recursive: true }));

describe('the demo', () => {
  it('shows each of the seven effects on what really happened, in plain text', async () => {
    const { stdout, stderr } = await runDemo();

    expect(effectsIn(stdout)).toEqual(
      EFFECTS.map((title) => [title === ANNOTATED && !hasPython ? 'skipped' : 'done', title]),
    );
    expect(stdout).toContain('tool   read_file: idle, .env holds secrets.');
    expect(stdout).toContain('drafts/summary.md exists, summary.md does not');
    expect(stdout).toContain('the model read "I am [e-mail address].');
    expect(stdout).toContain('  model  Ada paid order 1042 with card [card number].');
    expect(stdout).toContain('the call of run_shell_command was refused');
    expect(stdout).toContain('at AfterTool, "Please review drafts/summary.md."');
    expect(stdout).not.toContain('\u001b');
    if (!hasPython) return;
    expect(stdout).toContain('together they are 128.40 euros');
    expect(stdout).toContain('7 of 7 effects happened.');
    expect(stderr).toBe('');
  });

  it('says so and goes on where there is no python3', async () => {
    const { stdout } = await runDemo({ env: { PATH: await makePathWithoutPython() } });

    expect(effectsIn(stdout)).toEqual(
      EFFECTS.map((title) => [title === ANNOTATED ? 'skipped' : 'done', title]),
    );
    expect(stdout).toContain('its hook needs python3');
    expect(stdout).toContain('6 of 7 effects happened, 1 skipped.');
  });

  it('fails when the hooks have no effect', async () => {
    const workspace = await copyWorkspace('.llxprt/settings.json', '{ "enableHooks": false }');

    const { stdout, exitCode } = await runDemo({ reject: false }, workspace);

    expect(exitCode).toBe(1);
    expect(missingIn(stdout)).toEqual(EFFECTS.filter((title) => title !== ANNOTATED || hasPython));
    expect(stdout).toContain('0 of 7 effects happened');
  });

  it.each([
    ['protect-env.sh', 'tool call blocked'],
    ['drafts-only.mjs', 'tool call rewritten'],
    ['mask-email.mjs', 'request changed'],
    ['redact-cards.mjs', 'answer redacted'],
    ['files-only.sh', 'tool choice restricted'],
    ['ask-for-review.mjs', 'agent stopped'],
  ])('fails when %s has lost its effect', async (hook, effect) => {
    const workspace = await copyWorkspace(`.llxprt/hooks/${hook}`, '');

    const { stdout, exitCode } = await runDemo({ reject: false }, workspace);

    expect(exitCode).toBe(1);
    expect(missingIn(stdout)).toEqual([effect]);
  });
});

function runDemo(
  options: { env?: Record<string, string>; reject?: boolean } = {},
  workspace?: string,
) {
  const args = [path.join(DEMO, 'demo.mjs'), ...(workspace ? [workspace] : [])];
  return execa(process.execPath, args, options);
}

/** State and title of each line of the summary, in order. */
function effectsIn(stdout: string): [state: string, title: string][] {
  const lines = stdout.matchAll(/^ {2}(done|skipped|MISSING) +([^:\n]+)/gm);
  return Array.from(lines, ([, state = '', title = '']) => [state, title]);
}

function missingIn(stdout: string): string[] {
  return effectsIn(stdout).flatMap(([state, title]) => (state === 'MISSING' ? [title] : []));
}

/** A copy of the prepared workspace in which one file says something else. */
async function copyWorkspace(file: string, content: string): Promise<string> {
  const workspace = await mkdtemp(path.join(temporary, 'workspace-'));
  await cp(path.join(DEMO, 'workspace'), workspace, { recursive: true });
  await writeFile(path.join(workspace, file), content);
  return workspace;
}

async function makePathWithoutPython(): Promise<string> {
  const directory = await mkdtemp(path.join(temporary, 'bin-'));
  const { stdout } = await execa('bash', ['-c', 'type -P bash && type -P cat']);
  for (const file of [process.execPath, ...stdout.split('\n')]) {
    await symlink(file, path.join(directory, path.basename(file)));
  }
  return directory;
}
