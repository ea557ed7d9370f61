import { join } from 'node:path';
import type { NewFile } from '../init/starterFiles.js';
import { formatHookTest, HOOK_TEST_SUFFIX } from '../shared/hookTestFile.js';
import { readText } from '../../util/guardedRead.js';
import type { Guard, GuardTest } from './guard.js';

/** Where guards are written. */
export interface Place {
  readonly scope: 'project' | 'user';
  /** Absolute path of the project, or of the home directory. */
  readonly folder: string;
}

/** What starts the script of a guard, wherever the project or the home directory is. */
export function commandIn({ scope }: Place, guard: Guard): string {
  const script = scriptOf(guard);
  return scope === 'project' ? `node $LLXPRT_PROJECT_DIR/${script}` : `node "$HOME/${script}"`;
}

/** What is to be written beside the settings, without what is there as it would be written. */
export async function filesIn({ folder }: Place, guard: Guard): Promise<NewFile[]> {
  const files: NewFile[] = testFiles(guard);
  if (guard.script !== undefined) {
    files.unshift({ path: scriptOf(guard), content: guard.script, mode: 0o755 });
  }
  const there = await Promise.all(
    files.map(({ path }) => readText(join(folder, path)).catch(() => undefined)),
  );
  return files.filter(({ content }, index) => there[index] !== content);
}

function scriptOf({ name }: Guard): string {
  return `.llxprt/hooks/${name}.mjs`;
}

/** In a folder of their own, as there are several; beside the scripts, consent would cover them. */
function testFiles({ name, tests }: Guard): NewFile[] {
  const used = new Set<string>();
  return tests.map((test) => {
    const slug = slugOf(test);
    const title = used.has(slug) ? `${slug}-${used.size}` : slug;
    used.add(slug);
    const { event, input, expect } = test;
    return {
      path: `.llxprt/tests/${name}/${title}${HOOK_TEST_SUFFIX}`,
      content: formatHookTest({ event, input, expect }),
      mode: 0o644,
    };
  });
}

const MAX_SLUG = 48;

function slugOf({ title }: GuardTest): string {
  const words = title.toLowerCase().match(/[\da-z]+/gu) ?? [];
  return words.join('-').slice(0, MAX_SLUG).replace(/-$/u, '');
}
