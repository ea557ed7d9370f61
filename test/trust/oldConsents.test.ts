import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { HookConsent } from '../../src/trust/consent.js';
import type { ProjectHook } from '../../src/trust/consentItem.js';
import { hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';

// What earlier versions wrote of the project below: one that knew what programs read, and covered the script's own folder,
// and the one before this, which wrote the list of a folder for each of its hooks.
const RECORDED = path.join(import.meta.dirname, 'fixtures/form2');
const RECORDED_FOLDERS = path.join(import.meta.dirname, 'fixtures/form2Folders');
const RECORDED_PROJECT = '/tmp/oldt/project';
/** The digest that it printed for the lock. */
const LOCK = 'sha256:fba5bcc75bff569c8f2fe103328b565824be48349c9c3728d19b20c80fb2cabd';

const LOCK_OF_FOLDERS = 'sha256:c828bfa69f1ccc5b23c9795b9f6924a12e7a257cdb3b6a43481fbc0dda10dadf';

const FILES: Readonly<Record<string, string>> = {
  '.claude/hooks/guard.sh': '. "${0%/*}/lib.sh"\n',
  '.claude/hooks/lib.sh': 'cat > /dev/null\n',
  '.llxprt/hooks/deep/check.py': 'import sys\nsys.stdin.read()\n',
  '.llxprt/hooks/other.sh': 'cat > /dev/null\n',
  'check.sh': 'cat > /dev/null\n',
  '.llxprt/extensions/e/m.mjs': 'export default (ctx, next) => next();\n',
  '.llxprt/extensions/e/llxprt-extension.json':
    '{"name":"e","version":"1.0.0","middleware":[{"module":"./m.mjs","stack":"tool"}]}\n',
};

const temporary = useTempDir();
const at = (file: string) => path.join(temporary.path, 'project', file);

beforeEach(async () => {
  for (const [file, content] of Object.entries(FILES)) await write(file, content);
  await chmod(at('.claude/hooks/guard.sh'), 0o755);
});

async function write(file: string, content: string): Promise<void> {
  await mkdir(path.dirname(at(file)), { recursive: true });
  await writeFile(at(file), content, { mode: 0o600 });
}

/** By the recorded file of consents, or by the recorded lock. */
async function readRecorded(
  by: 'consents' | 'lock',
  folder = RECORDED,
  trustedLock = LOCK,
): Promise<HookConsent> {
  const home = path.join(temporary.path, 'home');
  if (by === 'lock') {
    await write('.llxprt/hooks.lock', await readFile(path.join(folder, 'hooks.lock'), 'utf8'));
    return HookConsent.read({ workingDir: at('.'), home, trustedLock });
  }
  const text = await readFile(path.join(folder, 'consents.json'), 'utf8');
  await mkdir(path.join(home, '.llxprt'), { recursive: true });
  const store = path.join(home, '.llxprt/trusted-hooks.json');
  await writeFile(store, text.replace(RECORDED_PROJECT, at('')), { mode: 0o600 });
  return HookConsent.read({ workingDir: at('.'), home, trustedLock: '' });
}

function recorded(
  name: string,
  command: string,
  more: Partial<CommandHookConfig> = {},
): ProjectHook {
  return { event: HookEventName.BeforeTool, group: {}, config: hook(command, { name, ...more }) };
}

const GUARD = recorded('guard', 'bash "$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh"', {
  onFailure: 'deny',
});
const MODULE = {
  extension: 'e',
  entry: { module: 'm.mjs', stack: 'tool' },
  get directory() {
    return at('.llxprt/extensions/e');
  },
};

async function review(consent: HookConsent, projectHook: ProjectHook) {
  const [found] = await consent.review([projectHook]);
  return found;
}

describe.each(['consents', 'lock'] as const)(
  'what the version before had allowed, by its %s',
  (by) => {
    it('still counts where all that is covered now was covered then', async () => {
      const consent = await readRecorded(by);
      expect(consent.problems).toEqual([]);
      expect(await review(consent, GUARD)).toMatchObject({ status: 'allowed', class: 'pinned' });
      const open = await review(consent, recorded('npm', 'npm test'));
      expect(open).toMatchObject({ status: 'allowed', class: 'open' });
      expect(await consent.reviewModules([MODULE])).toMatchObject([{ status: 'allowed' }]);
      const settings = { enableHooks: true, maxParallelHooks: 3 };
      expect(await consent.reviewSettings(settings)).toMatchObject({ status: 'allowed' });
    });

    it.each([
      [
        recorded('deep', 'python3 .llxprt/hooks/deep/check.py'),
        'was allowed before all files beside its script counted, and has not been allowed with these: .llxprt/hooks/other.sh',
      ],
      [
        recorded('root', 'sh check.sh'),
        'was allowed when it was covered otherwise (pinned by file); now only its definition is covered: what it runs may change unasked, because it has sh run check.sh,',
      ],
      [
        recorded('filter', 'jq -e .tool_input'),
        'was allowed when it was covered otherwise (pinned); now only its definition is covered: what it runs may change unasked, because it starts jq,',
      ],
    ])(
      'is asked about again, with the reason, where it was not: %#',
      async (projectHook, reason) => {
        const consent = await readRecorded(by);
        expect(await review(consent, projectHook)).toMatchObject({
          status: 'changed',
          reason: expect.stringContaining(reason),
        });
      },
    );

    it.each<[string, () => Promise<unknown>, string]>([
      [
        'another byte',
        () => write('.claude/hooks/lib.sh', 'touch pwned\n'),
        'has changed since it was allowed (.claude/hooks/lib.sh)',
      ],
      [
        'a new file',
        () => write('.claude/hooks/node_modules/a.js', ''),
        'has not been allowed with these: .claude/hooks/node_modules/a.js',
      ],
    ])('does not count for %s', async (_, change, reason) => {
      const consent = await readRecorded(by);
      expect(await consent.review([GUARD])).toMatchObject([{ status: 'allowed' }]);
      await change();
      expect(await consent.recheck(GUARD)).toContain(reason);
    });
  },
);

it.each(['consents', 'lock'] as const)(
  'what the version just before had allowed is whole, by its %s',
  async (by) => {
    const consent = await readRecorded(by, RECORDED_FOLDERS, LOCK_OF_FOLDERS);
    expect(consent.problems).toEqual([]);
    const [guarding, open] = await consent.review([GUARD, recorded('npm', 'npm test')]);
    expect(guarding).toMatchObject({ status: 'allowed', class: 'pinned' });
    expect(guarding).not.toHaveProperty('isOld');
    expect(open).toMatchObject({ status: 'allowed', class: 'open' });
    await chmod(at('.claude/hooks/lib.sh'), 0o755);
    expect(await consent.recheck(GUARD)).toBe(
      'has changed since it was allowed (.claude/hooks/lib.sh)',
    );
  },
);

it('is known as old until it is allowed again', async () => {
  const consent = await readRecorded('consents');
  const reviews = await consent.review([GUARD]);
  expect(reviews).toMatchObject([{ status: 'allowed', isOld: true }]);
  await consent.allow(reviews);
  expect(await review(consent, GUARD)).not.toHaveProperty('isOld');
});

it('is kept in the form of this version once something is allowed, with the modes of files', async () => {
  const consent = await readRecorded('consents');
  await consent.allow(await consent.review([GUARD]));
  expect(consent.allowed.map(({ files }) => Object.values(files))).toEqual([
    [expect.stringMatching(/^sha256:\w{64} 755$/), expect.stringMatching(/^sha256:\w{64} 644$/)],
  ]);
  await chmod(at('.claude/hooks/lib.sh'), 0o755);
  expect(await consent.recheck(GUARD)).toBe(
    'has changed since it was allowed (.claude/hooks/lib.sh)',
  );
});
