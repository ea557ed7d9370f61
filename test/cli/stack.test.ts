import { describe, expect, it } from 'vitest';
import { answer, Cli, toolCall } from './helpers.js';

const cli = new Cli();

const GUARD = `export default async function guard(call) {
  call.block('not on Sundays');
}`;

const stage = (name: string) => ({ name, kind: 'stage', reason: null });
const TOOL_STAGES = ['beforeTool', 'afterTool', 'execute'].map(stage);

async function showJson(...args: string[]) {
  const { exitCode, stdout, stderr } = await cli.run(['stack', '--json', ...args]);
  expect(exitCode).toBe(0);
  return { stacks: JSON.parse(stdout) as Record<string, object[]>, stderr };
}

describe('stack', () => {
  it('shows the stages of each stack, from the outside in', async () => {
    expect(await cli.run(['stack'])).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `tool
  beforeTool
  afterTool
  execute

model
  beforeToolSelection
  beforeModel
  afterModel
  openStream

hook
  enablementGate
  planner
  translator
  runner
  aggregator`,
    });
  });

  it('shows the middleware of extensions where it stands', async () => {
    const middleware = [
      { module: './guard.mjs', stack: 'tool', policy: true },
      { module: './guard.mjs', stack: 'tool', before: 'execute', name: 'late' },
    ];
    await cli.extension('user', 'week', { middleware }, { 'guard.mjs': GUARD });
    const { stacks } = await showJson('tool');
    expect(stacks).toEqual({
      tool: [
        { name: 'week/guard', kind: 'middleware', reason: null },
        ...TOOL_STAGES.slice(0, 2),
        { name: 'week/late', kind: 'middleware', reason: null },
        ...TOOL_STAGES.slice(2),
      ],
    });
    const { stdout } = await cli.run(['stack', 'tool']);
    expect(stdout).toContain('  week/guard [active]\n  beforeTool\n');
  });

  it('names what a project brings that is not trusted, and imports nothing of it', async () => {
    const middleware = [{ module: './guard.mjs', stack: 'tool', after: 'afterTool' }];
    const files = { 'guard.mjs': `process.stderr.write('imported');${GUARD}` };
    await cli.extension('project', 'week', { middleware }, files);
    const { stacks, stderr } = await showJson('tool');
    const reason =
      'it has not been allowed yet; to see and allow it, run in the project: hookstack trust';
    const layer = { name: 'week/guard', kind: 'middleware', reason };
    expect(stacks['tool']?.[2]).toEqual(layer);
    expect(stderr).toBe('');
    const { stdout } = await cli.run(['stack', 'tool']);
    expect(stdout).toContain(`  week/guard [not run: ${reason}]\n`);
    // What a module writes itself goes to the stderr of the process.
    const trusted = await cli.runProgram(['stack', '--json', '--trust']);
    expect(trusted).toMatchObject({ exitCode: 0, stderr: 'imported' });
  });

  it('tells what cannot be loaded, and what stands in its place', async () => {
    const middleware = [{ module: './none.mjs', stack: 'model', policy: true }];
    const file = await cli.extension('user', 'week', { middleware });
    const { stacks, stderr } = await showJson('model');
    expect(stacks['model']?.[0]).toMatchObject({ name: 'week/none' });
    expect(stderr).toMatch(/^warning: .*:1:\d+: middleware\[0\]\.module: there is no file/u);
    expect(stderr).toContain(file);
  });

  it('refuses a stack that there is not', async () => {
    expect(await cli.run(['stack', 'tols'])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `error: There is no stack "tols"; did you mean 'tool'?`,
    });
  });
});

const run = async (...args: string[]) => {
  const responses = await cli.record(
    answer(toolCall('write_file', { file_path: 'a.txt', content: 'a' })),
    answer('done'),
  );
  const all = ['run', 'hi', '--responses', responses, '--output-format', 'json', ...args];
  const { exitCode, stdout, stderr } = await cli.run(all);
  expect(exitCode).toBe(0);
  const { toolCalls } = JSON.parse(stdout) as { toolCalls: object[] };
  return { toolCalls, stderr };
};

describe('the agent', () => {
  it('runs with the middleware of extensions', async () => {
    const middleware = [{ module: './guard.mjs', stack: 'tool' }];
    await cli.extension('user', 'week', { middleware }, { 'guard.mjs': GUARD });
    const { toolCalls } = await run();
    expect(toolCalls).toMatchObject([{ status: 'idle', llmContent: 'not on Sundays' }]);
  });

  it('runs without that of a project that is not trusted, and says so', async () => {
    const middleware = [{ module: './guard.mjs', stack: 'tool', policy: true }];
    await cli.extension('project', 'week', { middleware }, { 'guard.mjs': GUARD });
    const { toolCalls, stderr } = await run();
    expect(toolCalls).toMatchObject([{ status: 'success' }]);
    expect(stderr).toMatch(
      /middleware\[0\]: not used: it has not been allowed yet; .*: hookstack trust/u,
    );
    expect((await run('--trust')).toolCalls).toMatchObject([{ status: 'idle' }]);
  });
});
