import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { expect } from 'vitest';
import { matchText } from '../helpers/matchText.js';

export const EXAMPLES = path.resolve(import.meta.dirname, '../../examples');

/** What `try.mjs --json` prints, and, as far as it matters, what a scenario expects. */
interface Outcome {
  readonly runs: readonly object[];
  /** Contents by path; `null` expects that there is none. */
  readonly files?: Record<string, string | null>;
  readonly service?: readonly string[];
}

export async function tryExample(
  name: string,
  options: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const args = [path.join(EXAMPLES, 'try.mjs'), name, '--json', ...options];
  const { stdout } = await execa(process.execPath, args, { env });
  return JSON.parse(stdout) as Outcome;
}

/** Whether what happened is what the scenario of the example says. */
export function expectOutcome(outcome: Outcome, name: string): void {
  const expected = JSON.parse(
    readFileSync(path.join(EXAMPLES, name, 'scenario.json'), 'utf8'),
  ) as Outcome;
  expect(outcome.runs.length).toBe(expected.runs.length);
  expected.runs.forEach((run, index) => {
    const {
      prompt: _prompt,
      responses: _responses,
      answers: _answers,
      ...effects
    } = run as Record<string, unknown>;
    const matcher = toMatcher({ exitCode: 0, warnings: [], asked: [], ...effects });
    expect(outcome.runs[index]).toMatchObject(matcher as object);
  });
  for (const [file, content] of Object.entries(expected.files ?? {})) {
    expect(outcome.files?.[file], file).toEqual(toMatcher(content ?? undefined));
  }
  expect(outcome.service).toEqual(expected.service ?? []);
}

/** The same value, with what compares texts in place of those that leave something open. */
function toMatcher(expected: unknown): unknown {
  if (typeof expected === 'string') return expected.includes('…') ? matchText(expected) : expected;
  if (Array.isArray(expected)) return expected.map(toMatcher);
  if (typeof expected !== 'object' || expected === null) return expected;
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [key, toMatcher(value)]),
  );
}
