import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { Cli, group } from './helpers.js';

const ROOT = resolve(import.meta.dirname, '../..');
const cli = new Cli();

beforeEach(async () => {
  await mkdir(join(cli.project, 'node_modules'), { recursive: true });
  await symlink(ROOT, join(cli.project, 'node_modules/hookstack'));
  await copyFile(join(ROOT, 'python/hookstack.py'), join(cli.project, 'hookstack.py'));
});

interface Examined {
  status: string;
  ending: string;
  persistent: { file: string; line: number; asked: number; processes: number } | null;
  findings: { severity: string; message: string }[];
}

const RUN = { sh: 'bash', mjs: 'node', py: 'python3' };

/** Examines a persistent hook that is this script. */
async function examine(
  extension: keyof typeof RUN,
  script: string,
  settings: Partial<CommandHookConfig> & { event?: string; matcher?: string } = {},
) {
  const { event = 'BeforeTool', ...hook } = settings;
  await cli.write(`stay.${extension}`, script);
  const command = `${RUN[extension]} "$LLXPRT_PROJECT_DIR/stay.${extension}"`;
  const file = await cli.settings({
    [event]: group(command, { name: 'stay', persistent: true, ...hook }),
  });
  const ran = await cli.run(['doctor', '--json', '--settings', file]);
  const { hooks } = JSON.parse(ran.stdout) as { hooks: Examined[] };
  const [examined] = hooks;
  if (!examined) throw new Error(ran.stderr);
  const said = examined.findings.map(({ severity, message }) => `${severity}: ${message}`);
  return { ...examined, file, said: said.join('\n'), exitCode: ran.exitCode };
}

/** A hook in JavaScript: `body` is that of its handler. */
function inNode(body: string, before = ''): string {
  return `import { Block, defineHook } from 'hookstack/author';\n${before}\ndefineHook('BeforeTool', async ({ tool_input: input }) => {\n${body}\n});\n`;
}

function inPython(body: string, before = ''): string {
  return `import os\nfrom hookstack import Block, define_hook\n${before}\ndef hook(event):\n    ${body}\n\ndefine_hook("BeforeTool", hook)\n`;
}

/** A hook in bash: `answer` is what it does for each event, of `line` and `id`. */
function inBash(answer: string, before = `echo '{"hookstack":1}'`): string {
  return `${before}\nn=0\nwhile IFS= read -r line; do\n  id=\${line#*:}; id=\${id%%,*}; n=$((n + 1))\n  ${answer}\ndone\n`;
}

const IN_ONE = { asked: 3, processes: 1 };

describe('doctor asks a persistent hook three times in one process', () => {
  it.each([
    ['mjs', inNode('if (input.file_path === "x") throw new Block("no");')],
    ['py', inPython('return {"systemMessage": "hello"}')],
    ['sh', inBash('printf \'{"id":%s,"output":{}}\\n\' "$id"')],
  ] as const)('and finds nothing wrong with a good one: %s', async (extension, script) => {
    const examined = await examine(extension, script);
    expect(examined).toMatchObject({ status: 'ok', said: '', exitCode: 0, persistent: IN_ONE });
    expect(examined.persistent).toMatchObject({ file: examined.file, line: 1 });
  });

  it.each(['BeforeTool', 'SessionStart', 'BeforeModel', 'BeforeAgent', 'Notification'])(
    'about the same event, also of %s',
    async (event) => {
      const seen = join(cli.project, 'seen');
      const script = inBash(`echo "$line" >> '${seen}'; echo "{\\"id\\":$id}"`);
      const examined = await examine('sh', script, { event });
      expect(examined).toMatchObject({ status: 'ok', persistent: IN_ONE });
      const lines = (await cli.read('seen')).trim().split('\n');
      expect(lines).toHaveLength(3);
      expect(new Set(lines.map((line) => line.replace(/\{"id":\d+,/u, ''))).size).toBe(1);
    },
  );

  it('and tells a reader so, with the place of its settings', async () => {
    await cli.write('stay.mjs', inNode(''));
    const file = await cli.userSettings({
      BeforeTool: group('node "$LLXPRT_PROJECT_DIR/stay.mjs"', { name: 'stay', persistent: true }),
    });
    const { stdout } = await cli.run(['doctor']);
    expect(stdout).toMatch(/^stay \[ok\]\n {2}BeforeTool of write_file: exit code 0: /u);
    expect(stdout).toContain(
      `\n  persistent (${file}:1): asked 3 times, answered by 1 kept process\n`,
    );
  });
});

const ADVICE =
  /\(a persistent hook prints \{"hookstack":1\} first, and then answers line by line: use defineHook or the Python helper, or remove "persistent"; see docs: Persistent hooks\)/u;

describe('doctor says where a persistent hook does not speak the protocol', () => {
  it.each([
    [
      'an ordinary hook in bash',
      'sh',
      'cat > /dev/null; echo {}',
      /^error: it said no hello within 2 s of its start \(/u,
    ],
    ['one that ends at once', 'sh', 'true', /^error: it ended with exit code 0 before it said h/u],
    [
      'an ordinary hook in Python',
      'py',
      'import sys\nsys.stdin.read()\nprint("{}")',
      /^error: it said no hello within 2 s/u,
    ],
    [
      'one that prints something first',
      'mjs',
      'console.log("{}"); process.stdin.resume();',
      /^error: it wrote something else before its hello \(/u,
    ],
    [
      'one of another version',
      'sh',
      inBash('true', `echo '{"hookstack":2}'`),
      /^error: it speaks another version of the protocol/u,
    ],
    [
      'one that says hello too late',
      'mjs',
      inNode('return {};', 'await new Promise((resolve) => setTimeout(resolve, 2_500));'),
      /^error: it said no hello within 2 s/u,
    ],
  ] as const)('%s', async (_, extension, script, says) => {
    const examined = await examine(extension, script);
    expect(examined.said).toMatch(says);
    expect(examined.said).toMatch(ADVICE);
    expect(examined.findings).toHaveLength(1);
    expect(examined).toMatchObject({ status: 'error', exitCode: 1 });
    expect(examined.persistent).toMatchObject({ line: 1, asked: 1, processes: 0 });
  });

  it.each([
    ['an exception', 'raise KeyError("gone")', "KeyError: 'gone'"],
    ['a syntax error', 'def broken(:', 'SyntaxError: invalid syntax'],
  ])('and only what made it end before: %s', async (_, script, why) => {
    const { said, exitCode } = await examine('py', script);
    expect(said).toContain(`error: it ended with exit code 1 before it said hello: ${why}`);
    expect(said).not.toContain('a persistent hook prints');
    expect(exitCode).toBe(1);
  });

  it('and that no process answered, in words for people', async () => {
    await cli.userSettings({ BeforeTool: group('exit 1', { name: 'stay', persistent: true }) });
    const { stdout } = await cli.run(['doctor']);
    expect(stdout).toContain('asked 1 time, answered by none\n');
  });

  it('and what it has to say, where it ends without a word', async () => {
    const { said } = await examine('sh', 'exit 1');
    expect(said).toMatch(/^error: it ended with exit code 1 before it said hello \(a persistent/u);
  });
});

describe('doctor says how a persistent hook breaks the protocol', () => {
  it.each([
    [
      'another id',
      'echo "{\\"id\\":99}"',
      /^error: it answered for another event \(id 99, asked was 1\)/u,
    ],
    ['no id', 'echo "{}"', /^error: it answered without the id of the event \(1\)/u],
    ['no JSON', 'echo done', /^error: it wrote a line that is no JSON object/u],
    ['a wrong last', 'echo "{\\"id\\":$id,\\"last\\":1}"', /^error: it answered with a "last"/u],
    ['an end', 'exit 3', /^error: it ended with exit code 3 while it owed an answer/u],
    [
      'a wrong id the second time',
      'echo "{\\"id\\":1}"',
      /^error: asked about a further event, it answered for another event \(id 1, asked was 2\)/u,
    ],
    [
      'a line after its answer',
      'echo "{\\"id\\":$id}"; sleep 0.03; echo more',
      // On a busy machine it comes with the answer, or after the next event.
      /^error: .*it wrote (to its stdout while nothing was asked|more than one answer|a line that is no)/u,
    ],
  ] as const)('by %s', async (_, answer, says) => {
    const examined = await examine('sh', inBash(answer));
    expect(examined.said).toMatch(says);
    expect(examined.said).toMatch(
      /: answer each event with one line that has its id, .* \(see docs: Persistent hooks\)$/u,
    );
    expect(examined).toMatchObject({ status: 'error', exitCode: 1 });
  });

  it('where print goes to stdout without the helper', async () => {
    const { said } = await examine(
      'py',
      'import sys\nprint(\'{"hookstack":1}\', flush=True)\nfor line in sys.stdin:\n    print("checking", flush=True)\n',
    );
    expect(said).toMatch(/^error: it wrote a line that is no JSON object instead of its answer/u);
  });

  it('where it never answers', async () => {
    const { said } = await examine(
      'mjs',
      inNode('await new Promise(() => setTimeout(() => {}, 60_000));'),
      {
        timeout: 500,
      },
    );
    expect(said).toBe('error: it timed out after 500 ms; make it faster, or raise its "timeout"');
  });

  it('where it does not stay, though it breaks nothing', async () => {
    const { said, status } = await examine('mjs', inNode('process.exit(0);'));
    expect(said).toMatch(
      /^warning: its process did not stay for the next event, which started another one/u,
    );
    expect(status).toBe('warning');
  });
});
