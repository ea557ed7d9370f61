import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';

interface Way {
  readonly rows: readonly { readonly file: string }[];
  readonly files: number;
  readonly functions: number;
  readonly lines: number;
}

async function measure(call: 'tool' | 'model'): Promise<Way> {
  const script = path.join(import.meta.dirname, 'measureWay.mjs');
  const { stdout } = await execa(process.execPath, [script, call]);
  return JSON.parse(stdout) as Way;
}

describe('the way of a call through the sources', () => {
  it('grows for a reason only, for a tool call with a BeforeTool and an AfterTool hook', async () => {
    const { rows, files, functions, lines } = await measure('tool');
    expect(files).toBeLessThanOrEqual(27);
    // A host that follows its settings looks at them, hooks may be started without being waited for, texts may be long,
    // and what was found for a call is handed on.
    expect(functions).toBeLessThanOrEqual(158);
    expect(lines).toBeLessThanOrEqual(1420);
    const page = readFileSync(path.join(import.meta.dirname, '../../docs/architecture.md'), 'utf8');
    const [, told = ''] = page.split(/<!-- way of one tool call: (?:begin|end) -->/);
    const names = Array.from(told.matchAll(/`([^`]+)`/g), ([, file]) => file);
    expect(new Set(names)).toEqual(new Set(rows.map(({ file }) => file)));
    // Of the process that starts the hooks.
    expect(names).toContain('src/process/spawner/main.ts');
  });

  it('is hardly longer for a model call with hooks of all three events', async () => {
    const { files, functions } = await measure('model');
    // The hook system gives what async hooks have said late.
    expect(files).toBeLessThanOrEqual(40);
    expect(functions).toBeGreaterThan(100);
  });
});
