import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answer, Cli, group, toolCall } from './helpers.js';

const cli = new Cli();

const SCRIPTS = {
  'g.py': ['python3', 'import sys\nopen("/none/" + sys.stdin.read()[:0] + "my-plan")\n'],
  'g.mjs': ['node', '\nthrow new RangeError("my-plan");\n'],
  'g.sh': ['bash', '\nset -u\necho $MY_PLAN\n'],
} as const;

it.each([
  [
    'g.py',
    ' (FileNotFoundError at g.py:2)',
    "FileNotFoundError: [Errno 2] No such file or directory: '/none/my-plan'",
  ],
  ['g.mjs', ' (RangeError at g.mjs:2)', 'RangeError: my-plan'],
  ['g.sh', ' (at g.sh:3)', 'MY_PLAN: unbound variable'],
] as const)(
  'a guard that failed in %s is explained to the user, and in a few words to the model',
  async (file, brief, full) => {
    const [program, source] = SCRIPTS[file];
    const path = await cli.write(file, source);
    const settings = await cli.settings({
      BeforeTool: group(`${program} ${path}`, { name: 'guard', onFailure: 'deny' }),
    });
    const calls = await cli.record(
      answer(toolCall('write_file', { file_path: 'a.txt', content: 'x' })),
      answer('Done.'),
    );
    const given = [
      '--settings',
      settings,
      '--responses',
      calls,
      '--transcript',
      'transcript.jsonl',
    ];
    const { stderr } = await cli.run(['run', 'Write.', ...given]);
    expect(stderr).toContain(`${full} (${path}:`);
    const denial = `The hook "guard" must not be bypassed, and it exited with code 1${brief}`;
    expect(stderr).toContain(`blocked: write_file by guard: ${denial}`);
    const read = await readFile(join(cli.project, 'transcript.jsonl'), 'utf8');
    expect(read).toContain(JSON.stringify(denial).slice(1, -1));
    expect(read).not.toMatch(/my-plan|MY_PLAN|unbound/u);
  },
);
