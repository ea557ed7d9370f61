import {
  chmod,
  link,
  mkdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { HookConsent } from '../../src/trust/consent.js';
import { writeLock } from '../../src/cli/trust/writeLock.js';
import { HookEventName } from '../../src/protocol/types.js';
import { digestOf, withoutMode, type ProjectHook } from '../../src/trust/consentItem.js';
import type { ConsentItem } from '../../src/hooks/entry.js';
import { hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';

const temporary = useTempDir();

const inProject = (file: string) => path.join(temporary.path, 'project', file);
const storeFile = () => path.join(temporary.path, 'home/.llxprt/trusted-hooks.json');

async function write(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(inProject(file)), { recursive: true });
  await writeFile(inProject(file), content);
}

async function read(options: { trustedLock?: string } = {}): Promise<HookConsent> {
  await mkdir(inProject('.'), { recursive: true });
  return HookConsent.read({
    workingDir: inProject('.'),
    home: path.join(temporary.path, 'home'),
    trustedLock: '',
    ...options,
  });
}

function guard(command: string, changes: Partial<ProjectHook> = {}): ProjectHook {
  return { event: HookEventName.BeforeTool, group: {}, config: hook(command), ...changes };
}

async function review(consent: HookConsent, projectHook: ProjectHook) {
  const [found] = await consent.review([projectHook]);
  if (!found) throw new Error('no review');
  return found;
}

/** The folder that consent covers as a whole, and a hook whose script is there. */
const H = '.llxprt/hooks';
const PINNED = `sh ${H}/x.sh`;

beforeEach(() => write(`${H}/x.sh`, `# ${H}/x.sh`));

const edit = (file: string) => () => write(file, 'touch pwned');

const module = () => ({
  extension: 'e',
  directory: inProject('e'),
  entry: { module: 'm.js', stack: 'tool' },
});

async function turn(file: string, target: string): Promise<void> {
  await rm(inProject(file));
  await symlink(target, inProject(file));
}

/** A consent that allows one hook, which still is as it was. */
async function allowing(projectHook: ProjectHook): Promise<HookConsent> {
  const consent = await read();
  await consent.allow([await review(consent, projectHook)]);
  expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
  return consent;
}

describe('consent to a hook', () => {
  it('is missing at first, and is there once it was given, for whoever reads it', async () => {
    const projectHook = guard(PINNED);
    expect(await review(await read(), projectHook)).toMatchObject({ status: 'new' });
    await allowing(projectHook);
    expect(await review(await read(), projectHook)).toMatchObject({ status: 'allowed' });
  });

  it.each<[string, ProjectHook, string]>([
    ['the event', guard(PINNED, { event: HookEventName.AfterTool }), 'its event'],
    ['the matcher', guard(PINNED, { group: { matcher: '.*' } }), 'its matcher'],
    ['the order', guard(PINNED, { group: { sequential: true } }), 'its sequential'],
    ['the dialect', guard(PINNED, { group: { dialect: 'claude' } }), 'its dialect'],
    ['the command', guard(`${PINNED} more`), 'its command'],
    ['the environment', guard('', { config: hook(PINNED, { env: { HOOK_A: '1' } }) }), 'its env'],
    ['the timeout', guard('', { config: hook(PINNED, { timeout: 5000 }) }), 'its timeout'],
    ['onFailure', guard('', { config: hook(PINNED, { onFailure: 'deny' }) }), 'its onFailure'],
  ])('ends when %s changes', async (_, changed, reason) => {
    const consent = await allowing(guard(PINNED));
    expect(await review(consent, changed)).toMatchObject({
      status: 'changed',
      reason: `has changed since it was allowed (${reason})`,
    });
  });

  it('is not that to the same hook of an extension', async () => {
    const consent = await allowing(guard(PINNED));
    const changed = guard(PINNED, { extension: { name: 'e', directory: inProject('e') } });
    expect(await review(consent, changed)).toMatchObject({ status: 'new' });
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['a script', `sh $LLXPRT_PROJECT_DIR/${H}/x.sh`, edit(`${H}/x.sh`)],
    [
      'a script of Claude Code',
      'sh "$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh',
      edit('.claude/hooks/x.sh'),
    ],
    ['a script of Gemini CLI', './.gemini/hooks/x.sh', edit('.gemini/hooks/x.sh')],
    ['a file beside it', PINNED, edit(`${H}/y.sh`)],
    ['a file below it', PINNED, edit(`${H}/lib/z.sh`)],
    ['a file above it', `sh ${H}/lib/z.sh`, edit(`${H}/y.sh`)],
    ['a new file beside it', PINNED, edit(`${H}/new.sh`)],
    ['a new file in a new folder below it', PINNED, edit(`${H}/new/new.sh`)],
    ['a file in a node_modules beside it', PINNED, edit(`${H}/node_modules/a/index.js`)],
    ['a file that goes', PINNED, () => rm(inProject(`${H}/y.sh`))],
    ['the mode of a file', PINNED, () => chmod(inProject(`${H}/y.sh`), 0o755)],
    [
      'a script that another is renamed over',
      PINNED,
      () => rename(inProject('other/x.sh'), inProject(`${H}/x.sh`)),
    ],
    [
      'a folder that another is renamed over',
      PINNED,
      async () => {
        await rename(inProject(H), inProject('old'));
        await rename(inProject('other'), inProject(H));
      },
    ],
    [
      'a folder, to a link to its copy',
      'sh .claude/hooks/x.sh',
      async () => {
        await rename(inProject('.claude'), inProject('.was'));
        await symlink('.was', inProject('.claude'));
      },
    ],
    ['the target of a link', `sh ${H}/link.sh`, () => turn(`${H}/link.sh`, 'y.sh')],
    [
      'the target of a link, to the same bytes',
      `sh ${H}/link.sh`,
      () => turn(`${H}/link.sh`, 'copy.sh'),
    ],
    ['the target of a link beside it', PINNED, () => turn(`${H}/lib/l`, '../y.sh')],
    [
      'the target of a link, to one out of the folder',
      PINNED,
      () => turn(`${H}/lib/l`, '../../../other/x.sh'),
    ],
    ['the file that a link beside it leads to', `sh ${H}/lib/z.sh`, edit(`${H}/x.sh`)],
  ])('ends when %s changes, at the next start', async (_, command, change) => {
    for (const file of ['y.sh', 'lib/z.sh', 'node_modules/a/index.js']) {
      await write(`${H}/${file}`, `# ${file}`);
    }
    for (const folder of ['.claude/hooks', '.gemini/hooks', 'other']) {
      await write(`${folder}/x.sh`, `# ${folder}`);
    }
    await write(`${H}/copy.sh`, `# ${H}/x.sh`);
    await symlink('x.sh', inProject(`${H}/link.sh`));
    await symlink('../x.sh', inProject(`${H}/lib/l`));
    const projectHook = guard(command);
    const consent = await allowing(projectHook);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    await change();
    expect(await consent.recheck(projectHook)).toMatch(/^(?:has changed since|was) /);
    expect(await review(await read(), projectHook)).toMatchObject({ status: 'changed' });
  });

  it('ends when a file changes to the same size in no time', async () => {
    await write(`${H}/x.sh`, 'a');
    const projectHook = guard(PINNED);
    const consent = await allowing(projectHook);
    for (const content of 'bcdefgh') {
      await write(`${H}/x.sh`, content);
      expect(await consent.recheck(projectHook)).toContain('x.sh');
      await write(`${H}/x.sh`, 'a');
      expect(await consent.recheck(projectHook)).toBeUndefined();
    }
  });

  it('does not end when nothing but the time of a file changes, or what the hook writes', async () => {
    await write(`${H}/x.sh`, 'a');
    const projectHook = guard(`${PINNED} out.log`);
    const consent = await allowing(projectHook);
    await write(`${H}/x.sh`, 'a');
    await write('out.log', 'said');
    expect(await consent.recheck(projectHook)).toBeUndefined();
  });

  it('counts at once, and is taken back at once, where it was given', async () => {
    const projectHook = guard(PINNED);
    const consent = await read();
    const reviews = await consent.review([projectHook]);
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
    await consent.allow(reviews);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    await consent.forget();
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
  });

  it('is taken back at once, also by another process', async () => {
    const projectHook = guard(PINNED);
    const consent = await allowing(projectHook);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    expect(await (await read()).forget()).toBe(1);
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
  });

  it('answers at once while nothing has changed', async () => {
    const projectHook = guard(PINNED);
    const consent = await allowing(projectHook);
    await vi.waitFor(
      async () => {
        const answer = consent.recheck(projectHook);
        await answer;
        expect(answer).toBeUndefined();
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  it('is looked at once for hooks that start together, and again for those that start later', async () => {
    const hooks = [guard(PINNED), guard(`${PINNED} second`)];
    const consent = await read();
    await vi.waitFor(
      async () => {
        await consent.allow(await consent.review(hooks));
        await consent.review(hooks);
        const answers = hooks.map((each) => consent.recheck(each));
        for (const answer of answers) await answer;
        expect(answers).toEqual([undefined, undefined]);
      },
      { timeout: 10_000, interval: 100 },
    );
    const [first, second] = hooks;
    if (!first || !second) throw new RangeError('There are two hooks');
    expect(consent.recheck(first)).toBeUndefined();
    writeFileSync(inProject(`${H}/x.sh`), 'touch pwned');
    expect(consent.recheck(second)).toBeUndefined();
    await Promise.resolve();
    expect(await consent.recheck(second)).toContain('has changed since');
  });

  it('cannot be given to what was not looked at', async () => {
    expect(await (await read()).recheck(guard(PINNED))).toBe('has not been looked at');
  });
});

describe('a hook of which only the definition can be covered', () => {
  it('is allowed by a yes of its own only', async () => {
    const projectHook = guard('npm test');
    const consent = await read();
    const reviews = await consent.review([projectHook]);
    expect(reviews).toMatchObject([{ status: 'new', class: 'open' }]);
    await consent.allow(reviews);
    expect(await review(consent, projectHook)).toMatchObject({ status: 'new' });
    await consent.allow(reviews, { open: true });
    expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
    await consent.allow(await consent.review([projectHook]));
    expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
  });

  it('needs another yes where it was covered before', async () => {
    const projectHook = guard(PINNED);
    const consent = await allowing(projectHook);
    await symlink('..', inProject(`${H}/up`));
    expect(await consent.recheck(projectHook)).toMatch(
      /^was allowed when it was covered otherwise \(pinned\); now only its definition/,
    );
  });
});

it('a hook that was allowed before its script was there is said to have been open', async () => {
  const projectHook = guard(`sh ${H}/later.sh`);
  const consent = await read();
  await consent.allow(await consent.review([projectHook]), { open: true });
  await write(`${H}/later.sh`, 'true');
  expect(await review(consent, projectHook)).toMatchObject({
    status: 'changed',
    reason: expect.stringContaining('was allowed when it was covered otherwise (open); now its'),
  });
});

/** As the first version wrote it: files that the command named. */
function oldItem(command: string, files: Record<string, string>): ConsentItem {
  const definition = { command, event: 'BeforeTool', type: 'command' };
  const item = { kind: 'hook', definition, files } as const;
  return { ...item, digest: digestOf(item) };
}

async function writeOld(...items: ConsentItem[]): Promise<void> {
  await mkdir(path.dirname(storeFile()), { recursive: true });
  const projects = { [path.join(temporary.path, 'project')]: items };
  await writeFile(storeFile(), JSON.stringify({ version: 1, projects }), { mode: 0o600 });
}

async function digestOfFile(file: string): Promise<string> {
  const { item } = await review(await read(), guard(`sh ${file}`));
  return withoutMode(item.files[file] ?? '');
}

describe('a consent from before there were classes', () => {
  it('counts where it saw all files that are covered now', async () => {
    await write(`${H}/x.sh`, 'a');
    await write(`${H}/y.sh`, 'b');
    const x = oldItem(PINNED, { [`${H}/x.sh`]: await digestOfFile(`${H}/x.sh`) });
    const y = oldItem(`sh ${H}/y.sh`, { [`${H}/y.sh`]: await digestOfFile(`${H}/y.sh`) });
    await writeOld(x, y);
    const consent = await read();
    const projectHook = guard(PINNED);
    expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
    await write(`${H}/y.sh`, 'touch pwned');
    expect(await consent.recheck(projectHook)).toContain(`${H}/y.sh`);
  });

  it('asks again, and says why, where it did not, or the hook is open', async () => {
    await write(`${H}/x.sh`, 'a');
    await write(`${H}/unseen.sh`, 'b');
    await writeOld(
      oldItem(PINNED, { [`${H}/x.sh`]: await digestOfFile(`${H}/x.sh`) }),
      oldItem('npm test', {}),
    );
    const reasons = {
      [PINNED]:
        'was allowed before all files beside its script counted, and has not been allowed with these: .llxprt/hooks/unseen.sh',
      'npm test':
        'was allowed when it was covered otherwise (by the files that its command names); now only its definition',
    };
    for (const [command, reason] of Object.entries(reasons)) {
      expect(await review(await read(), guard(command))).toMatchObject({
        status: 'changed',
        reason: expect.stringContaining(reason),
      });
    }
  });
});

describe('what is refused', () => {
  it.each([
    'PATH',
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'NODE_OPTIONS',
    'BASH_ENV',
    'ENV',
    'PYTHONSTARTUP',
    'DYLD_INSERT_LIBRARIES',
  ])('a hook that sets %s', async (name) => {
    const consent = await read();
    const projectHook = guard('', { config: hook('true', { env: { [name]: '.' } }) });
    const refused = await review(consent, projectHook);
    expect(refused).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining(`its "env" sets ${name}`),
    });
    await consent.allow([refused]);
    expect(await review(consent, projectHook)).toMatchObject({ status: 'refused' });
  });

  it('a file that others may write', async () => {
    const projectHook = guard(PINNED);
    const consent = await allowing(projectHook);
    await chmod(inProject(`${H}/x.sh`), 0o666);
    expect(await consent.recheck(projectHook)).toMatch(
      /^is refused: \.llxprt\/hooks\/x\.sh: other users may write it \(mode 0666\)/,
    );
  });

  it('all hooks of a project that names more than can be checked', async () => {
    const folders = [H, '.claude/hooks', '.gemini/hooks'];
    for (const folder of folders) {
      await write(`${folder}/x.sh`, '');
      await truncate(inProject(`${folder}/x.sh`), 30 * 1024 * 1024);
    }
    const hooks = ['true', ...folders.map((folder) => `sh ${folder}/x.sh`)].map((command) =>
      guard(command),
    );
    const reviews = await (await read()).review(hooks);
    expect(reviews.map(({ status }) => status)).toEqual(hooks.map(() => 'refused'));
    expect(reviews[0]?.reason).toContain('more than 67108864 bytes');
  });

  it('no hook for sharing a folder of many files with many others', async () => {
    await write(`${H}/x.sh`, 'true');
    for (let file = 1; file < 900; file++) await write(`${H}/node_modules/${file}.js`, '');
    const hooks = Array.from({ length: 60 }, (_, index) => guard(`${PINNED} ${index}`));
    const statuses = async () =>
      (await (await read()).review(hooks)).map(({ status, class: covers }) => [status, covers]);
    expect(await statuses()).toEqual(hooks.map(() => ['new', 'pinned']));
    for (let file = 900; file <= 1000; file++) await write(`${H}/node_modules/${file}.js`, '');
    expect(await statuses()).toEqual(hooks.map(() => ['new', 'open']));
  });

  it('a file called __proto__ is a file like any other', async () => {
    await write(`${H}/__proto__`, 'true');
    const projectHook = guard(`sh ${H}/__proto__`);
    const consent = await allowing(projectHook);
    await write(`${H}/__proto__`, 'touch pwned');
    expect(await consent.recheck(projectHook)).toContain('__proto__');
  });
});

describe('the file of consents', () => {
  it('holds the list of a folder once, however many hooks start something in it', async () => {
    await write(`${H}/x.sh`, 'true');
    for (let file = 0; file < 100; file++) await write(`${H}/node_modules/${file}.js`, '');
    const hooks = Array.from({ length: 20 }, (_, index) => guard(`${PINNED} ${index}`));
    const consent = await read();
    await consent.allow(await consent.review(hooks));
    const text = await readFile(storeFile(), 'utf8');
    expect(text.match(/node_modules\/7\.js/g)).toHaveLength(1);
    const again = await (await read()).review(hooks);
    expect(again.map(({ status }) => status)).toEqual(hooks.map(() => 'allowed'));
    await write(`${H}/node_modules/7.js`, 'touch pwned');
    const [changed] = await (await read()).review(hooks);
    expect(changed?.reason).toBe(`has changed since it was allowed (${H}/node_modules/7.js)`);
  });

  it('is not written where it would be larger than what is read, and stays as it was', async () => {
    const consent = await allowing(guard(PINNED));
    const before = await readFile(storeFile(), 'utf8');
    const { item, ...facts } = await review(consent, guard(PINNED));
    const definition = { ...item.definition, name: 'x'.repeat(17 * 1024 * 1024) };
    const large = { ...item, definition };
    const reviews = [{ ...facts, item: { ...large, digest: digestOf(large) } }];
    await expect(consent.allow(reviews)).rejects.toThrow(
      /trusted-hooks\.json would have \d+ bytes, and no more than 16777216 are read of it.*untrust/,
    );
    expect(await readFile(storeFile(), 'utf8')).toBe(before);
    expect(await review(consent, guard(PINNED))).toMatchObject({ status: 'allowed' });
  });

  it('is for the user alone, and holds the projects side by side', async () => {
    await allowing(guard(PINNED));
    const { mode } = await stat(storeFile());
    expect(mode & 0o777).toBe(0o600);
    const folder = await stat(path.dirname(storeFile()));
    expect(folder.mode & 0o777).toBe(0o700);
    const before = await readFile(storeFile(), 'utf8');
    const other = await HookConsent.read({
      workingDir: temporary.path,
      home: path.join(temporary.path, 'home'),
    });
    await other.allow([await review(other, guard(`${PINNED} other`))]);
    await other.forget();
    expect(await readFile(storeFile(), 'utf8')).toBe(before);
  });

  it.each([
    ['others may write it', () => chmod(storeFile(), 0o666), 'other users may write it'],
    ['its group may write it', () => chmod(storeFile(), 0o620), 'other users may write it'],
    ['it is damaged', () => writeFile(storeFile(), '{"version":1'), 'is damaged'],
    ['it is of another kind', () => writeFile(storeFile(), '[]'), 'is damaged'],
  ])('allows nothing when %s', async (_, spoil, problem) => {
    await allowing(guard(PINNED));
    await spoil();
    const consent = await read();
    expect(consent.problems).toEqual([expect.stringContaining(problem)]);
    expect(await review(consent, guard(PINNED))).toMatchObject({ status: 'new' });
    await expect(consent.allow([])).rejects.toThrow(problem);
  });

  it('counts for the directory, whatever link leads there', async () => {
    await allowing(guard(PINNED));
    await symlink(inProject('.'), path.join(temporary.path, 'link'));
    const consent = await HookConsent.read({
      workingDir: path.join(temporary.path, 'link'),
      home: path.join(temporary.path, 'home'),
    });
    expect(await review(consent, guard(PINNED))).toMatchObject({ status: 'allowed' });
  });
});

describe('a hook that says `"shell": "bash"`, as every hook runs', () => {
  it('is the one that was allowed without it, in the consent and in a lock', async () => {
    const plain = guard(PINNED);
    const saying = guard(PINNED, { config: hook(PINNED, { shell: 'bash' }) });
    const consent = await allowing(plain);
    expect(await review(consent, saying)).toMatchObject({ status: 'allowed' });
    const { item } = await review(await read(), plain);
    const locked = await read({ trustedLock: await writeLock(inProject('.'), [item]) });
    expect(await review(locked, saying)).toMatchObject({ status: 'allowed' });
  });
});

describe('a lock', () => {
  it('allows what it lists, on machines that know its digest', async () => {
    const projectHook = guard(PINNED);
    const { item } = await review(await read(), projectHook);
    const digest = await writeLock(inProject('.'), [item]);
    const locked = await read({ trustedLock: digest });
    expect(await review(locked, projectHook)).toMatchObject({ status: 'allowed' });
    expect(await review(locked, guard(`${PINNED} more`))).toMatchObject({ status: 'changed' });
    await write(`${H}/x.sh`, 'touch pwned');
    expect(await locked.recheck(projectHook)).toBe(`has changed since it was allowed (${H}/x.sh)`);
  });

  it('is the same for the same project in another place', async () => {
    const digests: string[] = [];
    for (const name of ['here', 'there']) {
      await write(`${name}/${H}/x.sh`, 'true');
      const consent = await HookConsent.read({ workingDir: inProject(name), home: temporary.path });
      const { item } = await review(consent, guard(`sh "$LLXPRT_PROJECT_DIR"/${H}/x.sh`));
      digests.push(await writeLock(inProject(name), [item]));
    }
    expect(digests[0]).toBe(digests[1]);
  });

  it('allows nothing once it was edited, is gone, or others may write it', async () => {
    const { item } = await review(await read(), guard(PINNED));
    const trustedLock = await writeLock(inProject('.'), [item]);
    const file = inProject('.llxprt/hooks.lock');
    await chmod(file, 0o666);
    expect((await read({ trustedLock })).problems).toEqual([
      expect.stringContaining('other users may write it'),
    ]);
    await chmod(file, 0o644);
    await writeFile(file, `${await readFile(file, 'utf8')} `);
    const edited = await read({ trustedLock });
    expect(edited.problems).toEqual([expect.stringContaining(`not ${trustedLock}`)]);
    expect(await review(edited, guard(PINNED))).toMatchObject({ status: 'new' });
    await rm(file);
    expect((await read({ trustedLock })).problems).toEqual([
      expect.stringContaining('does not exist'),
    ]);
  });
});

describe('consent to a middleware module', () => {
  it.each<[string, () => Promise<void>]>([
    ['its own file', () => write('e/m.js', 'changed')],
    ['a file that it may import', () => write('e/lib/deep/n.js', 'changed')],
    ['a new file', () => write('e/lib/o.js', '')],
  ])('ends when %s changes', async (_, change) => {
    await write('e/m.js', 'a');
    await write('e/lib/deep/n.js', 'a');
    const consent = await read();
    await consent.allow(await consent.reviewModules([module()]));
    expect(await consent.reviewModules([module()])).toMatchObject([{ status: 'allowed' }]);
    await change();
    expect(await consent.reviewModules([module()])).toMatchObject([{ status: 'changed' }]);
  });

  it('ends when its entry changes', async () => {
    await write('e/m.js', 'a');
    const consent = await read();
    await consent.allow(await consent.reviewModules([module()]));
    const changed = { ...module(), entry: { ...module().entry, policy: true } };
    expect(await consent.reviewModules([changed])).toMatchObject([
      { status: 'changed', reason: 'has changed since it was allowed (its policy)' },
    ]);
  });

  it('is refused for a folder of too many files, or with a link to another', async () => {
    await write('e/m.js', 'a');
    for (let index = 0; index < 1001; index++)
      await link(inProject('e/m.js'), inProject(`e/${index}.js`));
    const consent = await read();
    expect(await consent.reviewModules([module()])).toMatchObject([
      { status: 'refused', reason: expect.stringContaining('more than 1000 files') },
    ]);
    await rm(inProject('e'), { recursive: true });
    await write('e/m.js', 'a');
    await symlink('..', inProject('e/up'));
    expect(await consent.reviewModules([module()])).toMatchObject([
      { status: 'refused', reason: expect.stringContaining('link to a folder') },
    ]);
  });
});

function started(command: string, args: readonly string[]): ProjectHook {
  return guard(command, { config: hook(command, { args }) });
}

describe('consent to a program with arguments', () => {
  it.each([
    ['pinned', 'bash', [`${H}/guard.sh`, '$(x)']],
    ['pinned', 'bash', [`${H}/größe.sh`]],
    ['pinned', `\${CLAUDE_PROJECT_DIR}/${H}/guard.sh`, []],
    ['open', 'jq', ['-e', '.tool_input']],
    ['open', 'bash', ['guard.sh']],
    ['open', 'bash', ['-c', `${H}/guard.sh`]],
    ['open', 'bash', ['-euo pipefail', `${H}/guard.sh`]],
    ['open', 'bash', ['pipefail', `${H}/guard.sh`]],
    ['open', 'bash', []],
    ['open', 'make', ['guard']],
    ['open', 'bash', ['../guard.sh']],
    ['open', 'bash', [`${H}/*.sh`]],
  ] as const)('is %s: %s %j', async (covers, command, args) => {
    for (const file of [`${H}/guard.sh`, `${H}/größe.sh`, 'guard.sh', 'pipefail']) {
      await write(file, '#!/bin/bash\n');
    }
    expect(await review(await read(), started(command, args))).toMatchObject({ class: covers });
  });

  it('is asked for again when an argument, or the script that it names, has changed', async () => {
    await write(`${H}/guard.sh`, 'exit 2\n');
    const consent = await allowing(started('bash', [`${H}/guard.sh`, 'a']));
    const changed = await review(consent, started('bash', [`${H}/guard.sh`, 'b']));
    expect(changed).toMatchObject({ status: 'changed', reason: expect.stringContaining('args') });
    expect(await review(consent, guard('bash'))).toMatchObject({ status: 'changed' });
    await edit(`${H}/guard.sh`)();
    expect(await review(consent, started('bash', [`${H}/guard.sh`, 'a']))).toMatchObject({
      status: 'changed',
    });
  });
});
