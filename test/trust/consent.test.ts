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
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { HookConsent } from '../../src/trust/consent.js';
import { writeLock } from '../../src/trust/hooksLock.js';
import { HookEventName } from '../../src/protocol/types.js';
import { digestOf, type ProjectHook } from '../../src/trust/consentItem.js';
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

async function open(options: { trustedLock?: string } = {}): Promise<HookConsent> {
  await mkdir(inProject('.'), { recursive: true });
  return HookConsent.open({
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
  const consent = await open();
  await consent.allow([await review(consent, projectHook)]);
  expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
  return consent;
}

describe('consent to a hook', () => {
  it('is missing at first, and is there once it was given, for whoever reads it', async () => {
    const projectHook = guard('true');
    expect(await review(await open(), projectHook)).toMatchObject({ status: 'new' });
    await allowing(projectHook);
    expect(await review(await open(), projectHook)).toMatchObject({ status: 'allowed' });
  });

  it.each<[string, ProjectHook, string]>([
    ['the event', guard('sh x.sh', { event: HookEventName.AfterTool }), 'its event'],
    ['the matcher', guard('sh x.sh', { group: { matcher: '.*' } }), 'its matcher'],
    ['the order', guard('sh x.sh', { group: { sequential: true } }), 'its sequential'],
    ['the dialect', guard('sh x.sh', { group: { dialect: 'claude' } }), 'its dialect'],
    ['the command', guard('sh x.sh; true'), 'its command'],
    [
      'the environment',
      guard('', { config: hook('sh x.sh', { env: { HOOK_A: '1' } }) }),
      'its env',
    ],
    ['the timeout', guard('', { config: hook('sh x.sh', { timeout: 5000 }) }), 'its timeout'],
    ['onFailure', guard('', { config: hook('sh x.sh', { onFailure: 'deny' }) }), 'its onFailure'],
  ])('ends when %s changes', async (_, changed, reason) => {
    await write('x.sh', 'true');
    const consent = await allowing(guard('sh x.sh'));
    expect(await review(consent, changed)).toMatchObject({
      status: 'changed',
      reason: `has changed since it was allowed (${reason})`,
    });
  });

  it('is not that to the same hook of an extension', async () => {
    const consent = await allowing(guard('true'));
    const changed = guard('true', { extension: { name: 'e', directory: inProject('e') } });
    expect(await review(consent, changed)).toMatchObject({ status: 'new' });
  });

  it.each<[string, string, () => Promise<unknown>]>([
    ['a script', 'sh $LLXPRT_PROJECT_DIR/hooks/x.sh', edit('hooks/x.sh')],
    ['a script of the project itself', 'sh x.sh', edit('x.sh')],
    ['a file beside it', 'sh hooks/x.sh', edit('hooks/y.sh')],
    ['a file below it', 'sh hooks/x.sh', edit('hooks/lib/z.sh')],
    ['a new file beside it', 'sh hooks/x.sh', edit('hooks/new.sh')],
    ['a new file in a new folder below it', 'sh hooks/x.sh', edit('hooks/new/new.sh')],
    ['a file that goes', 'sh hooks/x.sh', () => rm(inProject('hooks/y.sh'))],
    ['the second script', 'sh hooks/x.sh && sh x.sh', edit('x.sh')],
    ['a script that goes', 'sh x.sh || sh hooks/x.sh', () => rm(inProject('x.sh'))],
    ['a file that a program of the machine reads', 'grep -f x.sh', edit('x.sh')],
    [
      'a script that another is renamed over',
      'sh x.sh',
      () => rename(inProject('hooks/y.sh'), inProject('x.sh')),
    ],
    [
      'a folder that another is renamed over',
      'sh hooks/x.sh',
      async () => {
        await rename(inProject('hooks'), inProject('old'));
        await rename(inProject('other'), inProject('hooks'));
      },
    ],
    ['a folder that a link leads to', 'sh way/x.sh', () => turn('way', 'other')],
    ['the target of a link', 'sh link.sh', () => turn('link.sh', 'hooks/y.sh')],
    ['the target of a link, to the same bytes', 'sh link.sh', () => turn('link.sh', 'copy.sh')],
    ['the target of a link beside it', 'sh links/x.sh', () => turn('links/l', '../hooks/y.sh')],
    ['the file that a link beside it leads to', 'sh links/x.sh', edit('x.sh')],
  ])('ends when %s changes, at the next start', async (_, command, change) => {
    for (const file of ['x.sh', 'hooks/x.sh', 'hooks/y.sh', 'hooks/lib/z.sh', 'links/x.sh']) {
      await write(file, `# ${file}`);
    }
    await write('copy.sh', '# x.sh');
    await write('other/x.sh', '# another');
    await symlink('hooks', inProject('way'));
    await symlink('x.sh', inProject('link.sh'));
    await symlink('../x.sh', inProject('links/l'));
    const projectHook = guard(command);
    const consent = await allowing(projectHook);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    await change();
    expect(await consent.recheck(projectHook)).toMatch(/^(?:has changed since|was) /);
    expect(await review(await open(), projectHook)).toMatchObject({ status: 'changed' });
  });

  it('ends when a file changes to the same size in no time', async () => {
    await write('x.sh', 'a');
    const projectHook = guard('sh x.sh');
    const consent = await allowing(projectHook);
    for (const content of 'bcdefgh') {
      await write('x.sh', content);
      expect(await consent.recheck(projectHook)).toContain('x.sh');
      await write('x.sh', 'a');
      expect(await consent.recheck(projectHook)).toBeUndefined();
    }
  });

  it('does not end when nothing but the time of a file changes, or what the hook writes', async () => {
    await write('hooks/x.sh', 'a');
    const projectHook = guard('sh hooks/x.sh >> out.log');
    const consent = await allowing(projectHook);
    await write('hooks/x.sh', 'a');
    await write('out.log', 'said');
    expect(await consent.recheck(projectHook)).toBeUndefined();
  });

  it('counts at once, and is taken back at once, where it was given', async () => {
    const projectHook = guard('true');
    const consent = await open();
    const reviews = await consent.review([projectHook]);
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
    await consent.allow(reviews);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    await consent.forget();
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
  });

  it('is taken back at once, also by another process', async () => {
    const projectHook = guard('true');
    const consent = await allowing(projectHook);
    expect(await consent.recheck(projectHook)).toBeUndefined();
    expect(await (await open()).forget()).toBe(1);
    expect(await consent.recheck(projectHook)).toBe('has not been allowed yet');
  });

  it('answers at once while nothing has changed', async () => {
    await write('x.sh', 'a');
    const projectHook = guard('sh x.sh');
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

  it('cannot be given to what was not looked at', async () => {
    expect(await (await open()).recheck(guard('true'))).toBe('has not been looked at');
  });
});

describe('a hook of which only the definition can be covered', () => {
  it('is allowed by a yes of its own only', async () => {
    const projectHook = guard('npm test');
    const consent = await open();
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
    await write('hooks/x.sh', 'true');
    const projectHook = guard('sh hooks/x.sh');
    const consent = await allowing(projectHook);
    await symlink('..', inProject('hooks/up'));
    expect(await consent.recheck(projectHook)).toMatch(
      /^was allowed when it was covered otherwise \(pinned\); now only its definition/,
    );
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
  const { item } = await review(await open(), guard(`sh ${file}`));
  return item.files[file] ?? '';
}

describe('a consent from before there were classes', () => {
  it('counts where it saw all files that are covered now', async () => {
    await write('hooks/x.sh', 'a');
    await write('hooks/y.sh', 'b');
    const x = oldItem('sh hooks/x.sh', { 'hooks/x.sh': await digestOfFile('hooks/x.sh') });
    const y = oldItem('sh hooks/y.sh', { 'hooks/y.sh': await digestOfFile('hooks/y.sh') });
    await writeOld(x, y);
    const consent = await open();
    const projectHook = guard('sh hooks/x.sh');
    expect(await review(consent, projectHook)).toMatchObject({ status: 'allowed' });
    await write('hooks/y.sh', 'touch pwned');
    expect(await consent.recheck(projectHook)).toContain('hooks/y.sh');
  });

  it('asks again, and says why, where it did not, or the hook is open', async () => {
    await write('hooks/x.sh', 'a');
    await write('hooks/unseen.sh', 'b');
    await writeOld(
      oldItem('sh hooks/x.sh', { 'hooks/x.sh': await digestOfFile('hooks/x.sh') }),
      oldItem('npm test', {}),
    );
    const reasons = {
      'sh hooks/x.sh':
        'was allowed before all files beside its script counted, and has not been allowed with these: hooks/unseen.sh',
      'npm test':
        'was allowed when it was covered otherwise (by the files that its command names); now only its definition',
    };
    for (const [command, reason] of Object.entries(reasons)) {
      expect(await review(await open(), guard(command))).toMatchObject({
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
    const consent = await open();
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
    await write('x.sh', 'true');
    const projectHook = guard('sh x.sh');
    const consent = await allowing(projectHook);
    await chmod(inProject('x.sh'), 0o666);
    expect(await consent.recheck(projectHook)).toMatch(
      /^is refused: x\.sh: other users may write it \(mode 0666\)/,
    );
  });

  it('all hooks of a project that names more than can be checked', async () => {
    for (const name of ['a', 'b', 'c']) {
      await write(`${name}.sh`, '');
      await truncate(inProject(`${name}.sh`), 30 * 1024 * 1024);
    }
    const hooks = ['true', 'sh a.sh', 'sh b.sh', 'sh c.sh'].map((command) => guard(command));
    const reviews = await (await open()).review(hooks);
    expect(reviews.map(({ status }) => status)).toEqual(hooks.map(() => 'refused'));
    expect(reviews[0]?.reason).toContain('more than 67108864 bytes');
  });

  it('a file called __proto__ is a file like any other', async () => {
    await write('__proto__', 'true');
    const projectHook = guard('sh ./__proto__');
    const consent = await allowing(projectHook);
    await write('__proto__', 'touch pwned');
    expect(await consent.recheck(projectHook)).toContain('__proto__');
  });
});

describe('the file of consents', () => {
  it('is for the user alone, and holds the projects side by side', async () => {
    await allowing(guard('true'));
    const { mode } = await stat(storeFile());
    expect(mode & 0o777).toBe(0o600);
    const folder = await stat(path.dirname(storeFile()));
    expect(folder.mode & 0o777).toBe(0o700);
    const before = await readFile(storeFile(), 'utf8');
    const other = await HookConsent.open({
      workingDir: temporary.path,
      home: path.join(temporary.path, 'home'),
    });
    await other.allow([await review(other, guard('false'))]);
    await other.forget();
    expect(await readFile(storeFile(), 'utf8')).toBe(before);
  });

  it.each([
    ['others may write it', () => chmod(storeFile(), 0o666), 'other users may write it'],
    ['its group may write it', () => chmod(storeFile(), 0o620), 'other users may write it'],
    ['it is damaged', () => writeFile(storeFile(), '{"version":1'), 'is damaged'],
    ['it is of another kind', () => writeFile(storeFile(), '[]'), 'is damaged'],
  ])('allows nothing when %s', async (_, spoil, problem) => {
    await allowing(guard('true'));
    await spoil();
    const consent = await open();
    expect(consent.problems).toEqual([expect.stringContaining(problem)]);
    expect(await review(consent, guard('true'))).toMatchObject({ status: 'new' });
    await expect(consent.allow([])).rejects.toThrow(problem);
  });

  it('counts for the directory, whatever link leads there', async () => {
    await allowing(guard('true'));
    await symlink(inProject('.'), path.join(temporary.path, 'link'));
    const consent = await HookConsent.open({
      workingDir: path.join(temporary.path, 'link'),
      home: path.join(temporary.path, 'home'),
    });
    expect(await review(consent, guard('true'))).toMatchObject({ status: 'allowed' });
  });
});

describe('a hook that says `"shell": "bash"`, as every hook runs', () => {
  it('is the one that was allowed without it, in the consent and in a lock', async () => {
    await write('x.sh', 'true');
    const plain = guard('sh x.sh');
    const saying = guard('sh x.sh', { config: hook('sh x.sh', { shell: 'bash' }) });
    const consent = await allowing(plain);
    expect(await review(consent, saying)).toMatchObject({ status: 'allowed' });
    const { item } = await review(await open(), plain);
    const locked = await open({ trustedLock: await writeLock(inProject('.'), [item]) });
    expect(await review(locked, saying)).toMatchObject({ status: 'allowed' });
  });
});

describe('a lock', () => {
  it('allows what it lists, on machines that know its digest', async () => {
    await write('x.sh', 'true');
    const projectHook = guard('sh x.sh');
    const { item } = await review(await open(), projectHook);
    const digest = await writeLock(inProject('.'), [item]);
    const locked = await open({ trustedLock: digest });
    expect(await review(locked, projectHook)).toMatchObject({ status: 'allowed' });
    expect(await review(locked, guard('sh x.sh; true'))).toMatchObject({ status: 'changed' });
    await write('x.sh', 'touch pwned');
    expect(await locked.recheck(projectHook)).toBe('has changed since it was allowed (x.sh)');
  });

  it('is the same for the same project in another place', async () => {
    const digests: string[] = [];
    for (const name of ['here', 'there']) {
      await write(`${name}/x.sh`, 'true');
      const consent = await HookConsent.open({ workingDir: inProject(name), home: temporary.path });
      const { item } = await review(consent, guard('sh "$LLXPRT_PROJECT_DIR"/x.sh'));
      digests.push(await writeLock(inProject(name), [item]));
    }
    expect(digests[0]).toBe(digests[1]);
  });

  it('allows nothing once it was edited, is gone, or others may write it', async () => {
    const { item } = await review(await open(), guard('true'));
    const trustedLock = await writeLock(inProject('.'), [item]);
    const file = inProject('.llxprt/hooks.lock');
    await chmod(file, 0o666);
    expect((await open({ trustedLock })).problems).toEqual([
      expect.stringContaining('other users may write it'),
    ]);
    await chmod(file, 0o644);
    await writeFile(file, `${await readFile(file, 'utf8')} `);
    const edited = await open({ trustedLock });
    expect(edited.problems).toEqual([expect.stringContaining(`not ${trustedLock}`)]);
    expect(await review(edited, guard('true'))).toMatchObject({ status: 'new' });
    await rm(file);
    expect((await open({ trustedLock })).problems).toEqual([
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
    const consent = await open();
    await consent.allow(await consent.reviewModules([module()]));
    expect(await consent.reviewModules([module()])).toMatchObject([{ status: 'allowed' }]);
    await change();
    expect(await consent.reviewModules([module()])).toMatchObject([{ status: 'changed' }]);
  });

  it('ends when its entry changes', async () => {
    await write('e/m.js', 'a');
    const consent = await open();
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
    const consent = await open();
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
    ['pinned', 'bash', ['hooks/guard.sh', '$(x)']],
    ['pinned', '${CLAUDE_PROJECT_DIR}/hooks/guard.sh', []],
    ['pinned', 'jq', ['-e', '.tool_input']],
    ['pinned by file', 'bash', ['guard.sh']],
    ['open', 'bash', ['-c', 'hooks/guard.sh']],
    ['open', 'bash', []],
    ['open', 'make', ['guard']],
    ['open', 'bash', ['../guard.sh']],
  ] as const)('is %s: %s %j', async (covers, command, args) => {
    for (const file of ['hooks/guard.sh', 'guard.sh']) await write(file, '#!/bin/bash\n');
    expect(await review(await open(), started(command, args))).toMatchObject({ class: covers });
  });

  it('is asked for again when an argument, or the script that it names, has changed', async () => {
    await write('hooks/guard.sh', 'exit 2\n');
    const consent = await allowing(started('bash', ['hooks/guard.sh', 'a']));
    const changed = await review(consent, started('bash', ['hooks/guard.sh', 'b']));
    expect(changed).toMatchObject({ status: 'changed', reason: expect.stringContaining('args') });
    expect(await review(consent, guard('bash'))).toMatchObject({ status: 'changed' });
    await edit('hooks/guard.sh')();
    expect(await review(consent, started('bash', ['hooks/guard.sh', 'a']))).toMatchObject({
      status: 'changed',
    });
  });
});
