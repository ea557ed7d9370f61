import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa, execaSync } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeptProcess } from '../author/keptProcess.js';
import { useTempDir } from '../helpers/tempDir.js';
import { EXAMPLES, expectOutcome, tryExample } from './scenario.js';

const ROOT = path.resolve(import.meta.dirname, '../..');
const temp = useTempDir();

const missing = ['git', 'python3'].filter(
  (program) => execaSync(program, ['--version'], { reject: false }).failed,
);

interface Example {
  readonly script: string;
  /** Two events, and what is answered to each. */
  readonly asked: readonly (readonly [input: object, answer: object])[];
  /** That the whole scenario takes: one for each command and session. */
  readonly processes: number;
}

const write = (tool_input: object) => ({
  hook_event_name: 'BeforeTool',
  tool_name: 'write_file',
  tool_input,
});

const said = (text: string) => ({ hook_event_name: 'AfterModel', llm_response: { text } });

const EXAMPLE: Readonly<Record<string, Example>> = {
  'secret-scanning': {
    script: 'scan-secrets.py',
    asked: [
      [
        write({ content: "password = 'correct-horse'" }),
        {
          output: {
            decision: 'block',
            reason:
              'Nothing was written: line 1 looks like a password. Read secrets from the environment.',
          },
        },
      ],
      [write({ content: 'x' }), {}],
    ],
    processes: 1,
  },
  'pii-redaction': {
    script: 'redact-pii.py',
    asked: [
      [
        said('Write to ada@example.com.'),
        {
          output: { hookSpecificOutput: { llm_response: { text: 'Write to [e-mail address].' } } },
        },
      ],
      [said('Hello.'), {}],
    ],
    processes: 1,
  },
  'cost-control': {
    script: 'budget.py',
    asked: [
      [{ hook_event_name: 'BeforeModel' }, {}],
      [
        {
          hook_event_name: 'AfterModel',
          llm_response: { usageMetadata: { totalTokenCount: 200_000 } },
        },
        {},
      ],
      [
        { hook_event_name: 'BeforeToolSelection' },
        { output: { hookSpecificOutput: { toolConfig: { mode: 'NONE' } } } },
      ],
    ],
    // Two sessions, with one script for three events.
    processes: 2,
  },
  'policy-service': {
    script: 'ask-policy.mjs',
    asked: [
      [write({ file_path: 'a' }), { exitCode: 1, output: {} }],
      [write({ file_path: 'b' }), { exitCode: 1, output: {} }],
    ],
    processes: 1,
  },
  'file-protection': {
    script: 'protect-files.mjs',
    asked: [
      [
        write({ file_path: 'x/../.env' }),
        {
          output: {
            decision: 'block',
            reason: '.env is protected. Tell the user which change you would make.',
          },
        },
      ],
      [write({ file_path: 'a.txt' }), {}],
      [write({}), { exitCode: 1 }],
    ],
    processes: 1,
  },
};

/** A project with the hooks of an example, and this package. */
async function install(name: string): Promise<string> {
  const project = path.join(temp.path, 'shop');
  await mkdir(path.join(project, 'node_modules'), { recursive: true });
  await symlink(ROOT, path.join(project, 'node_modules/hookstack'));
  await cp(path.join(EXAMPLES, name, 'hooks'), path.join(project, '.llxprt/hooks'), {
    recursive: true,
  });
  return project;
}

/** Puts programs in front of the interpreters on the PATH, which count the hooks that these start. */
async function countStarts(): Promise<{ PATH: string; starts: () => Promise<string[]> }> {
  const log = path.join(temp.path, 'starts');
  const bin = path.join(temp.path, 'bin');
  await mkdir(bin);
  await writeFile(log, '');
  for (const program of ['node', 'python3']) {
    const { stdout: real } = await execa('bash', ['-c', `type -P ${program}`]);
    const script = `#!/bin/sh\ncase "$1" in */.llxprt/hooks/*) echo "$1" >> '${log}' ;; esac\nexec '${real}' "$@"\n`;
    await writeFile(path.join(bin, program), script);
    await chmod(path.join(bin, program), 0o755);
  }
  return {
    PATH: `${bin}:${process.env['PATH']}`,
    starts: async () => (await readFile(log, 'utf8')).split('\n').slice(0, -1),
  };
}

describe.skipIf(missing.length > 0).each(Object.entries(EXAMPLE))(
  'the example %s as a persistent hook',
  (name, { script, asked, processes }) => {
    it('answers one event after the other', async () => {
      const project = await install(name);
      const program = script.endsWith('.py') ? 'python3' : process.execPath;
      const kept = new KeptProcess(program, [path.join('.llxprt/hooks', script)], project);
      onTestFinished(() => void kept.child.kill('SIGKILL'));
      expect(await kept.line()).toBe('{"hookstack":1}');
      const fields = { session_id: 's', cwd: project, timestamp: '2026-01-01T10:00:00Z' };
      for (const [index, [input, answer]] of asked.entries()) {
        const got = await kept.ask({ ...fields, ...input });
        const { stderr: _, ...rest } = got ?? {};
        expect(rest).toEqual({ id: index + 1, ...answer });
      }
      expect(await kept.end()).toBe(0);
    });

    it(
      'does what its scenario says, with one process for all events of a session',
      { timeout: 60_000 },
      async () => {
        const { PATH, starts } = await countStarts();
        expectOutcome(await tryExample(name, ['--persistent'], { PATH }), name);
        expect(await starts()).toHaveLength(processes);
      },
    );
  },
);

it.skipIf(missing.length > 0)(
  'the demo starts each hook once where they are persistent',
  async () => {
    const { PATH, starts } = await countStarts();
    const args = [path.join(EXAMPLES, 'demo/demo.mjs'), '--persistent'];
    const { stdout, stderr } = await execa(process.execPath, args, { env: { PATH } });
    expect(stderr).toBe('');
    expect(stdout).toContain('7 of 7 effects happened.');
    // Those that run at each call of the model run several times.
    expect(stdout.match(/hook {3}mask-email/g)?.length).toBeGreaterThan(1);
    const names = (await starts()).map((script) => path.basename(script)).toSorted();
    expect(names).toEqual([
      'ask-for-review.mjs',
      'drafts-only.mjs',
      'explain-orders.py',
      'mask-email.mjs',
      'redact-cards.mjs',
    ]);
  },
);

it('the helper for Python is the same wherever it stands', async () => {
  const original = await readFile(path.join(ROOT, 'python/hookstack.py'), 'utf8');
  const copies = [
    'cost-control/hooks',
    'pii-redaction/hooks',
    'secret-scanning/hooks',
    'demo/workspace/.llxprt/hooks',
  ];
  for (const folder of copies) {
    const copy = await readFile(path.join(EXAMPLES, folder, 'hookstack.py'), 'utf8');
    expect(copy, folder).toBe(original);
  }
});
