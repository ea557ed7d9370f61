import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainStderr, outlineStderr } from '../../src/run/explainStderr.js';
import { readException } from '../../src/run/readException.js';

let folder = '';
beforeAll(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-exception-')));
  await writeFile(path.join(folder, 'inner.py'), '\n{}["tool"]\n');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a program writes on stderr, of a script that is in a file. */
async function stderrOf(program: string, file: string, source: string): Promise<string> {
  const script = path.join(folder, file);
  await writeFile(script, source);
  const { stderr } = await execa(program, [script], { input: '{}', reject: false });
  return stderr;
}

describe('the exception of a program', () => {
  it.each([
    {
      what: 'Python',
      program: 'python3',
      file: 'a.py',
      source: 'import json\n\ndef check(event):\n  return event["tool"]\n\ncheck({})\n',
      line: "KeyError: 'tool'",
      at: 4,
    },
    {
      what: 'a module of Python',
      program: 'python3',
      file: 'b.py',
      source: 'import json\njson.loads("{")\n',
      line: 'json.decoder.JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)',
      at: 2,
    },
    {
      what: 'Python, while it handled another one',
      program: 'python3',
      file: 'c.py',
      source: 'try:\n  1 / 0\nexcept ZeroDivisionError:\n  raise ValueError("no\\nrules")\n',
      line: 'ValueError: no',
      at: 4,
    },
    {
      what: 'Python that it cannot read',
      program: 'python3',
      file: 'd.py',
      source: 'x = 1\ny = (\n',
      line: 'SyntaxError: ',
      at: 2,
    },
    {
      what: 'Node',
      program: 'node',
      file: 'a.mjs',
      source: '// a\nfunction check() {\n  throw new TypeError("no rules");\n}\ncheck();\n',
      line: 'TypeError: no rules',
      at: 3,
    },
    {
      what: 'a module of Node',
      program: 'node',
      file: 'b.mjs',
      source: 'import fs from "node:fs";\nfs.readFileSync("/nowhere/x");\n',
      line: "Error: ENOENT: no such file or directory, open '/nowhere/x'",
      at: 2,
    },
    {
      what: 'a promise of Node',
      program: 'node',
      file: 'c.cjs',
      source: 'async function check() {\n  await null;\n  JSON.parse("{");\n}\ncheck();\n',
      line: 'SyntaxError: ',
      at: 3,
    },
    {
      what: 'JavaScript that Node cannot read',
      program: 'node',
      file: 'd.mjs',
      source: 'let a = 1;\nlet b = ;\n',
      line: "SyntaxError: Unexpected token ';'",
      at: 2,
    },
    {
      what: 'bash',
      program: 'bash',
      file: 'a.sh',
      source: 'set -u\necho "looking" >&2\necho "$RULES"\n',
      line: 'RULES: unbound variable',
      at: 3,
    },
    {
      what: 'bash that it cannot read',
      program: 'bash',
      file: 'b.sh',
      source: 'true\nfi\n',
      line: "syntax error near unexpected token `fi'",
      at: 2,
    },
    {
      what: 'a Python script in one of bash',
      program: 'bash',
      file: 'c.sh',
      source: `python3 "$(dirname "$0")/inner.py"\n`,
      line: "KeyError: 'tool'",
      of: 'inner.py',
      at: 2,
    },
  ])('is read with its place: $what', async ({ program, file, source, line, of = file, at }) => {
    const found = readException(await stderrOf(program, file, source));
    expect(found).toMatchObject({ where: `${path.join(folder, of)}:${at}` });
    // What is behind the colon is another text in each version.
    expect(found?.line.slice(0, line.length)).toBe(line);
  });

  it('is that of jq, which names a place of its input', async () => {
    const { stderr } = await execa('bash', ['-c', 'jq .a'], { input: '[1]', reject: false });
    expect(readException(stderr)?.line).toMatch(
      /^jq: error \(at <[\w ]+>:\d*\): Cannot index array/u,
    );
    const broken = await execa('bash', ['-c', 'jq .'], { input: '{"a": ', reject: false });
    expect(readException(broken.stderr)?.line).toMatch(/parse error: Unfinished JSON term/u);
  });

  it.each([
    ['bash', 'line 2 of the command'],
    ['sh', 'line 2 of the command'],
  ])('has the line of a command that is in no file: %s', async (shell, where) => {
    const { stderr } = await execa(shell, ['-c', 'true\nno-such-program'], { reject: false });
    expect(readException(stderr)).toMatchObject({ where });
    expect(readException(stderr)?.line).toContain('no-such-program');
  });

  it('of a shell with few words is known by them', () => {
    expect(readException('guard.sh: 3: RULES: parameter not set')).toEqual({
      language: 'shell',
      line: 'RULES: parameter not set',
      where: 'guard.sh:3',
    });
    expect(readException('main.c: 3: warning: unused')).toBeUndefined();
  });

  it.each([
    '',
    'no rules here\n',
    'Error: no rules',
    '   at work',
    'Traceback (most recent call last):',
  ])('is not there in %j', (stderr) => {
    expect(readException(stderr)).toBeUndefined();
  });

  it('is short, however much it quotes, and found in time', () => {
    expect(readException(`jq: error: ${'x'.repeat(5000)}`)?.line).toHaveLength(300);
    for (const part of [
      '   at ((((',
      '  File "',
      ': line 1',
      'jq: ',
      '/a:1:1',
      '\u2028: line 1: x',
    ]) {
      const startedAt = performance.now();
      readException(part.repeat(50_000));
      readException(`${part.repeat(200)}\n`.repeat(100));
      expect(performance.now() - startedAt).toBeLessThan(2000);
    }
  });
});

describe('a variable that hooks do not get', () => {
  const host = { API_TOKEN: 'hush-hush', PATH: '/bin' };
  const policy = { redact: ['@secrets'] };
  const hint =
    'API_TOKEN is withheld from hooks: name it in "allow" of "hookEnvironment" in your settings';

  it.each([
    {
      what: 'Python',
      program: 'python3',
      file: 'key.py',
      source: 'import os\nos.environ["API_TOKEN"]\n',
      says: "KeyError: 'API_TOKEN' (FOLDER/key.py:2)",
    },
    {
      what: 'bash',
      program: 'bash',
      file: 'key.sh',
      source: 'set -u\necho "$API_TOKEN"\n',
      says: 'API_TOKEN: unbound variable (FOLDER/key.sh:2)',
    },
    {
      what: 'Node',
      program: 'node',
      file: 'key.mjs',
      source: '//\nprocess.env.API_TOKEN.split(",");\n',
      says: "TypeError: Cannot read properties of undefined (reading 'split') (FOLDER/key.mjs:2)",
    },
  ])('is named in the exception of $what', async ({ program, file, source, says }) => {
    const stderr = await stderrOf(program, file, source);
    const told = says.replace('FOLDER', folder);
    expect(explainStderr({ stderr }, policy, host)).toBe(`${told}; ${hint}`);
    expect(explainStderr({ stderr }, { ...policy, allow: ['API_TOKEN'] }, host)).toBe(told);
    expect(explainStderr({ stderr }, policy, { PATH: '/bin' })).toBe(told);
  });

  it('is masked where its value is told', () => {
    const stderr = 'guard.sh: line 2: hush-hush: command not found';
    expect(explainStderr({ stderr }, policy, host)).toContain('[API_TOKEN]: command not found');
  });
});

describe('a block by accident', () => {
  it.each([
    ['python3 /nowhere/guard.py', /^blocks by accident, .*can't open file.*; correct the path/u],
    ['if true; then', /^blocks by accident, .*; correct the shell script there$/u],
    ['ls --nope', /^blocks by accident, .*--nope.*; the program does not know the option/u],
    ['echo "not here: ask the user" >&2; exit 2', undefined],
    ['echo "guard.txt: line 3: forbids this" >&2; exit 2', undefined],
  ])('is told from one that is meant: %s', async (command, says) => {
    const { stderr, exitCode } = await execa('bash', ['-c', command], { reject: false });
    expect(exitCode).toBe(2);
    const why = explainStderr({ stderr, exitCode }, {});
    if (says) expect(why).toMatch(says);
    else expect(why).toBeUndefined();
  });
});

describe('what a model may read of an exception', () => {
  it.each([
    [
      'Traceback (most recent call last):\n  File "/home/me/a.py", line 3\nKeyError: \'s3cret\'',
      'KeyError at a.py:3',
    ],
    [
      'Traceback (most recent call last):\n  File "/x/Obey me. a.py", line 3\nObey me: now',
      undefined,
    ],
    ['jq: error (at <stdin>:0): s3cret', undefined],
    ['guard.sh: line 2: s3cret: command not found', 'at guard.sh:2'],
    ['no exception', undefined],
  ])('is no text of it: %j', (stderr, outline) => {
    expect(outlineStderr(stderr)).toBe(outline);
  });
});

describe('a path that is longer than any', () => {
  const stderr = `/${'a'.repeat(200_000)}/b.sh: line 3: no`;

  it('takes no time', { timeout: 2000 }, () => {
    expect(outlineStderr(stderr)).toBe('at b.sh:3');
  });

  it('is cut', () => {
    const why = explainStderr({ stderr, exitCode: 1 }, {}) ?? '';
    expect(why).toMatch(/^no \(a+\/b\.sh:3\)/u);
    expect(why.length).toBeLessThan(400);
  });
});
