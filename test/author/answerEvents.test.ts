import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';
import { KeptProcess } from './keptProcess.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const HELLO = '{"hookstack":1}';
const temp = useTempDir();

beforeEach(async () => {
  await mkdir(path.join(temp.path, 'node_modules'));
  await symlink(ROOT, path.join(temp.path, 'node_modules/hookstack'));
});

/** Writes a hook of BeforeTool, or a script that starts like that. */
async function write(source: string): Promise<void> {
  const body = source.includes('defineHook(') ? source : `defineHook('BeforeTool', ${source});`;
  await writeFile(
    path.join(temp.path, 'hook.mjs'),
    `import { Block, defineHook } from 'hookstack/author';\nvoid Block;\n${body}\n`,
  );
}

async function start(source: string): Promise<KeptProcess> {
  await write(source);
  const kept = new KeptProcess(process.execPath, ['hook.mjs'], temp.path);
  onTestFinished(() => void kept.child.kill('SIGKILL'));
  expect(await kept.line()).toBe(HELLO);
  return kept;
}

const beforeTool = (fields: object = {}) => ({ hook_event_name: 'BeforeTool', ...fields });

/** What a process for one event says. */
async function asOrdinary(source: string, env: Record<string, string> = {}) {
  await write(source);
  const { exitCode, stdout, stderr } = await execa('node', ['hook.mjs'], {
    cwd: temp.path,
    input: JSON.stringify(beforeTool({ tool_name: 'x' })),
    env,
    reject: false,
    stripFinalNewline: false,
  });
  return { exitCode, stdout, stderr: withoutPackage(stderr) };
}

/** Without the places in this package that an error came through. */
function withoutPackage(stderr: string): string {
  return stderr.replaceAll(/^ +at .*\/dist\/.*\n/gmu, '');
}

/** The same of one that is kept, put together as the host does. */
async function asPersistent(source: string) {
  const kept = await start(source);
  const answer = await kept.ask(beforeTool({ tool_name: 'x' }));
  expect(answer?.id).toBe(1);
  const end = await kept.end();
  const { output, stdout, exitCode = 0, stderr = '', last = false } = answer ?? {};
  expect(end).toBe(last ? exitCode : 0);
  expect(output === undefined || stdout === undefined).toBe(true);
  return {
    exitCode,
    stdout: output ? `${JSON.stringify(output)}\n` : (stdout ?? ''),
    stderr: withoutPackage(`${await kept.stderr}${stderr}`),
    last,
  };
}

function eventLine(id: unknown, n: string): string {
  return `${JSON.stringify({ id, input: beforeTool({ n }) })}\n`;
}

describe('a hook made with defineHook that is kept', () => {
  it('answers one event after the other, with what it remembers', async () => {
    const kept = await start(
      'let seen = 0;\ndefineHook("BeforeTool", ({ tool_name }) => ({ systemMessage: `${tool_name} ${++seen}` }));',
    );
    expect(await kept.ask(beforeTool({ tool_name: 'a' }))).toEqual({
      id: 1,
      output: { systemMessage: 'a 1' },
    });
    expect(await kept.ask(beforeTool({ tool_name: 'ü' }))).toEqual({
      id: 2,
      output: { systemMessage: 'ü 2' },
    });
    expect(await kept.end()).toBe(0);
    expect(await kept.stderr).toBe('');
  });

  it.each([
    ['an answer', '() => ({ decision: "deny", reason: "no" })', false],
    ['nothing', '() => undefined', false],
    ['a Block', 'async () => { await null; throw new Block("not today\\nbut tomorrow"); }', false],
    ['an error', '() => { throw new TypeError("no rules"); }', false],
    ['a text that is thrown', '() => { throw "no"; }', false],
    ['a text in place of an answer', '() => "blocked"', false],
    ['a list', '() => []', false],
    ['what is no JSON', '() => ({ reason: 1n })', false],
    ['what says nothing of itself', '() => ({ toJSON: () => undefined })', false],
    ['what says of itself that it is a list', '() => ({ toJSON: () => [1] })', false],
    ['another event', 'defineHook("AfterTool", () => ({}))', false],
    ['what it logs', '() => { console.log("seen"); console.error("so"); }', false],
    ['text on stdout', '() => { process.stdout.write("Use tabs.\\n"); }', false],
    ['bytes on stdout', '() => { process.stdout.write(Buffer.from("ü")); }', false],
    ['an answer on stdout', '() => { process.stdout.write("{}\\n"); }', false],
    [
      'half an answer on stdout',
      '() => { process.stdout.write("{"); return { reason: "x" }; }',
      false,
    ],
    ['text on stdout, and an error', '() => { process.stdout.write("x"); throw "no"; }', false],
    ['exit code 2', '() => { console.error("why"); process.exitCode = 2; }', false],
    ['exit code "2"', '() => { process.exitCode = "2"; }', false],
    ['process.exit(2)', '() => { console.error("why"); process.exit(2); }', true],
    [
      'process.exit(2), later',
      '() => { setImmediate(() => process.exit(2)); return new Promise(() => {}); }',
      true,
    ],
    ['process.exit(-1)', '() => process.exit(-1)', true],
    ['process.exit()', '() => { process.exitCode = 3; process.exit(); }', true],
  ])('answers %s as a process of its own does', async (_, source, last) => {
    const ordinary = await asOrdinary(source);
    expect(await asPersistent(source)).toEqual({ ...ordinary, last });
  });

  it.each([
    ['thrown', 'throw new RangeError("too far")', 'RangeError: too far'],
    ['a promise', 'void Promise.reject(new RangeError("too far"))', 'RangeError: too far'],
    ['no error', 'throw "a text"', "Uncaught 'a text'"],
  ])('says what nobody has caught (%s), and ends', async (_, failing, message) => {
    const source = `() => { setImmediate(() => { ${failing}; }); return new Promise(() => {}); }`;
    expect(await asOrdinary(source)).toMatchObject({ exitCode: 1 });
    const { stderr, ...rest } = await asPersistent(source);
    expect(rest).toEqual({ exitCode: 1, stdout: '', last: true });
    expect(stderr.split(message)).toHaveLength(2);
    expect(stderr).toContain(`Node.js ${process.version}`);
  });

  it('goes on where the hook itself takes what nobody has caught', async () => {
    const kept = await start(
      `process.on('uncaughtException', () => undefined);
defineHook('BeforeTool', () => new Promise((resolve) => {
  setImmediate(() => { setImmediate(() => resolve({ reason: 'still here' })); throw new Error('x'); });
}));`,
    );
    expect(await kept.ask(beforeTool())).toEqual({ id: 1, output: { reason: 'still here' } });
  });

  it('forgets the exit code of one event before the next', async () => {
    const kept = await start('({ block }) => { if (block) process.exitCode = 2; }');
    expect(await kept.ask(beforeTool({ block: true }))).toEqual({ id: 1, exitCode: 2 });
    expect(await kept.ask(beforeTool())).toEqual({ id: 2 });
    expect(await kept.end()).toBe(0);
  });

  it('keeps what is written after the answer from the next', async () => {
    const kept = await start('() => { setImmediate(() => process.stdout.write("late")); }');
    expect(await kept.ask(beforeTool())).toEqual({ id: 1 });
    expect(await kept.ask(beforeTool())).toMatchObject({ id: 2 });
    expect(await kept.end()).toBe(0);
    expect(await kept.line()).toBeUndefined();
  });

  it('waits for a promise that does not settle, and says so when stdin ends', async () => {
    const kept = await start('() => new Promise(() => {})');
    const asked = kept.ask(beforeTool());
    const soon = new Promise((resolve) => setTimeout(resolve, 300, 'nothing yet'));
    expect(await Promise.race([asked, soon, kept.ended()])).toBe('nothing yet');
    expect(await kept.end()).toBe(1);
    expect(await asked).toEqual({ id: 1, exitCode: 1, last: true });
    expect(await kept.stderr).toContain('The hook never answered');
  });

  it('ends with stdin, whatever still runs', async () => {
    const kept = await start('() => { setInterval(() => {}, 1000); }');
    expect(await kept.ask(beforeTool())).toEqual({ id: 1 });
    expect(await kept.end()).toBe(0);
  });

  it('ends without a word where no event comes', async () => {
    const kept = await start('() => ({})');
    expect(await kept.end()).toBe(0);
    expect(await kept.stderr).toBe('');
  });

  it('does not tell the programs that it starts that they are kept', async () => {
    const kept = await start(
      `import { execFileSync } from 'node:child_process';
defineHook('BeforeTool', () => ({ reason: execFileSync('sh', ['-c', 'echo "[$HOOKSTACK_PERSISTENT]"'], { encoding: 'utf8' }) }));`,
    );
    expect(await kept.ask(beforeTool())).toEqual({ id: 1, output: { reason: '[]\n' } });
  });

  it('takes any other value of the variable for none', async () => {
    const { stdout } = await asOrdinary('() => ({ reason: "x" })', { HOOKSTACK_PERSISTENT: '0' });
    expect(stdout).toBe('{"reason":"x"}\n');
  });

  it('takes a long event, and gives a long answer to one who reads slowly', async () => {
    const kept = await start('({ text }) => ({ reason: text + text })');
    kept.child.stdout.pause();
    const text = 'ü😀\u2028"\\'.repeat(200_000);
    const asked = kept.ask(beforeTool({ text }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    kept.child.stdout.resume();
    expect(await asked).toEqual({ id: 1, output: { reason: text + text } });
    expect(await kept.ask(beforeTool({ text: 'x' }))).toEqual({ id: 2, output: { reason: 'xx' } });
  });

  it('takes events that come in pieces, and several at once', async () => {
    const kept = await start('async ({ n }) => { await null; return { reason: `${n}` }; }');
    for (const byte of Buffer.from(eventLine('é', 'é'))) kept.child.stdin.write(Buffer.of(byte));
    expect(await kept.answer()).toEqual({ id: 'é', output: { reason: 'é' } });
    kept.write(eventLine(2, 'a') + eventLine(3, 'b') + eventLine(4, 'c').slice(0, 9));
    expect(await kept.answer()).toEqual({ id: 2, output: { reason: 'a' } });
    expect(await kept.answer()).toEqual({ id: 3, output: { reason: 'b' } });
    kept.write(eventLine(4, 'c').slice(9));
    expect(await kept.answer()).toEqual({ id: 4, output: { reason: 'c' } });
  });

  it('answers an input without a name, and takes keys for data', async () => {
    const kept = await start('(input) => ({ reason: `${Object.keys(input)} ${{}.polluted}` })');
    expect(await kept.ask(null)).toMatchObject({ exitCode: 1 });
    expect(await kept.ask('BeforeTool')).toMatchObject({ exitCode: 1 });
    kept.write('{"id":9,"input":{"hook_event_name":"BeforeTool","__proto__":{"polluted":1}}}\n');
    expect(await kept.answer()).toEqual({
      id: 9,
      output: { reason: 'hook_event_name,__proto__ undefined' },
    });
  });

  it.each(['no JSON', '7', 'null', '[]', '{"id":3}', '{"input":{}}'])(
    'ends with a failure when a later line is %s',
    async (line) => {
      const kept = await start('() => ({})');
      expect(await kept.ask(beforeTool())).toMatchObject({ id: 1 });
      kept.write(`${line}\n`);
      expect(await kept.ended()).toBe(1);
      expect(await kept.stderr).toContain(`A line on stdin is no event: ${line}`);
    },
  );

  it('says nothing more when nobody reads its answers', async () => {
    const kept = await start('() => ({ reason: "x".repeat(1_000_000) })');
    kept.child.stdout.destroy();
    kept.write(`${JSON.stringify({ id: 1, input: beforeTool() })}\n`);
    expect(await kept.ended()).toBe(0);
    expect(await kept.stderr).toBe('');
  });
});

async function use(source: string, input: string) {
  await write(source);
  const { exitCode, stdout, stderr } = await execa('node', ['hook.mjs'], {
    cwd: temp.path,
    input,
    env: { HOOKSTACK_PERSISTENT: '1' },
    reject: false,
  });
  const [hello, ...rest] = stdout.split('\n');
  expect(hello).toBe(HELLO);
  return { exitCode, stdout: rest.join('\n'), stderr };
}

describe('a kept hook that is used as an ordinary one', () => {
  it.each([
    ['a line', JSON.stringify(beforeTool())],
    ['a line with its end', `${JSON.stringify(beforeTool())}\n`],
    ['several lines', JSON.stringify(beforeTool({ a: ['\n'] }), null, 2)],
  ])('answers %s', async (_, input) => {
    const source = '() => { process.stdout.write(" "); return { reason: "x" }; }';
    const said = await use(source, input);
    expect(said).toEqual({ exitCode: 0, stdout: ' {"reason":"x"}', stderr: '' });
  });

  it('ends with its exit code', async () => {
    const input = JSON.stringify(beforeTool());
    const why = { stdout: '', stderr: 'why' };
    expect(await use('() => { console.error("why"); process.exitCode = 2; }', input)).toEqual({
      exitCode: 2,
      ...why,
    });
    expect(await use('() => { console.error("why"); process.exit(2); }', input)).toEqual({
      exitCode: 2,
      ...why,
    });
  });

  it('says so where it has nothing to say, as silence after a hello is no answer', async () => {
    const input = JSON.stringify(beforeTool());
    expect(await use('() => {}', input)).toEqual({ exitCode: 0, stdout: '{}', stderr: '' });
    const ended = await use('() => process.exit(0)', input);
    expect(ended).toEqual({ exitCode: 0, stdout: '{}', stderr: '' });
    const source = '() => void process.stdout.write("plain")';
    expect(await use(source, input)).toEqual({ exitCode: 0, stdout: 'plain', stderr: '' });
    const blocks = '() => { process.exitCode = 2; }';
    expect(await use(blocks, input)).toEqual({ exitCode: 2, stdout: '', stderr: '' });
  });

  it('says what is wrong with an input that is none', async () => {
    const { exitCode, stderr } = await use('() => ({})', '{"hook');
    expect(exitCode).toBe(1);
    expect(stderr).toContain('stdin is not JSON');
  });
});

it('what only kept hooks need is a file of its own', async () => {
  const bundle = await readFile(path.join(ROOT, 'dist/author.js'), 'utf8');
  expect(bundle).toMatch(/import\(.\.\/chunks\/answerEvents\.js.\)/u);
  const loaded = await readFile(path.join(ROOT, 'dist/chunks/answerEvents.js'), 'utf8');
  const imported = Array.from(loaded.matchAll(/\bfrom\s*"([^"]+)"/gu), ([, from]) => from);
  expect(imported.length).toBeGreaterThan(0);
  for (const module of imported) expect(module).toMatch(/^node:/u);
});
