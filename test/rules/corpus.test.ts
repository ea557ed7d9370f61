import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';
import type { Call, FoundMatch } from '../../src/rules/types.js';
import { useTempDir } from '../helpers/tempDir.js';
import { chapters, FILES, LINKS, type Row, type Verdict } from './corpus.js';

const temp = useTempDir();
const home = process.env['HOME'];

beforeEach(() => {
  const folder = join(temp.path, 'home');
  process.env['HOME'] = folder;
  for (const file of FILES) {
    const path = file.startsWith('HOME/')
      ? file.replace('HOME', folder)
      : join(temp.path, 'p', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'KEY=1\n');
  }
  for (const [name, target] of Object.entries(LINKS)) {
    symlinkSync(target.replace('HOME', folder), join(temp.path, 'p', name));
  }
});
afterAll(() => {
  process.env['HOME'] = home;
});

describe('a corpus of calls', () => {
  for (const { about, when, rows } of chapters) {
    it(about, () => {
      const condition = compileWhen(when);
      const wrong = rows.flatMap((row) => {
        const call = callOf(row[0]);
        const guard = verdictOf(condition.find(call, true));
        const observer = verdictOf(condition.find(call, false));
        const expected = row[1] === 'doubt' ? ['doubt', 'no'] : [row[1], row[1]];
        const found = [guard, observer];
        return found.join() === expected.join()
          ? []
          : [
              `${JSON.stringify(row)}: ${found.join()} ${JSON.stringify(condition.find(call, true))}`,
            ];
      });
      expect(wrong).toEqual([]);
    });
  }

  it('names the part that matched, and what cannot be told of it', async () => {
    await expect(said()).toMatchFileSnapshot('corpus.said.txt');
  });

  it('has enough of them, of which a third is harmless', () => {
    const all = chapters.flatMap(({ rows }) => rows);
    expect(all.length).toBeGreaterThanOrEqual(600);
    const harmless = all.filter(([, verdict]) => verdict === 'no');
    expect(harmless.length).toBeGreaterThanOrEqual(all.length / 3);
  });
});

/** For people to read, as rules say it to them: `call → part`, and a doubt behind it. */
function said(): string {
  const parts = chapters.map(({ about, when, rows }) => {
    const condition = compileWhen(when);
    const lines = rows.flatMap(([call]) => {
      const found = condition.find(callOf(call), true);
      if (!found) return [];
      const { part = 'the call', doubt } = found;
      const shown = typeof call === 'string' ? call : `${call[0]} ${JSON.stringify(call[1])}`;
      return [[shown, '→', part, ...(doubt === undefined ? [] : ['?', doubt])].join(' ')];
    });
    return [`# ${about}`, ...lines.map(asOneLine)].join('\n');
  });
  const text = `${parts.join('\n\n')}\n`;
  return text
    .replaceAll(join(temp.path, 'p'), 'PROJECT')
    .replaceAll(join(temp.path, 'home'), 'HOME');
}

function asOneLine(text: string): string {
  return text.replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

function callOf(call: Row[0]): Call {
  const project = join(temp.path, 'p');
  const named = JSON.stringify(
    typeof call === 'string' ? ['run_shell_command', { command: call }] : call,
  )
    .replaceAll('PROJECT', project)
    .replaceAll(/(?<![\w$])HOME\//g, `${join(temp.path, 'home')}/`);
  const [tool, input] = JSON.parse(named) as [string, Record<string, unknown>];
  return { tool, input, cwd: project, project };
}

function verdictOf(finding: FoundMatch | undefined): Verdict {
  if (!finding) return 'no';
  return finding.doubt === undefined ? 'yes' : 'doubt';
}
