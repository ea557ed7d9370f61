import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa, execaSync } from 'execa';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';
import { KeptProcess } from './keptProcess.js';

const HELPER = path.resolve(import.meta.dirname, '../../python/hookstack.py');
const HELLO = '{"hookstack":1}';
const temp = useTempDir();

const hasPython = !execaSync('python3', ['--version'], { reject: false }).failed;

beforeEach(() => copyFile(HELPER, path.join(temp.path, 'hookstack.py')));

/** Writes a hook of BeforeTool with this body, or a whole script. */
async function write(source: string): Promise<void> {
  const script = source.includes('define_hook(')
    ? source
    : `def hook(event):\n    ${source.replaceAll('\n', '\n    ')}\n\ndefine_hook("BeforeTool", hook)`;
  await writeFile(
    path.join(temp.path, 'hook.py'),
    `import os, subprocess, sys\nfrom hookstack import Block, define_hook\n\n${script}\n`,
  );
}

async function start(source: string): Promise<KeptProcess> {
  await write(source);
  const kept = new KeptProcess('python3', ['hook.py'], temp.path);
  onTestFinished(() => void kept.child.kill('SIGKILL'));
  expect(await kept.line()).toBe(HELLO);
  return kept;
}

const beforeTool = (fields: object = {}) => ({ hook_event_name: 'BeforeTool', ...fields });

async function asOrdinary(source: string, input = JSON.stringify(beforeTool({ tool_name: 'x' }))) {
  await write(source);
  const { exitCode, stdout, stderr } = await execa('python3', ['hook.py'], {
    cwd: temp.path,
    input,
    reject: false,
    stripFinalNewline: false,
  });
  return { exitCode, stdout, stderr };
}

/** What the host makes of the answer of one that is kept. */
async function asPersistent(source: string) {
  const kept = await start(source);
  const answer = await kept.ask(beforeTool({ tool_name: 'x' }));
  expect(answer).toMatchObject({ id: 1 });
  expect(await kept.end()).toBe(0);
  const { output, exitCode = 0, stderr = '' } = answer ?? {};
  return { output, exitCode, stderr: `${await kept.stderr}${stderr}` };
}

function eventLine(id: number, n: string): string {
  return `${JSON.stringify({ id, input: beforeTool({ n }) })}\n`;
}

describe.skipIf(!hasPython)('a hook made with define_hook', () => {
  it.each([
    ['an answer', 'return {"decision": "deny", "reason": "né \\ud800"}', 0, ''],
    ['nothing', 'pass', 0, ''],
    ['a Block', 'raise Block("not\\ntoday")', 0, ''],
    ['an error', 'raise ValueError("no rules")', 1, 'ValueError: no rules'],
    [
      'an error of the event loop',
      'import asyncio\nraise asyncio.CancelledError("x")',
      1,
      'CancelledError',
    ],
    ['a list', 'return []', 1, 'The hook returned a value of type list, which says nothing'],
    ['a set', 'return {"reason": {1}}', 1, 'cannot be written as JSON'],
    ['a number that is none', 'return {"reason": float("nan")}', 1, 'cannot be written as JSON'],
    ['a circle', 'a = {}\na["a"] = a\nreturn a', 1, 'cannot be written as JSON'],
    [
      'another event',
      'define_hook("AfterTool", lambda event: {})',
      1,
      'This hook is for AfterTool and was started for "BeforeTool"',
    ],
    ['what it prints', 'print("seen")\nprint("so", file=sys.stderr)', 0, 'seen\nso\n'],
    ['what its programs print', 'subprocess.run(["echo", "from echo"])', 0, 'from echo\n'],
    ['what it writes past Python', 'os.write(1, b"raw\\n")', 0, 'raw\n'],
    ['sys.exit(2)', 'print("why")\nsys.exit(2)', 2, 'why\n'],
    ['sys.exit()', 'sys.exit()', 0, ''],
    ['sys.exit(-1)', 'sys.exit(-1)', 255, ''],
    ['sys.exit with a text', 'sys.exit("why")', 1, 'why\n'],
  ])('answers %s alike for one event and for many', async (_, source, exitCode, stderr) => {
    const ordinary = await asOrdinary(source);
    expect(ordinary.exitCode).toBe(exitCode);
    expect(ordinary.stderr).toContain(stderr);
    const output = ordinary.stdout === '' ? undefined : (JSON.parse(ordinary.stdout) as object);
    expect(await asPersistent(source)).toEqual({ output, exitCode, stderr: ordinary.stderr });
  });

  it('answers one event after the other, with what it remembers', async () => {
    const kept = await start(
      'seen = []\ndef hook(event):\n    seen.append(1)\n    return {"reason": event["tool_name"] + str(len(seen))}\ndefine_hook("BeforeTool", hook)',
    );
    expect(await kept.ask(beforeTool({ tool_name: 'ü' }))).toEqual({
      id: 1,
      output: { reason: 'ü1' },
    });
    expect(await kept.ask(beforeTool({ tool_name: 'ü' }))).toEqual({
      id: 2,
      output: { reason: 'ü2' },
    });
    expect(await kept.end()).toBe(0);
  });

  it('goes on after a failure and after sys.exit', async () => {
    const kept = await start(
      'if event["n"] == 1:\n    raise ValueError("no")\nif event["n"] == 2:\n    sys.exit(2)\nreturn {}',
    );
    expect(await kept.ask(beforeTool({ n: 1 }))).toMatchObject({ exitCode: 1 });
    expect(await kept.ask(beforeTool({ n: 2 }))).toEqual({ id: 2, exitCode: 2 });
    expect(await kept.ask(beforeTool({ n: 3 }))).toEqual({ id: 3, output: {} });
  });

  it('says where it failed, and not where in the helper', async () => {
    const { stderr } = await asOrdinary('raise ValueError("no rules")');
    expect(stderr).toMatch(
      /^Traceback \(most recent call last\):\n {2}File ".*\/hook\.py", line 5, in hook\n/u,
    );
    expect(stderr).not.toContain('hookstack.py');
  });

  it('may be for several events', async () => {
    const kept = await start(
      'define_hook(["BeforeTool", "AfterTool"], lambda event: {"reason": event["hook_event_name"]})',
    );
    for (const hook_event_name of ['AfterTool', 'BeforeTool']) {
      expect(await kept.ask({ hook_event_name })).toMatchObject({
        output: { reason: hook_event_name },
      });
    }
    expect(await kept.ask({ hook_event_name: 'BeforeModel' })).toMatchObject({
      exitCode: 1,
      stderr:
        'This hook is for BeforeTool and AfterTool and was started for "BeforeModel": move it in the settings\n',
    });
  });

  it('gives the programs that it starts an empty stdin, and nothing that says that it is kept', async () => {
    const kept = await start(
      'out = subprocess.run(["sh", "-c", "cat; echo [$HOOKSTACK_PERSISTENT]; ls /proc/self/fd"], stdout=subprocess.PIPE).stdout.decode()\nreturn {"reason": out, "own": sys.stdin.read()}',
    );
    // 3 is what ls itself reads.
    const said = { reason: '[]\n0\n1\n2\n3\n', own: '' };
    expect(await kept.ask(beforeTool())).toEqual({ id: 1, output: said });
    expect(await kept.ask(beforeTool())).toEqual({ id: 2, output: said });
  });

  it('takes a long event, and gives a long answer to one who reads slowly', async () => {
    const kept = await start('return {"reason": event["text"] * 2}');
    kept.child.stdout.pause();
    const text = 'ü😀\u2028"\\'.repeat(200_000);
    const asked = kept.ask(beforeTool({ text }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    kept.child.stdout.resume();
    expect(await asked).toEqual({ id: 1, output: { reason: text + text } });
  });

  it('takes events that come in pieces, and several at once', async () => {
    const kept = await start('return {"reason": event["n"]}');
    for (const byte of Buffer.from(eventLine(1, 'é'))) kept.child.stdin.write(Buffer.of(byte));
    expect(await kept.answer()).toEqual({ id: 1, output: { reason: 'é' } });
    kept.write(eventLine(2, 'a') + eventLine(3, 'b'));
    expect(await kept.answer()).toEqual({ id: 2, output: { reason: 'a' } });
    expect(await kept.answer()).toEqual({ id: 3, output: { reason: 'b' } });
  });

  it.each(['no JSON', '7', 'null', '[]', '{"id":3}', '{"input":{}}', '['.repeat(100_000)])(
    'ends with a failure when a later line is %.20s',
    async (line) => {
      const kept = await start('return {}');
      expect(await kept.ask(beforeTool())).toMatchObject({ id: 1 });
      kept.write(`${line}\n`);
      expect(await kept.ended()).toBe(1);
      expect(await kept.stderr).toContain('A line on stdin is no event');
    },
  );

  it('says nothing more when nobody reads its answers', async () => {
    const kept = await start('return {"reason": "x" * 1_000_000}');
    kept.child.stdout.destroy();
    kept.write(`${JSON.stringify({ id: 1, input: beforeTool() })}\n`);
    expect(await kept.ended()).toBe(0);
    expect(await kept.stderr).toBe('');
  });

  it.each([
    ['nothing', '', 'Try this hook with: hookstack fire BeforeTool'],
    ['no JSON', '{"hook', 'stdin is not JSON'],
    ['no UTF-8', Buffer.from('{"a":"\xFF"}', 'latin1').toString('latin1'), 'was started for null'],
    ['null', 'null', 'was started for null'],
    ['far too many brackets', '['.repeat(100_000), 'stdin is not JSON'],
  ])('says what is wrong when it reads %s', async (_, input, message) => {
    const { exitCode, stdout, stderr } = await asOrdinary('return {}', input);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  it.each([
    ['a line', JSON.stringify(beforeTool()), 0, '{"reason": "x"}'],
    ['several lines', JSON.stringify(beforeTool(), null, 2), 0, '{"reason": "x"}'],
    ['no JSON', '{"hook', 1, ''],
  ])('takes %s for the input of an ordinary hook, and ends', async (_, input, exitCode, stdout) => {
    await write('return {"reason": "x"}');
    const env = { HOOKSTACK_PERSISTENT: '1' };
    const run = await execa('python3', ['hook.py'], { cwd: temp.path, input, env, reject: false });
    expect(run).toMatchObject({ exitCode, stdout: [HELLO, stdout].filter(Boolean).join('\n') });
  });

  it.each([
    ['return None', 0, '{}'],
    ['sys.exit(0)', 0, '{}'],
    ['sys.exit(2)', 2, ''],
  ])('answers an ordinary input after its hello, also with %s', async (body, exitCode, stdout) => {
    await write(`import sys; ${body}`);
    const env = { HOOKSTACK_PERSISTENT: '1' };
    const input = JSON.stringify(beforeTool());
    const run = await execa('python3', ['hook.py'], { cwd: temp.path, input, env, reject: false });
    expect(run).toMatchObject({ exitCode, stdout: [HELLO, stdout].filter(Boolean).join('\n') });
  });

  it('says that it waits for stdin where that is a terminal', async () => {
    await write('return {}');
    const pty = "import pty, sys; sys.exit(pty.spawn(['python3', 'hook.py']) >> 8)";
    const { stdout, exitCode } = await execa('python3', ['-c', pty], {
      cwd: temp.path,
      // Ctrl+D
      input: '\u0004',
      reject: false,
      timeout: 20_000,
    });
    expect(stdout).toContain('This hook waits for an event on stdin');
    expect(exitCode).toBe(1);
  });

  it('is written for Python 3.8, with its standard library alone', async () => {
    const check = 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 8))';
    await execa('python3', ['-c', check, HELPER]);
    const imported = (await readFile(HELPER, 'utf8')).matchAll(/^(?:import|from) (\w+)/gmu);
    expect(Array.from(imported, ([, name]) => name)).toEqual(['json', 'os', 'sys', 'traceback']);
  });
});

describe('the helper for Python', () => {
  it('is in the package', async () => {
    const pack = ['pack', '--dry-run', '--json', '--ignore-scripts'];
    const { stdout } = await execa('npm', pack, { cwd: path.dirname(path.dirname(HELPER)) });
    const [packed] = JSON.parse(stdout) as { files: { path: string }[] }[];
    const files = packed?.files.map((file) => file.path) ?? [];
    expect(files.filter((file) => file.endsWith('.py'))).toEqual(['python/hookstack.py']);
    expect(files).toContain('docs/persistent-hooks.md');
  });
});
