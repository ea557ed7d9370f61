import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loaderSeverities, rules } from '../../src/validate/rules.js';
import { validateFiles } from '../../src/validate/validate.js';

const CORPUS = path.resolve(import.meta.dirname, 'corpus');
const PROJECT = path.resolve(import.meta.dirname, 'project');

interface Expected {
  readonly line: number;
  readonly rule: string;
}

/** The lines that say `// expect RULE…`, or stand behind one that says `// expect-next RULE…`. */
function findExpected(source: string): Expected[] {
  return source.split('\n').flatMap((text, index) => {
    const [, next = '', names = ''] = /\/\/ expect(-next)? (.*)/u.exec(text) ?? [];
    const line = index + (next === '' ? 1 : 2);
    return names.split(' ').flatMap((rule) => (rule === '' ? [] : { line, rule }));
  });
}

const mistakes = await Promise.all(
  (await readdir(CORPUS)).map(async (name) => {
    const file = path.join(CORPUS, name);
    return { name, file, expected: findExpected(await readFile(file, 'utf8')) };
  }),
);

describe('each planted mistake is found on its line, and nothing else', () => {
  it.each(mistakes)('$name', async ({ file, expected }) => {
    const findings = await validateFiles([{ scope: 'file', file }], {
      workingDir: PROJECT,
      trustProject: false,
    });
    expect(findings.map(({ line, rule }) => ({ line, rule }))).toEqual(expected);
    for (const finding of findings) expect(finding.column).toBeGreaterThan(0);
  });

  it('more than thirty of them, of every rule', () => {
    expect(mistakes.length).toBeGreaterThan(30);
    const planted = new Set(mistakes.flatMap(({ expected }) => expected.map(({ rule }) => rule)));
    // A file can be untrusted only where it is a project's.
    const known = ['file', ...Object.keys(rules), ...Object.keys(loaderSeverities)];
    expect([...planted, 'untrusted'].toSorted()).toEqual([...new Set(known)].toSorted());
  });
});
