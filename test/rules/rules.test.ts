import { describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { executeToolWithHooks, fireAfterToolHook } from '../../src/core/coreToolHookTriggers.js';
import { fireHook, hasHooks } from '../../src/hooks/fireHook.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookDefinition,
  type HookDefinitions,
} from '../../src/protocol/types.js';
import { ToolErrorType, type ToolResult } from '../../src/tools/tools.js';
import { chain, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

function rule(fields: Partial<CommandHookConfig>): CommandHookConfig {
  return { type: 'rule', command: '', name: 'r', ...fields };
}

function createConfig(hooks: HookDefinitions, options: ConfigOptions = {}): Config {
  const debugLogger = new RecordingLogger();
  return new Config({ enableHooks: true, workingDir: temp.path, debugLogger, hooks, ...options });
}

const DONE: ToolResult = { llmContent: 'done', returnDisplay: 'done' };

/** What a shell command ran with, and what the model reads. */
async function run(groups: readonly HookDefinition[], command: string) {
  const ran: unknown[] = [];
  const config = createConfig({ BeforeTool: groups });
  const result = await executeToolWithHooks(
    config,
    'run_shell_command',
    { command },
    async (input) => {
      ran.push(input);
      return DONE;
    },
  );
  return { ran, result };
}

function call(command: string) {
  return { toolName: 'run_shell_command', toolInput: { command } };
}

const NO_PUSH = rule({ when: 'Bash(git push *)', decision: 'deny', reason: 'People push.' });
/** Rewrites any command. */
const pushing = saying({ hookSpecificOutput: { tool_input: { command: 'git push --all' } } });

describe('a rule', () => {
  it('denies a call that matches, with its reason, and starts nothing', async () => {
    const { ran, result } = await run([{ hooks: [NO_PUSH] }], 'git push --force');
    expect(ran).toEqual([]);
    expect(result.error).toEqual({ type: ToolErrorType.Blocked, message: 'People push.' });
  });

  it('says nothing of other calls', async () => {
    const { ran, result } = await run([{ hooks: [NO_PUSH] }], 'git status');
    expect(ran).toEqual([{ command: 'git status' }]);
    expect(result).toEqual(DONE);
  });

  it('without a reason says which part matched what', async () => {
    const { result } = await run(
      [{ hooks: [rule({ when: 'Bash(git push *)', decision: 'deny' })] }],
      'git push -f',
    );
    expect(result.error?.message).toBe('The rule "r" is about "git push -f" (Bash(git push *)).');
  });

  it('needs its own condition and that of its group to match', async () => {
    const group = { when: 'Bash(git *)', hooks: [rule({ when: 'Bash(* -f)', decision: 'deny' })] };
    expect((await run([group as HookDefinition], 'git push -f')).ran).toEqual([]);
    expect((await run([group as HookDefinition], 'git push')).ran).toHaveLength(1);
    expect((await run([group as HookDefinition], 'rm -f')).ran).toHaveLength(1);
  });

  it('fixes fields of the arguments', async () => {
    const { ran } = await run([{ hooks: [rule({ set: { timeout: 5 } })] }], 'ls');
    expect(ran).toEqual([{ command: 'ls', timeout: 5 }]);
  });

  it('sees what another hook of a chain has made of the call', async () => {
    const { ran } = await run([chain(pushing, NO_PUSH)], 'git status');
    expect(ran).toEqual([]);
  });

  it('is tried again with what a hook beside it has made of the call', async () => {
    const { ran } = await run([{ hooks: [pushing, NO_PUSH] }], 'git status');
    expect(ran).toEqual([]);
  });

  it('is tried again where a chain has come back to the call that it did not see', async () => {
    const harmless = saying({ hookSpecificOutput: { tool_input: { command: 'git status' } } });
    const { ran } = await run([chain(harmless, NO_PUSH, pushing)], 'git push --all');
    expect(ran).toEqual([]);
  });

  it('lets a call go on that a hook beside it has changed into another that does not match', async () => {
    const other = saying({ hookSpecificOutput: { tool_input: { command: 'git fetch' } } });
    const { ran } = await run([{ hooks: [other, NO_PUSH] }], 'git status');
    expect(ran).toEqual([{ command: 'git fetch' }]);
  });

  it('that matches nothing costs no event', async () => {
    const config = createConfig({ BeforeTool: [{ hooks: [NO_PUSH] }] });
    await fireHook(config, HookEventName.BeforeTool, call('git status'));
    expect(fireHook(config, HookEventName.BeforeTool, call('git status'))).toBeUndefined();
    expect(hasHooks(config, HookEventName.BeforeTool, call('git push x'))).toBe(true);
  });
});

describe('what a rule takes out', () => {
  const KEY = rule({ redact: [{ pattern: 'sk-\\w+', with: '[key $&]' }] });

  it('is in no result', async () => {
    const config = createConfig({ AfterTool: [{ hooks: [KEY] }] });
    const result = { llmContent: [{ text: 'a sk-123' }, { text: 'b' }], returnDisplay: 'sk-9 c' };
    const fired = await fireAfterToolHook(config, 'read_file', {}, result);
    expect(fired?.foreign?.toolOutput).toMatchObject({
      llmContent: [{ text: 'a [key $&]' }, { text: 'b' }],
      returnDisplay: '[key $&] c',
    });
  });

  it('does not come back in what another hook makes of the same result', async () => {
    const copy = saying({ hookSpecificOutput: { tool_response: 'copied sk-123' } });
    const config = createConfig({ AfterTool: [{ hooks: [copy, KEY] }] });
    const result = { llmContent: 'sk-123', returnDisplay: '' };
    const fired = await fireAfterToolHook(config, 'read_file', {}, result);
    expect(JSON.stringify(fired)).not.toContain('sk-123');
  });

  it('is taken out as well where a hook before it objects', async () => {
    for (const objecting of [
      rule({ decision: 'deny', reason: 'no' }),
      saying({ decision: 'block', reason: 'no' }),
      saying({ continue: false, stopReason: 'no' }),
    ]) {
      const config = createConfig({ AfterTool: [{ hooks: [objecting, KEY] }] });
      const result = { llmContent: 'a sk-123', returnDisplay: '' };
      const given = await executeToolWithHooks(config, 'read_file', {}, async () => result);
      expect(given.llmContent).toContain('[key $&]');
      expect(JSON.stringify(given)).not.toContain('sk-123');
    }
  });

  it('is withheld with the result where looking for it takes too long', async () => {
    const endless = rule({ redact: [{ pattern: '^(a+)+$', with: '' }] });
    const config = createConfig({ AfterTool: [{ hooks: [endless] }] });
    const llmContent = `${'a'.repeat(40)}b`;
    const fired = await fireAfterToolHook(
      config,
      'read_file',
      {},
      {
        llmContent,
        returnDisplay: llmContent,
      },
    );
    expect(fired?.isBlockingDecision()).toBe(true);
    expect(JSON.stringify(fired)).toMatch(/withheld.*took longer/);
  });
});

describe('what conditions have found in a call', () => {
  it('is not kept for another one with the same arguments object', async () => {
    const config = createConfig({ BeforeTool: [{ hooks: [NO_PUSH] }] });
    await config.getHookSystem()?.initialize();
    const given = call('git status');
    const ask = () => fireHook(config, HookEventName.BeforeTool, given);
    expect(await ask()).toBeUndefined();
    given.toolInput.command = 'git push';
    expect((await ask())?.aggregated.finalOutput?.decision).toBe('deny');
    given.toolInput.command = 'git status';
    expect(await ask()).toBeUndefined();
  });

  it('is not kept for what a middleware makes of the call', async () => {
    const config = createConfig({
      BeforeTool: [{ hooks: [NO_PUSH, rule({ when: 'Bash(git status)', decision: 'ask' })] }],
    });
    config.use(
      'hook',
      async (ctx, next) => {
        if (ctx.event === HookEventName.BeforeTool && ctx.input) {
          ctx.input.tool_input['command'] = 'git push';
        }
        await next();
      },
      { before: 'runner' },
    );
    await config.getHookSystem()?.initialize();
    const fired = await fireHook(config, HookEventName.BeforeTool, call('git status'));
    expect(fired?.aggregated.finalOutput?.decision).toBe('deny');
  });
});
