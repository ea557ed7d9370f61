import { readFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { ToolErrorType, type Tool } from '../../src/tools/tools.js';
import { reply } from '../core/helpers/modelAnswers.js';
import { blocking, hook, saying } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { compilePackage, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED } from './helpers/host.js';

const WAITING = ': > started; until [ -e go ]; do sleep 0.01; done';

/** A tool that says whether it ran. */
function createTool(): Tool & { runs: number } {
  const tool = {
    name: 'write_file',
    declaration: { name: 'write_file' },
    runs: 0,
    async execute() {
      tool.runs += 1;
      return { llmContent: 'done', returnDisplay: 'done' };
    },
  };
  return tool;
}

describe('events at the same time', () => {
  fault('51 two first events at once: one initialization', async ({ host }) => {
    const config = new ChangingConfig(host.defaults);
    config.hooks = { BeforeTool: [{ hooks: [blocking('no')] }] };
    const answers = await Promise.all([host.callToolOf(config), host.callToolOf(config)]);
    expect(answers).toMatchObject([{ verdict: 'blocked' }, { verdict: 'blocked' }]);
    expect(config.reads).toBe(1);
  });

  fault('52 parallel events share nothing mutable', async ({ host }) => {
    const echo = String.raw`sed -E 's/.*"id":([0-9]+).*/{"hookSpecificOutput":{"tool_input":{"seen":\1}}}/'`;
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook(echo)] }] } });
    const ids = Array.from({ length: 20 }, (_, index) => index);
    const inputs = ids.map((id) => ({ id }));
    const answers = await Promise.all(
      inputs.map((toolInput) => host.callToolOf(config, { toolInput })),
    );
    expect(answers.map(({ input }) => input)).toEqual(ids.map((id) => ({ id, seen: id })));
    expect(inputs).toEqual(ids.map((id) => ({ id })));
    expect(new Set(answers.flatMap(({ hooks }) => hooks)).size).toBe(ids.length);
  });
});

describe('an abort', TIMED, () => {
  fault('53 before: no hook and no tool runs', async ({ host }) => {
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook(': > ran')] }] } });
    const tool = createTool();
    const scheduler = new CoreToolScheduler({ config, tools: [tool] });
    const signal = AbortSignal.abort();
    const [call] = await scheduler.schedule([{ name: 'write_file' }], { signal });
    expect(call?.result.error?.type).toBe(ToolErrorType.Cancelled);
    expect(tool.runs).toBe(0);
    expect(host.exists('ran')).toBe(false);
  });

  fault('53 during: the hook and its child end, the tool does not run', async ({ host }) => {
    const hooks = { BeforeTool: [{ hooks: [hook(': > started; sleep 300 & sleep 300')] }] };
    const tool = createTool();
    const scheduler = new CoreToolScheduler({
      config: host.createConfig({ hooks }),
      tools: [tool],
    });
    const user = new AbortController();
    const scheduled = scheduler.schedule([{ name: 'write_file' }], { signal: user.signal });
    await host.waitForFile('started');
    const startedAt = performance.now();
    user.abort();
    const [call] = await scheduled;
    const answerMs = performance.now() - startedAt;
    host.measure('answer', answerMs, 'ms');
    expect(host.leftovers()).toEqual([]);
    expect(call?.result.error?.type).toBe(ToolErrorType.Cancelled);
    expect(answerMs).toBeLessThan(500);
    expect(tool.runs).toBe(0);
    expect(host.runWarnings).toMatchObject([{ details: { kind: 'aborted' } }]);
  });
});

describe('54 dispose during a run', () => {
  fault('54 the run ends as if nothing had happened', async ({ host }) => {
    const messageBus = new InProcessMessageBus(host.logger);
    const hooks = { BeforeTool: [{ hooks: [hook(`${WAITING}; exit 2`)] }] };
    const config = host.createConfig({ hooks, messageBus });
    const calling = host.callToolOf(config);
    await host.waitForFile('started');
    await config.getHookSystem()?.dispose();
    await config.getHookSystem()?.dispose();
    host.touch('go');
    expect(await calling).toMatchObject({ verdict: 'blocked' });
    expect(host.warnings).toEqual([]);
    // Direct events go on, too.
    expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked' });
  });
});

describe('how many hooks run at a time', TIMED, () => {
  fault.for([1, 3])('maxParallelHooks: never more than %s', async (maxParallelHooks, { host }) => {
    // Each hook counts who is there with it: a directory for each, made and removed.
    const commands = Array.from(
      { length: 8 },
      (_, index) => `mkdir -p in/${index}; ls in | wc -l >> counts; sleep 0.05; rmdir in/${index}`,
    );
    const hooks = { BeforeTool: [{ hooks: commands.map((command) => hook(command)) }] };
    const answer = await host.callToolOf(host.createConfig({ hooks, maxParallelHooks }));
    expect(answer.hooks.map(({ success }) => success)).toEqual(Array(8).fill(true));
    const counts = host.lines('counts').map(Number);
    expect(counts).toHaveLength(8);
    expect(Math.max(...counts)).toBe(maxParallelHooks);
  });

  fault('maxParallelHooks: a timeout counts from the start of its own hook', async ({ host }) => {
    // One after the other, they take longer than each of them may.
    const hooks = Array.from({ length: 4 }, (_, index) =>
      hook(`sleep 0.3; : ${index}`, { timeout: 800 }),
    );
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks }] }, maxParallelHooks: 1 });
    const answer = await host.callToolOf(config);
    expect(answer.answerMs).toBeGreaterThan(1_200);
    expect(answer.hooks.map(({ success }) => success)).toEqual([true, true, true, true]);
    expect(host.runWarnings).toEqual([]);
  });
});

describe('55 a hook that starts the agent', () => {
  let compiled: CompiledPackage;
  let removePackage: () => Promise<void>;

  beforeAll(async () => {
    const { directory, remove } = await makeTempDir();
    removePackage = remove;
    compiled = await compilePackage(directory);
  });
  afterAll(() => removePackage());

  fault('55 depth counted in the environment, refused at 3', async ({ host }) => {
    const responses = await host.write('model.responses', `${JSON.stringify(reply('Done.'))}\n`);
    const agent = `node '${compiled.cli}' run again --settings settings.json --responses '${responses}'`;
    const command = `echo $HOOKSTACK_DEPTH >> depths; ${agent} 2>> warnings`;
    const hooks = { BeforeAgent: [{ hooks: [hook(command, { name: 'recursive' })] }] };
    await host.write('settings.json', { enableHooks: true, hooks });

    const { stdout } = await execa('bash', ['-c', `${agent} 2>> warnings`], {
      cwd: host.directory,
      env: { HOOKSTACK_DEPTH: '' },
    });
    expect(stdout).toContain('Done.');
    expect(host.lines('depths')).toEqual(['1', '2', '3']);
    const warnings = readFileSync(path.join(host.directory, 'warnings'), 'utf8');
    expect(warnings.match(/"recursive" was not started: .*3 deep already/g)).toHaveLength(1);
  });

  fault('55 a guard at that depth blocks', async ({ host }) => {
    vi.stubEnv('HOOKSTACK_DEPTH', '3');
    try {
      const guard = hook(': > ran', { name: 'guard', onFailure: 'deny' });
      const { verdict, text } = await host.callTool([guard]);
      expect(verdict).toBe('blocked');
      expect(text).toMatch(/"guard".*3 deep already/);
      expect(host.exists('ran')).toBe(false);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  fault('55 a hook cannot set its depth back', async ({ host }) => {
    const hooks = [
      saying({}, { env: { HOOKSTACK_DEPTH: '0' }, before: 'echo $HOOKSTACK_DEPTH > d' }),
    ];
    await host.callTool(hooks);
    expect(host.lines('d')).toEqual(['1']);
  });
});
