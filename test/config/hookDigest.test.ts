import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readItems } from '../../src/config/consentStore.js';
import { inspectHook } from '../../src/config/hookDigest.js';
import { HookEventName } from '../../src/hooks/types.js';
import { hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const at = (...parts: string[]) => path.join(temp.path, 'project', ...parts);

async function write(file: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, 'evil\n');
}

async function inspect(command: string) {
  const project = { event: HookEventName.BeforeTool, group: {}, config: hook(command) };
  const { item } = await inspectHook(project, at());
  return item;
}

async function turnHooksIntoLink(): Promise<void> {
  await write(at('evil/c.sh'));
  await mkdir(at('evil/deep'), { recursive: true });
  await rename(at('hooks'), at('before'));
  await symlink('evil/deep', at('hooks'));
}

describe('what a hook is allowed as', () => {
  it.each<[command: string, change: () => Promise<unknown>]>([
    ['sh hooks/../c.sh', turnHooksIntoLink],
    ['sh "$LLXPRT_PROJECT_DIR/hooks/../c.sh"', turnHooksIntoLink],
    ['cd hooks && sh ../c.sh', turnHooksIntoLink],
    ['cd hooks && for f in *.sh; do sh "$f"; done', () => write(at('hooks/d.sh'))],
    ['for f in hooks/*/run.sh; do sh "$f"; done', () => write(at('hooks/sub/run.sh'))],
    ['cd .. && sh parent.sh', () => write(at('../parent.sh'))],
    ['cd hooks/sub && cd .. && sh c.sh', () => write(at('hooks/c.sh'))],
    ['node .', () => write(at('index.js'))],
    ['python3 -m hooks.check', () => write(at('hooks/check.py'))],
    ['python3 -m hooks', () => write(at('hooks/__init__.py'))],
    ['awk -fhooks/x.awk', () => write(at('hooks/x.awk'))],
    ['perl -Ihooks -MGuard', () => write(at('hooks/Guard.pm'))],
    ['sh <>hooks/c.sh', () => write(at('hooks/c.sh'))],
    [`node -e "const f = () => './hooks/c.cjs'; require(f())"`, () => write(at('hooks/c.cjs'))],
    ['sh hooks/c\\\nc.sh', () => write(at('hooks/cc.sh'))],
    ["bash $'hooks/c.sh'", () => write(at('hooks/c.sh'))],
  ])('changes with what runs: %s', async (command, change) => {
    await mkdir(at('hooks/sub'), { recursive: true });
    await write(at('c.sh'));
    const before = await inspect(command);
    await change();
    expect((await inspect(command)).digest).not.toBe(before.digest);
  });

  it('is not all that lies beside it, for a pattern of a case', async () => {
    await mkdir(at(), { recursive: true });
    const command = 'case "$x" in *) exit 2 ;; esac';
    const before = await inspect(command);
    await write(at('notes.md'));
    expect((await inspect(command)).digest).toBe(before.digest);
  });

  it('allows nothing where its text says something else than its digest', async () => {
    await mkdir(at(), { recursive: true });
    const item = await inspect('touch pwned');
    const harmless = { ...item, definition: { ...item.definition, command: 'true' } };
    expect(readItems([item, harmless])).toEqual([item]);
  });
});
