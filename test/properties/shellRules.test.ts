import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';
import { runs } from './arbitraries.js';
import { shellTexts, STAND_IN } from './shellCommands.js';

const folder = mkdtempSync(path.join(tmpdir(), 'shell-rules-'));
const condition = compileWhen([`Bash(${STAND_IN} *)`]);
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));

describe('a real bash', () => {
  it('starts no program that a pattern does not find, unless it was said that this cannot be told', () => {
    let [started, unknown] = [0, 0];
    fc.assert(
      fc.property(shellTexts, (text) => {
        const cwd = path.join(folder, 'cwd');
        const call = { tool: 'run_shell_command', input: { command: text }, cwd, project: cwd };
        const finding = condition.find(call, true);
        if (!starts(text)) return;
        started++;
        expect(finding, text).toBeDefined();
        if (finding?.doubt !== undefined) unknown++;
      }),
      { ...runs(600), endOnFailure: process.env['PROPERTY_SHRINK'] === undefined },
    );
    // Or it would be the parser's refusals that are tested.
    expect(started).toBeGreaterThan(30);
    expect(unknown).toBeLessThan(started);
  }, 600_000);
});

/** Whether it starts the stand-in. What an earlier text has left running has a stand-in of its own. */
function starts(text: string): boolean {
  const own = path.join(folder, String(++count));
  const [cwd, programs, mark] = ['cwd', 'programs', 'mark'].map((name) => path.join(own, name));
  mkdirSync(path.join(cwd!, 'sub'), { recursive: true });
  mkdirSync(programs!);
  const program = `#!/bin/sh\n: >'${mark}'\necho ${STAND_IN}\n`;
  writeFileSync(path.join(programs!, STAND_IN), program, { mode: 0o755 });
  spawnSync('bash', ['-c', text], {
    cwd: cwd!,
    stdio: 'ignore',
    timeout: 5_000,
    killSignal: 'SIGKILL',
    env: { PATH: `${programs}:/usr/bin:/bin`, HOME: cwd! },
  });
  return existsSync(mark!);
}
