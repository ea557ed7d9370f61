import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

interface Comparison {
  readonly checkouts: { readonly old: string; readonly new: string };
  readonly rows: readonly {
    readonly title: string;
    readonly old: { readonly median: number };
    readonly new: { readonly median: number };
    readonly ratio: { readonly lower: number; readonly median: number; readonly upper: number };
    readonly rounds: number;
    readonly met: boolean;
  }[];
}

const ROOT = path.resolve(import.meta.dirname, '../..');
const temp = useTempDir();

function compare(...args: string[]) {
  const script = path.join(import.meta.dirname, 'paired.mjs');
  return execa(process.execPath, [script, ...args], { reject: false });
}

/** A checkout with the build of this one, but for tool calls, which take 2 ms more. */
async function buildSlow(): Promise<string> {
  const real = JSON.stringify(pathToFileURL(path.join(ROOT, 'dist/index.js')).href);
  const checkout = path.join(temp.path, 'slow');
  await mkdir(path.join(checkout, 'dist'), { recursive: true });
  await writeFile(path.join(checkout, 'package.json'), '{ "type": "module" }');
  await writeFile(
    path.join(checkout, 'dist/index.js'),
    `import { CoreToolScheduler as Scheduler } from ${real};
    export * from ${real};
    export class CoreToolScheduler extends Scheduler {
      schedule(...args) {
        const endsAt = performance.now() + 2;
        while (performance.now() < endsAt);
        return super.schedule(...args);
      }
    }`,
  );
  return checkout;
}

describe('paired.mjs', () => {
  it('fails where the new build is slower, and says by how much', async () => {
    const slow = await buildSlow();
    const { exitCode, stdout } = await compare(ROOT, slow, '--rounds', '2', '--rows', 'hooks off');
    expect(stdout).toMatch(
      /^\| tool call, hooks off .* \| \*\*\d+\.\d{3}\*\* \(\d+\.\d{3} to \d+\.\d{3}\) \| ✗ \| 2 \|$/m,
    );
    expect(stdout).toContain('0 of 1 rows are within 1.05');
    expect(exitCode).toBe(1);
  });

  it('compares with this build where no other is named, and gives JSON', async () => {
    const slow = await buildSlow();
    const { exitCode, stdout } = await compare(
      slow,
      '--rounds',
      '3',
      '--rows',
      'call, none',
      '--json',
    );
    const { checkouts, rows } = JSON.parse(stdout) as Comparison;
    expect(exitCode).toBe(0);
    expect(checkouts).toEqual({ old: slow, new: ROOT });
    expect(rows.map(({ title, rounds, met }) => ({ title, rounds, met }))).toEqual([
      { title: 'tool call, none set', rounds: 3, met: true },
      { title: 'tool call, none matches', rounds: 3, met: true },
    ]);
    for (const { ratio, ...row } of rows) {
      expect(row.old.median).toBeGreaterThan(2);
      expect(row.old.median).toBeGreaterThan(row.new.median);
      expect(ratio.lower).toBeLessThanOrEqual(ratio.median);
      expect(ratio.median).toBeLessThanOrEqual(ratio.upper);
      expect(ratio.upper).toBeLessThan(1);
    }
  });

  it('measures hooks that are processes, up to the limit that is given', async () => {
    const args = ['--rounds', '1', '--rows', 'persistent', '--rows', '1 script', '--limit', '1000'];
    const { exitCode, stdout } = await compare(ROOT, ...args);
    expect(stdout).toContain('2 of 2 rows are within 1000');
    expect(exitCode).toBe(0);
  });

  it.each([
    [[], 'Name the checkout of the old build'],
    [['/nowhere'], '/nowhere is no checkout with a build'],
    [[ROOT, '--rows', 'turns of nothing'], 'No row has "turns of nothing" in its title'],
    [[ROOT, '--rounds', 'some'], '--rounds some: give a whole number above 0'],
    [[ROOT, '--limit', 'x'], '--limit x: give a ratio'],
  ])('says what to do instead of %j', async (args, message) => {
    const { exitCode, stdout, stderr } = await compare(...args);
    expect(stderr).toContain(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });
});
