import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HookEventName } from '../../protocol/types.js';
import { readGuardedFile } from '../../util/guardedFile.js';
import { formatHookTest, HOOK_TEST_SUFFIX, type HookTest } from '../shared/hookTestFile.js';
import { UsageError } from '../shared/usageError.js';
import { scriptOf } from './starterGroup.js';
import type { StarterHook, StarterLanguage } from './starterHooks.js';

/** A file that init writes. */
export interface NewFile {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
  readonly mode: number;
  /** One that other hooks use as well, so that it may be there already. */
  readonly isShared?: boolean;
}

export function filesOf(
  hook: StarterHook,
  language: StarterLanguage,
  event: HookEventName,
): NewFile[] {
  const { name } = hook;
  const { helper, blocksByAnswer } = language;
  // Other hooks of the event may speak as well.
  const test: HookTest = {
    event,
    input: { ...hook.input },
    expect: hook.field
      ? { decision: 'block', exit: { [name]: blocksByAnswer ? 0 : 2 } }
      : { decision: 'allow', exit: { [name]: 0 } },
  };
  const script = scriptOf(hook, language);
  return [
    { path: script, content: language.write(hook, event), mode: 0o755 },
    {
      // Consent covers all that is beside the script: a test may change without it.
      path: `.llxprt/tests/${name}${HOOK_TEST_SUFFIX}`,
      content: formatHookTest(test),
      mode: 0o644,
    },
    ...(helper
      ? [
          {
            path: join(dirname(script), helper.name),
            content: helper.content,
            mode: 0o644,
            isShared: true,
          },
        ]
      : []),
  ];
}

/** Without the shared ones that are there already, byte for byte. */
export async function withoutPresent(
  project: string,
  files: readonly NewFile[],
): Promise<NewFile[]> {
  const isMissing = await Promise.all(
    files.map(async ({ path, content, isShared }) => {
      if (!isShared) return true;
      const there = await readGuardedFile(join(project, path), { groupMayWrite: true });
      return there.status !== 'read' || there.text !== content;
    }),
  );
  return files.filter((_, index) => isMissing[index]);
}

/**
 * All files, or none.
 *
 * @param andThen what must succeed as well
 * @throws UsageError where one is there already
 */
export async function createFiles(
  project: string,
  files: readonly NewFile[],
  andThen: () => Promise<unknown>,
): Promise<void> {
  const created: string[] = [];
  try {
    for (const { path, content, mode } of files) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), content, { mode, flag: 'wx' });
      created.push(join(project, path));
    }
    await andThen();
  } catch (error) {
    await Promise.all(created.map((file) => rm(file, { force: true })));
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
    const { path, isShared } = files[created.length] ?? {};
    const instead = isShared
      ? 'and is another file than this version has: move it away, or replace it by python/hookstack.py of the package'
      : 'remove it, or choose another --name';
    throw new UsageError(`${path} is there already${isShared ? ' ' : '; '}${instead}`, {
      cause: error,
    });
  }
}
