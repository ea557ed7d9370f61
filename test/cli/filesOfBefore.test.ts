import { chmod, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';
import { answerTo, shownTo, signIn, startServer } from '../fleet/approvalHelpers.js';
import { collectOnce, readCollected } from '../fleet/recordHelpers.js';
import { Cli } from './helpers.js';

// Each file here was written by the program of the version before: see README.md of the folder.
const FILES = path.join(import.meta.dirname, '../fixtures/written-by-fa64d5b/files');

const cli = new Cli();
const temporary = useTempDir();
const at = (...names: string[]) => path.join(temporary.path, ...names);
const read = (file: string) => readFile(at(file), 'utf8');

beforeEach(() => restore(FILES, temporary.path));

/** Puts the files of that version where a user would have them, of that user alone. */
async function restore(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const target = path.join(to, entry.name === '@modules@' ? 'node_modules' : entry.name);
    const source = path.join(from, entry.name);
    if (entry.isDirectory()) await restore(source, target);
    else await restoreFile(source, target);
  }
}

async function restoreFile(source: string, target: string): Promise<void> {
  const text = (await readFile(source, 'utf8'))
    .replaceAll('@BASE@', temporary.path)
    .replaceAll('@DIST@', '/opt/node_modules/hookstack/dist')
    .replaceAll('@NODE@', process.execPath);
  await writeFile(target, text);
  const isProgram = ((await stat(source)).mode & 0o100) !== 0;
  await chmod(target, isProgram ? 0o755 : 0o600);
}

interface Asked {
  readonly home?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a command of today in one of the projects. */
function run(project: string, args: readonly string[], { home = 'home', env }: Asked = {}) {
  return cli.run(args, { cwd: at(project), env: { HOME: at(home), ...env } });
}

/** Has a file written, with a name that hooks look at. */
function write(project: string, file: string, asked?: Asked) {
  const input = JSON.stringify({ file_path: file, content: '' });
  return run(project, ['fire', 'BeforeTool', '--input', input], asked);
}

async function change(file: string, from: string, to: string): Promise<void> {
  const text = await read(file);
  expect(text).toContain(from);
  await writeFile(at(file), text.replace(from, to));
}

interface Listed {
  readonly hook: string;
  readonly enabled: boolean;
  readonly reason: string | null;
}

async function list(project: string): Promise<Record<string, Pick<Listed, 'enabled' | 'reason'>>> {
  const { stdout } = await run(project, ['list', '--json']);
  const { hooks } = JSON.parse(stdout) as { hooks: Listed[] };
  return Object.fromEntries(hooks.map(({ hook, enabled, reason }) => [hook, { enabled, reason }]));
}

/** A machine without consents, which knows the digest of the lock. */
const locked = async (project: string) => ({
  home: 'nobody',
  env: { HOOKSTACK_TRUST_LOCK: await read(`${project}/digest.txt`) },
});

const withoutSpace = (text: string) => text.replaceAll(/\s+|,(?=\s*[\]}])/gu, '');

/** What `list` says of a hook whose folder was covered before. */
const otherwise = (why: string) => ({
  enabled: false,
  reason: expect.stringMatching(
    new RegExp(
      `it was allowed when it was covered otherwise \\(pinned\\); now only its definition is covered: what it runs may change unasked, because ${why}`,
      'u',
    ),
  ),
});

/** One hook there is persistent. */
const ORDINARY = expect.stringMatching(
  /^note: persistent hooks ran here for one event alone[^\n]*$/u,
) as string;

const ALLOWED = { exitCode: 0, stdout: 'All is allowed.', stderr: '' };
const ACTIVE = { enabled: true, reason: null };

describe('settings of project and user with every key', () => {
  const asUser = { home: 'homeOfSettings', env: { POLICY_TOKEN: 'x' } };

  it('are read as they were: the same hooks, with the same columns', async () => {
    const listed = await run('settings', ['list', '--json'], asUser);
    expect(listed).toMatchObject({ exitCode: 0, stderr: '' });
    const before = JSON.parse(await read('settings/list.json')) as { hooks: object[] };
    // Columns that there were none of then.
    const hooks = before.hooks.map((hook) => ({ ...hook, async: null, verdict: null, when: [] }));
    expect(JSON.parse(listed.stdout)).toEqual({ ...before, hooks });
    expect(before.hooks).toHaveLength(48);
  });

  it.each([
    { args: ['validate'], stdout: '2 files: 0 errors, 0 warnings' },
    { args: ['trust', '--check'], stdout: 'All is allowed.' },
    { args: ['explain', 'BeforeTool'], stdout: 'BeforeTool: 14 hooks run' },
    { args: ['explain', 'Notification'], stdout: 'Notification: 2 hooks run' },
    { args: ['stack'], stdout: 'beforeTool' },
  ])('$args find nothing wrong', async ({ args, stdout }) => {
    const said = await run('settings', args, asUser);
    expect(said).toMatchObject({ exitCode: 0, stderr: '' });
    expect(said.stdout).toContain(stdout);
    expect(said.stdout).not.toContain('untrusted');
  });
});

describe('consents', () => {
  it('count unasked for scripts, persistent hooks, hooks of extensions, middleware and settings', async () => {
    expect(await run('pinned', ['trust', '--check'])).toEqual(ALLOWED);
    expect(await list('pinned')).toEqual({
      'of-extension': ACTIVE,
      pinned: ACTIVE,
      kept: ACTIVE,
      off: { enabled: false, reason: expect.stringContaining('disabled by name') },
    });
    expect(await write('pinned', 'a')).toMatchObject({ exitCode: 0, stderr: ORDINARY });
    for (const [file, hook] of [
      ['secret', 'pinned'],
      ['extension', 'of-extension'],
      ['persistent', 'kept'],
    ] as const) {
      const fired = await write('pinned', file);
      expect(fired).toMatchObject({ exitCode: 2, stderr: ORDINARY });
      expect(fired.stdout).toContain(`decided by: ${hook}`);
    }
    const responses = ['--responses', at('recorded/model.responses'), '--no-transcript'];
    const ran = await run('pinned', ['run', 'Go', ...responses, '--output-format', 'json']);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      toolCalls: [{ llmContent: 'No a.txt' }, { llmContent: 'No secrets' }],
    });
  });

  it('do not count for a script that has changed: its guard denies, and the change is shown', async () => {
    await change('pinned/.llxprt/hooks/guard.sh', 'exit 2', 'exit 0');
    expect(await write('pinned', 'a')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('has changed since it was allowed'),
    });
    const shown = await run('pinned', ['trust']);
    expect(shown.exitCode).toBe(1);
    expect(shown.stdout).toContain('-if grep -q secret; then echo "No secrets" >&2; exit 2; fi\n');
  });

  it('do not count where the file of consents has been changed by hand', async () => {
    await change('home/.llxprt/trusted-hooks.json', '"name": "pinned"', '"name": "Pinned"');
    const checked = await run('pinned', ['trust', '--check']);
    expect(checked.exitCode).toBe(1);
    expect(checked.stderr).toContain('not allowed: 1 hook');
  });

  it('are asked about again, with the reason, where node_modules lie beside the script', async () => {
    const { exitCode, stdout } = await run('beside', ['trust', '--check']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      'it was allowed before all files beside its script counted, and has not been allowed with these: .claude/hooks/node_modules/helper/index.js',
    );
    expect((await write('beside', 'a')).exitCode).toBe(2);
    expect((await run('beside', ['trust', '--yes'])).exitCode).toBe(0);
    expect(await write('beside', 'a')).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await write('beside', 'secret')).exitCode).toBe(2);
  });

  it('of what was open count unasked', async () => {
    expect(await run('open', ['trust', '--check'])).toEqual(ALLOWED);
    expect(await write('open', 'a')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await write('open', 'secret')).toMatchObject({ exitCode: 2, stderr: '' });
  });

  it('of what was pinned and is open now are asked about again, with the reason', async () => {
    expect(await list('otherwise')).toEqual({
      line: otherwise('it has ";"'),
      elsewhere: otherwise('it has sh run scripts/note.sh'),
      filter: otherwise('it starts jq'),
    });
    expect((await write('otherwise', 'a')).exitCode).toBe(2);
    expect((await run('otherwise', ['trust', '--yes', '--open'])).exitCode).toBe(0);
    expect(await write('otherwise', 'a')).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await write('otherwise', 'line')).exitCode).toBe(2);
    expect((await write('otherwise', 'filter')).exitCode).toBe(2);
  });

  it('of all projects stay when one is renewed', async () => {
    await run('pinned', ['trust', '--yes']);
    await run('beside', ['trust', '--yes']);
    for (const project of ['pinned', 'beside', 'open', 'recorded', 'switched']) {
      expect(await run(project, ['trust', '--check'])).toEqual(ALLOWED);
    }
  });
});

describe('a lock', () => {
  it.each(['locked', 'lockedOpen'])('holds, and denies what it denied: %s', async (project) => {
    const asked = await locked(project);
    expect(await write(project, 'a', asked)).toMatchObject({ exitCode: 0, stderr: '' });
    const fired = await write(project, 'secret', asked);
    expect(fired).toMatchObject({ exitCode: 2, stderr: '' });
    expect(fired.stdout).toContain('No secrets');
  });

  it('denies all, with the reason, where a guard of it is open now', async () => {
    const asked = await locked('lockedLine');
    const fired = await write('lockedLine', 'a', asked);
    expect(fired.exitCode).toBe(2);
    expect(fired.stderr).toContain('it was allowed when it was covered otherwise (pinned)');
    const again = await run('lockedLine', ['trust', '--lock', '--open'], { home: 'nobody' });
    expect(again.exitCode).toBe(0);
    const digest = /sha256:[\da-f]{64}/u.exec(again.stdout)?.[0];
    const env = { HOOKSTACK_TRUST_LOCK: digest };
    expect(await write('lockedLine', 'a', { home: 'nobody', env })).toMatchObject({ exitCode: 0 });
    expect(await write('lockedLine', 'line', { home: 'nobody', env })).toMatchObject({
      exitCode: 2,
      stderr: '',
    });
  });

  it('that is not the one of the digest allows nothing', async () => {
    const asked = await locked('locked');
    await change('locked/.llxprt/hooks.lock', '"pinned"', '"Pinned"');
    const fired = await write('locked', 'secret', asked);
    expect(fired.stdout).not.toContain('No secrets');
    expect(fired.stderr).toMatch(/hooks\.lock is sha256:[\da-f]{64}, not sha256:/u);
  });
});

describe('what was recorded', () => {
  it('is told by trace: as a tree, as a page, the slowest', async () => {
    const told = await run('recorded', ['trace', 'run.trace.jsonl']);
    expect(told).toMatchObject({ exitCode: 0, stderr: '' });
    for (const line of [
      '\n  turn 2 result of write_file',
      '\n    tool write_file secret.txt, content: b block',
      '\n        hook kept (BeforeTool) write_file secret.txt, content: b  ',
      '+ changed',
      'No secrets',
    ]) {
      expect(told.stdout).toContain(line);
    }
    const page = await run('recorded', ['trace', 'run.trace.jsonl', '--html', 'page.html']);
    expect(page.exitCode).toBe(0);
    expect(await read('recorded/page.html')).toContain('No secrets');
    const slowest = await run('recorded', ['trace', 'run.trace.jsonl', '--slowest', '3']);
    expect(slowest.exitCode).toBe(0);
  });

  it('is fired again from a trace, with the same verdict', async () => {
    const fired = await run('recorded', ['fire', '--from-trace', 'fire.trace.jsonl']);
    expect(fired).toMatchObject({ exitCode: 2, stderr: ORDINARY });
    expect(fired.stdout).toContain('Verdict: blocked: No secrets\n  decided by: pinned');
  });

  it('is added to: a trace and a transcript go on', async () => {
    const transcript = await read('recorded/transcript.jsonl');
    const args = ['--transcript', 'transcript.jsonl', '--trace', 'run.trace.jsonl'];
    const ran = await run('recorded', ['run', 'Go', '--responses', 'model.responses', ...args]);
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'Done' });
    const now = await read('recorded/transcript.jsonl');
    expect(now.startsWith(transcript)).toBe(true);
    expect(now.length).toBeGreaterThan(transcript.length);
    const told = await run('recorded', ['trace', 'run.trace.jsonl']);
    expect(told.stdout.match(/^session /gmu)).toHaveLength(2);
  });

  it('answers in the place of the model, and hooks decide as they did', async () => {
    const args = ['--responses', 'model.responses', '--no-transcript', '--output-format', 'json'];
    const ran = await run('recorded', ['run', 'Go', ...args]);
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({
      response: 'Done',
      toolCalls: [
        { input: { content: 'changed' }, status: 'success' },
        { blocked: { reason: 'No secrets', hooks: ['pinned'] } },
      ],
    });
  });

  it('holds as tests, and doctor finds nothing wrong', async () => {
    const tested = await run('recorded', ['test']);
    expect(tested).toMatchObject({ exitCode: 0, stderr: ORDINARY });
    expect(tested.stdout).toContain('4 passed, 0 failed');
    const doctor = await run('recorded', ['doctor']);
    expect(doctor).toMatchObject({ exitCode: 0, stderr: '' });
    expect(doctor.stdout).toContain('4 of 4 hooks run, 0 with something wrong');
  });

  it('fails as a test where a hook says something else', async () => {
    await change('recorded/.llxprt/tests/changed.hooktest.json', '"changed"', '"Changed"');
    const tested = await run('recorded', ['test']);
    expect(tested.exitCode).toBe(1);
    expect(tested.stdout).toContain('3 passed, 1 failed');
  });
});

describe('what other agents were given', () => {
  it.each([
    { file: '.claude/settings.json', args: ['install', '--into', 'claude'] },
    {
      file: '.claude/settings.local.json',
      args: ['install', '--into', 'claude', '--scope', 'local', '--strict'],
    },
    { file: '.gemini/settings.json', args: ['install', '--into', 'gemini'] },
    { file: '.mcp.json', args: ['mcp', 'install', '--into', '.mcp.json'] },
  ])(
    '$file is found to be in place, but for what is covered by now, and taken back',
    async ({ file, args }) => {
      const written = await read(`installed/${file}`);
      expect((await run('installed', args)).exitCode).toBe(0);
      const now = await read(`installed/${file}`);
      if (file.startsWith('.claude')) expect(now).toContain('PostToolBatch');
      else if (file === '.mcp.json') expect(now).toContain('"--url", "https://example.com/mcp"');
      else expect(now).toBe(written);
      const undo = args.filter((word) => word !== '--strict');
      expect((await run('installed', [...undo, '--undo'])).exitCode).toBe(0);
      expect(withoutSpace(await read(`installed/${file}`))).toBe(
        withoutSpace(await read(`beforeInstalled/${file}`)),
      );
    },
  );
});

it('the switch holds, and enable takes it back', async () => {
  expect(await write('switched', 'a')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await list('switched')).toEqual({
    pinned: ACTIVE,
    other: { enabled: false, reason: expect.stringContaining('disabled by name') },
  });
  expect((await run('switched', ['enable', 'other'])).exitCode).toBe(0);
  expect(await run('switched', ['trust', '--check'])).toEqual(ALLOWED);
  expect((await write('switched', 'a')).exitCode).toBe(2);
});

it('spans that could not be sent to the record of a fleet are sent', async () => {
  const nats = await startNats();
  try {
    await collectOnce(nats, temporary.path);
    const spool = at('homeOfSettings/.llxprt/fleet/acme.one');
    const [file = ''] = await readdir(spool);
    // Another machine's are taken once they are an hour old.
    await utimes(path.join(spool, file), 0, 0);
    const fleet = {
      url: `${nats.url}/acme/one`,
      tokenFile: '~/.llxprt/policy.token',
      record: true,
    };
    await writeFile(at('homeOfSettings/.llxprt/settings.json'), JSON.stringify({ fleet }));
    await writeFile(at('homeOfSettings/.llxprt/policy.token'), FLEET_SECRETS.one, { mode: 0o600 });
    await rename(at('settings/.llxprt/settings.json'), at('settings/unused.json'));
    await run('settings', ['fire', 'SessionEnd'], { home: 'homeOfSettings' });
    expect(await readdir(spool)).toEqual([]);
    await collectOnce(nats, temporary.path);
    const collected = await readCollected(temporary.path);
    expect(collected.filter(({ kind }) => kind === 'hook').map(({ name }) => name)).toEqual(
      expect.arrayContaining(['project-start', 'user-start']),
    );
  } finally {
    await nats.dispose();
  }
});

it('a question that waits for a person is shown, and answered by one', async () => {
  const nats = await startNats();
  const server = await startServer(nats);
  try {
    const { key, value } = JSON.parse(await read('question.json')) as Record<
      'key' | 'value',
      string
    >;
    const { Kvm } = await import('@nats-io/kv');
    const bucket = await new Kvm(server.nc).open('hookstack_approvals');
    await bucket.create(key, value);
    const anna = await signIn(server.origin, 'token-of-anna-0123456789');
    const shown = await shownTo(anna, key);
    expect(shown.from).toBe('acme/one');
    expect((await answerTo(anna, shown, { decision: 'allow' })).status).toBe(200);
    expect(server.lines).toContain('anna allowed acme/one (run_shell_command)');
  } finally {
    await server.kill();
    await nats.dispose();
  }
});
