import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HookEventName } from '../../protocol/types.js';
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
}

export function filesOf(
  hook: StarterHook,
  language: StarterLanguage,
  event: HookEventName,
): NewFile[] {
  const { name } = hook;
  // Other hooks of the event may speak as well.
  const test: HookTest = {
    event,
    input: { ...hook.input },
    expect: hook.field
      ? { decision: 'block', exit: { [name]: 2 } }
      : { decision: 'allow', exit: { [name]: 0 } },
  };
  return [
    { path: scriptOf(hook, language), content: language.write(hook), mode: 0o755 },
    {
      // Consent covers all that is beside the script: a test may change without it.
      path: `.llxprt/tests/${name}${HOOK_TEST_SUFFIX}`,
      content: formatHookTest(test),
      mode: 0o644,
    },
  ];
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
    const there = files[created.length]?.path;
    throw new UsageError(`${there} is there already; remove it, or choose another --name`, {
      cause: error,
    });
  }
}
