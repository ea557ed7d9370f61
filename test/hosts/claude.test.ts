import { query, type Options } from '@anthropic-ai/claude-agent-sdk';
import { Config, DebugLogger, type ConfigOptions, type ToolCall } from 'hookstack';
import { claudeHooks } from 'hookstack/claude';
import path from 'node:path';
import { describe, expect, expectTypeOf, it, vi } from 'vitest';
import { findSnippets, readDocument } from '../docs/markdown.js';
import { Workbench } from '../docs/workbench.js';
import type { Answer } from './claudeLoop.js';
import { fakeClaude } from './fakeClaude.js';

type Hooks = NonNullable<ConfigOptions['hooks']>;

class Warnings extends DebugLogger {
  readonly said: string[] = [];
  override warn(message: string): void {
    this.said.push(message);
  }
}

function makeConfig(hooks: Hooks, options: ConfigOptions = {}) {
  return new Config({ enableHooks: true, hooks, ...options });
}

function answering(answer: object, matcher = '') {
  const command = `printf '%s' "$ANSWER"`;
  const env = { ANSWER: JSON.stringify(answer) };
  return [{ matcher, hooks: [{ type: 'command' as const, command, env }] }];
}

const NO = { decision: 'block', reason: 'Not that.' };

/** What the SDK lets Claude Code know of one event. */
async function fire(config: Config, event: string, fields: object): Promise<Answer> {
  const [answer = {}] = await fireAll(config, [event, fields]);
  return answer;
}

async function fireAll(config: Config, ...all: [event: string, fields: object][]) {
  const answers: Answer[] = [];
  const who = { session_id: 'one', cwd: process.cwd(), transcript_path: '' };
  const options: Options = {
    hooks: claudeHooks(config),
    settingSources: [],
    pathToClaudeCodeExecutable: process.execPath,
    spawnClaudeCodeProcess: () =>
      fakeClaude(who, async (io) => {
        for (const [event, fields] of all) answers.push(await io.fire(event, fields));
        return '';
      }),
  };
  for await (const message of query({ prompt: 'Go.', options })) void message;
  return answers;
}

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'call_1' };

describe('an event of Claude Code', () => {
  it('reaches hooks under our names of tools', async () => {
    const config = makeConfig({ BeforeTool: answering(NO, '^run_shell_command$') });
    expect(await fire(config, 'PreToolUse', BASH)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'Not that.',
      },
    });
  });

  it.each([
    ['UserPromptSubmit', { BeforeAgent: answering(NO) }, { prompt: 'Hello.' }],
    ['Stop', { AfterAgent: answering(NO) }, { stop_hook_active: false }],
  ])('%s is blocked', async (event, hooks: Hooks, fields) => {
    expect(await fire(makeConfig(hooks), event, fields)).toEqual({
      decision: 'block',
      reason: 'Not that.',
    });
  });

  it('has the model read what hooks say at its start', async () => {
    const said = { hookSpecificOutput: { additionalContext: 'Use tabs.' } };
    const answer = await fire(makeConfig({ SessionStart: answering(said) }), 'SessionStart', {
      source: 'startup',
    });
    expect(answer.hookSpecificOutput?.additionalContext).toContain('Use tabs.');
  });

  it('asks the person of the `Config` where the host has no question for it', async () => {
    const ask = { BeforeAgent: answering({ decision: 'ask', reason: 'Sure?' }) };
    const asked: (string | undefined)[] = [];
    const config = makeConfig(ask, {
      approver: async ({ event }) => {
        asked.push(event);
        return { decision: 'deny', reason: 'Nope.' };
      },
    });
    expect(await fire(config, 'UserPromptSubmit', { prompt: 'Hello.' })).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('Nope.') as unknown,
    });
    expect(asked).toEqual(['BeforeAgent']);
  });

  it('is refused where it cannot be read', async () => {
    const config = makeConfig({ BeforeTool: answering(NO) }, { debugLogger: new Warnings('test') });
    const answer = await fire(config, 'PreToolUse', { tool_name: 'Bash', tool_input: 'ls' });
    expect(answer.hookSpecificOutput).toMatchObject({ permissionDecision: 'deny' });
    expect(await fire(config, 'PostToolUse', { tool_input: 'ls' })).toEqual({});
  });

  it.each([
    ['withheld where a guard has not seen it', 'deny' as const, 'is withheld'],
    ['left where none had to see it', 'allow' as const, undefined],
  ])('that takes too long after a tool is %s', async (_what, onFailure, said) => {
    const { setTimeout: set } = globalThis;
    const soon = (work: () => void, ms = 0) => set(work, ms > 500_000 && ms < 600_000 ? 50 : ms);
    vi.stubGlobal('setTimeout', soon);
    try {
      const slow = { type: 'command' as const, command: 'sleep 5', timeout: 900_000, onFailure };
      const config = makeConfig(
        { AfterTool: [{ hooks: [slow] }] },
        { debugLogger: new Warnings('test') },
      );
      const [group] = claudeHooks(config).PostToolUse;
      const who = { session_id: 'one', cwd: process.cwd(), transcript_path: '' };
      const event = { hook_event_name: 'PostToolUse', ...who, ...BASH, tool_response: 'A secret.' };
      const { signal } = new AbortController();
      const answer = await group?.hooks[0]?.(event, 'call_1', { signal });
      if (said === undefined) expect(answer).toEqual({});
      else expect(JSON.stringify(answer)).toContain(said);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('is answered without a deadline or a listener where no hook matches', async () => {
    const config = makeConfig({ BeforeTool: answering(NO, '^write_file$') });
    const [group] = claudeHooks(config).PreToolUse;
    const who = { session_id: 'one', cwd: process.cwd(), transcript_path: '' };
    const event = { hook_event_name: 'PreToolUse', ...who, ...BASH };
    const ask = async () => {
      const { signal } = new AbortController();
      const listeners: string[] = [];
      signal.addEventListener = (type: string) => void listeners.push(type);
      const answer = await group?.hooks[0]?.(event, 'call_1', { signal });
      return { answer, listeners };
    };
    // The first event waits until hooks are read.
    expect((await ask()).answer).toEqual({});
    expect(await ask()).toEqual({ answer: {}, listeners: [] });
  });

  it('passes while hooks are off', async () => {
    const config = makeConfig({ BeforeTool: answering(NO) }, { enableHooks: false });
    expect(await fire(config, 'PreToolUse', BASH)).toEqual({});
  });
});

describe('middleware of the tool stack', () => {
  const shell = { stdout: 'a secret', stderr: '', interrupted: false, isImage: false };
  const RESULT = { ...BASH, tool_response: shell };

  it.each([
    ['blocks', (call: ToolCall) => call.block('Not now.'), true],
    ['does not go on', () => undefined, true],
    ['blocks while hooks are off', (call: ToolCall) => call.block('Not now.'), false],
  ])('%s', async (_what, refuse: (call: ToolCall) => void, enableHooks) => {
    const config = makeConfig({ BeforeTool: answering({}) }, { enableHooks });
    config.use('tool', async (call) => refuse(call));
    const { hookSpecificOutput } = await fire(config, 'PreToolUse', BASH);
    expect(hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(/Not now\.|without a result/u) as unknown,
    });
  });

  it('stands around the tool: changes arguments and result, and adds to it', async () => {
    const config = makeConfig({ BeforeTool: answering({ decision: 'ask', reason: 'Sure?' }) });
    const seen: unknown[] = [];
    config.use('tool', async (call, next) => {
      call.input = { ...call.input, command: 'ls -l' };
      await next();
      seen.push(call.callId, call.executed?.llmContent);
      if (call.result) call.result = { ...call.result, llmContent: 'a [redacted]' };
      call.contextForModel.push('Two files.');
    });
    const [before, after] = await fireAll(config, ['PreToolUse', BASH], ['PostToolUse', RESULT]);
    expect(before?.hookSpecificOutput).toMatchObject({
      permissionDecision: 'ask',
      permissionDecisionReason: 'Sure?',
      updatedInput: { command: 'ls -l' },
    });
    expect(seen).toEqual(['call_1', 'a secret']);
    expect(after?.hookSpecificOutput?.updatedToolOutput).toMatchObject({
      stdout: 'a [redacted]\n\nTwo files.',
    });
  });

  it('blocks and stops after the tool, and adds to a failure', async () => {
    const decided: ((call: ToolCall) => void)[] = [
      (call) => call.block('Hidden.'),
      (call) => call.stop('Over.'),
      (call) => void call.contextForModel.push('Try again.'),
    ];
    const config = makeConfig({});
    config.use('tool', async (call, next) => {
      await next();
      decided.shift()?.(call);
    });
    const failure = { ...BASH, error: 'Exit code 1' };
    const [, hidden, , over, , failed] = await fireAll(
      config,
      ['PreToolUse', BASH],
      ['PostToolUse', RESULT],
      ['PreToolUse', BASH],
      ['PostToolUse', RESULT],
      ['PreToolUse', BASH],
      ['PostToolUseFailure', failure],
    );
    expect(hidden?.hookSpecificOutput?.updatedToolOutput).toMatchObject({ stdout: 'Hidden.' });
    expect(over).toMatchObject({ continue: false, stopReason: 'Over.' });
    expect(failed?.hookSpecificOutput).toMatchObject({ additionalContext: 'Try again.' });
  });

  it('sees that a call is abandoned whose agent ends first', async () => {
    const seen: unknown[] = [];
    const config = makeConfig({});
    config.use('tool', async (_call, next) => {
      await next().catch((error: unknown) => {
        seen.push(error);
        throw error;
      });
    });
    await fireAll(
      config,
      ['PreToolUse', { ...BASH, agent_id: 'a' }],
      ['Stop', { stop_hook_active: false }],
    );
    expect(seen).toEqual([]);
    await fireAll(config, ['PreToolUse', BASH], ['SessionEnd', { reason: 'other' }]);
    expect(seen).toEqual([expect.objectContaining({ code: 'TOOL_CALL_ABANDONED' })]);
  });

  it('denies where it waits for what never comes, and Claude Code does no longer', async () => {
    const config = makeConfig({});
    config.use('tool', () => new Promise(() => undefined));
    const [group] = claudeHooks(config).PreToolUse ?? [];
    const event = { hook_event_name: 'PreToolUse' as const, session_id: 's', cwd: '', ...BASH };
    const signal = AbortSignal.timeout(100);
    const answer = await group?.hooks[0]?.({ ...event, transcript_path: '' }, 'call_1', { signal });
    expect(answer).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it.each([
    ['guard', 'deny' as const, expect.stringContaining('withheld') as string],
    ['other hook', 'allow' as const, undefined],
  ])(
    'withholds for a guard alone what has not been seen in time, or cannot be read: %s',
    async (_who, onFailure, text) => {
      const hooks = [{ type: 'command' as const, command: 'sleep 5', onFailure }];
      const [group] = claudeHooks(makeConfig({ AfterTool: [{ hooks }] })).PostToolUse ?? [];
      const nested = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as unknown;
      for (const given of ['secret', nested]) {
        const event = { hook_event_name: 'PostToolUse', session_id: 's', cwd: '', ...BASH };
        const signal = AbortSignal.timeout(100);
        const answer = await group?.hooks[0]?.({ ...event, tool_response: given }, 'c', { signal });
        const output: unknown = given === nested && text ? [{ type: 'text', text }] : text;
        const expected = text ? { hookSpecificOutput: { updatedToolOutput: output } } : {};
        expect(answer).toMatchObject(expected);
        if (!text) expect(answer).toEqual({});
      }
    },
  );

  it('sees arguments that somebody else allows', async () => {
    const said = { behavior: 'allow', updatedInput: { command: 'rm -r /' } };
    const [asked] = answering({ hookSpecificOutput: { decision: said } });
    const hooks = { PermissionRequest: [{ dialect: 'claude', ...asked }] } as unknown as Hooks;
    const config = makeConfig(hooks);
    config.use('tool', async (call, next) => {
      if (JSON.stringify(call.input).includes('rm')) call.block('Not that.');
      else await next();
    });
    expect(await fire(config, 'PermissionRequest', BASH)).toMatchObject({
      hookSpecificOutput: { decision: { behavior: 'deny', message: 'Not that.' } },
    });
  });
});

describe('what cannot have an effect', () => {
  const hooks = { BeforeModel: answering(NO), BeforeToolSelection: answering({}) };

  it('is warned of once', () => {
    const debugLogger = new Warnings('test');
    const config = makeConfig(hooks, { debugLogger });
    config.use('model', async function policy(_call, next) {
      await next();
    });
    claudeHooks(config);
    claudeHooks(config);
    expect(debugLogger.said).toEqual([
      expect.stringContaining('no BeforeModel hook runs'),
      expect.stringContaining('no BeforeToolSelection hook runs'),
      expect.stringContaining('middleware of the model stack does not run'),
    ]);
  });

  it('is an error with `strict`', () => {
    expect(() => claudeHooks(makeConfig(hooks), { strict: true })).toThrow('BeforeModel');
  });
});

it('is used by the program of its page', async () => {
  const bench = await Workbench.create();
  try {
    await bench.link(path.join(import.meta.dirname, 'node_modules'));
    const page = findSnippets(await readDocument('docs/hosts/claude-agent-sdk.md'));
    const program = page.find(({ info }) => info === 'host file=agent.mjs');
    const file = await bench.write('agent.mjs', program?.content ?? '');
    const { ask } = (await import(/* @vite-ignore */ file)) as {
      readonly ask: (prompt: string, options: Options) => Promise<string>;
    };
    const answers = ['/work/.env', '/work/README.md'].map((file_path) =>
      ask(`What is in ${file_path}?`, {
        settingSources: [],
        pathToClaudeCodeExecutable: process.execPath,
        spawnClaudeCodeProcess: () =>
          fakeClaude({ session_id: 'one', cwd: '/work', transcript_path: '' }, async (io) => {
            const call = { tool_name: 'Read', tool_input: { file_path }, tool_use_id: 'call_1' };
            const { hookSpecificOutput: said } = await io.fire('PreToolUse', call);
            return `${io.prompt} ${said?.permissionDecisionReason ?? 'Text.'}`;
          }),
      }),
    );
    expect(await Promise.all(answers)).toEqual([
      'What is in /work/.env? That file is private.',
      'What is in /work/README.md? Text.',
    ]);
  } finally {
    await bench.remove();
  }
});

it('is of the type of the option', () => {
  expectTypeOf(claudeHooks(makeConfig({}))).toExtend<NonNullable<Options['hooks']>>();
});

it('refuses options that do not exist', () => {
  // @ts-expect-error there is no such option
  expect(() => claudeHooks(makeConfig({}), { strickt: true })).toThrow('did you mean "strict"');
});
