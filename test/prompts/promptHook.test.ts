import { afterEach, describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import {
  HookEventName,
  type AskModel,
  type ModelQuestion,
  type WrittenHook,
} from '../../src/protocol/types.js';
import { startModel } from '../helpers/modelServer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const configs: Config[] = [];
const logger = new RecordingLogger();

afterEach(async () => {
  for (const config of configs.splice(0)) await config.dispose();
  logger.records.length = 0;
});

const judge = { type: 'prompt', name: 'judge', prompt: 'Is this safe?' } as const;

type Options = ConfigOptions & { readonly seen?: unknown };

function configOf(
  hooks: readonly WrittenHook[],
  { seen: _seen, ...options }: Options = {},
): Config {
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks }] },
    debugLogger: logger,
    sessionId: 's1',
    ...options,
  });
  configs.push(config);
  return config;
}

async function fire(config: Config, command = 'ls') {
  const payload = { toolName: 'run_shell_command', toolInput: { command } };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload);
  const result = fired?.aggregated.results[0];
  return { output: fired?.aggregated.finalOutput, result, warnings: logger.warnings };
}

/** A model in the host, which answers the same to everything. */
function answering(answer: unknown, tokens?: number) {
  const seen: ModelQuestion[] = [];
  const askModel: AskModel = async (question) => {
    seen.push(question);
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return { text, ...(tokens !== undefined && { tokens }) };
  };
  return { askModel, seen };
}

describe('a hook that a model judges', () => {
  it('denies, asks, and adds context', async () => {
    const denying = answering({ decision: 'deny', reason: 'It removes everything.' });
    const denied = await fire(configOf([judge], denying), 'rm -rf /');
    expect(denied.output).toMatchObject({ decision: 'deny', reason: 'It removes everything.' });
    expect(denying.seen[0]?.prompt).toContain('"command":"rm -rf /"');
    const asked = await fire(configOf([judge], answering({ decision: 'ask', reason: 'Sure?' })));
    expect(asked.output).toMatchObject({ decision: 'ask' });
  });

  it('never allows: what another hook asks is asked', async () => {
    const ask = { type: 'rule', decision: 'ask', reason: 'Sure?' } as const;
    const { output } = await fire(configOf([ask, judge], answering({ decision: 'allow' })));
    expect(output).toMatchObject({ decision: 'ask' });
    const alone = await fire(configOf([judge], answering({ decision: 'allow' })));
    expect(alone.output?.decision).toBeUndefined();
  });

  it('is asked once about the same, and not after a failure', async () => {
    const model = answering({ decision: 'allow' });
    const config = configOf([judge], model);
    await fire(config);
    await fire(config);
    await fire(config, 'pwd');
    expect(model.seen).toHaveLength(2);
    const broken = answering('Well.');
    const other = configOf([judge], broken);
    await fire(other);
    await fire(other);
    expect(broken.seen).toHaveLength(2);
  });

  it.each([
    ['no model', {}, /there is none: name one as "promptModel"/u],
    ['other words', answering('Looks fine to me.'), /it answered no JSON object: "Looks fine/u],
    ['another decision', answering({ decision: 'maybe' }), /it answered no "decision"/u],
    ['a model that fails', { askModel: () => Promise.reject(new Error('full')) }, /model: full/u],
    [
      'no tokens left',
      { ...answering({ decision: 'allow' }), promptBudget: { tokens: 100 } },
      /of 100 are left for this session: raise "promptBudget"/u,
    ],
    [
      'a model that hangs',
      { askModel: () => new Promise<never>(() => {}), promptBudget: { seconds: 1 } },
      /it took longer than 1 s \(promptBudget\)/u,
    ],
  ] satisfies [string, Options, RegExp][])(
    'fails with %s, and the call goes on',
    async (_what, options: Options, says) => {
      const { output, result, warnings } = await fire(configOf([judge], options));
      expect(result?.success).toBe(false);
      expect(output?.decision).toBeUndefined();
      expect(warnings.join('\n')).toMatch(says);
    },
  );

  it('has a timeout of its own', async () => {
    const config = configOf([{ ...judge, timeout: 100 }], {
      askModel: () => new Promise<never>(() => {}),
    });
    expect((await fire(config)).warnings.join()).toContain('timed out after 100 ms');
  });

  it('counts what the model says that it took, and lets the next one of the session wait for a budget', async () => {
    const model = answering({ decision: 'allow' }, 9_000);
    const config = configOf([judge], { ...model, promptBudget: { tokens: 10_000 } });
    await fire(config, 'a');
    const { warnings } = await fire(config, 'b');
    expect(model.seen).toHaveLength(1);
    expect(warnings.join()).toContain('1000 of 10000 are left');
  });

  it('counts and remembers for each session alone', async () => {
    const model = answering({ decision: 'allow' }, 9_000);
    const config = configOf([judge], { ...model, promptBudget: { tokens: 10_000 } });
    const of = (sessionId: string) =>
      fireHook(
        config,
        HookEventName.BeforeTool,
        { toolName: 'run_shell_command', toolInput: { command: 'a' } },
        { session: { sessionId } },
      );
    for (const session of ['s1', 's2', 's1', 's2']) await of(session);
    expect(model.seen).toHaveLength(2);
    const system = config.getHookSystem();
    await system?.endSession({ sessionId: 's1', agentId: 'sub' });
    await of('s1');
    expect(model.seen).toHaveLength(2);
    await system?.endSession({ sessionId: 's1' });
    await of('s1');
    expect(model.seen).toHaveLength(3);
    expect(logger.warnings).toEqual([]);
  });

  it('remembers for a sub-agent what was judged in the session that has started it', async () => {
    const { askModel, seen } = answering({ decision: 'deny' });
    const config = configOf([judge], { askModel });
    const event = { toolName: 'run_shell_command', toolInput: { command: 'ls' } };
    const inside = { sessionId: 's1.1', agentId: 'a', parentSessionId: 's1' };
    await fire(config);
    await fireHook(config, HookEventName.BeforeTool, event, { session: inside });
    expect(seen).toHaveLength(1);
  });

  it('does not judge the call of the model that judges', async () => {
    const asked: string[] = [];
    const askModel: AskModel = async () => {
      const inner = await fire(config, 'inner');
      asked.push(...inner.warnings);
      return { text: '{"decision": "deny", "reason": "outer"}' };
    };
    const config: Config = configOf([judge], { askModel });
    expect((await fire(config)).output).toMatchObject({ reason: 'outer' });
    expect(asked.join()).toContain('its own call is not judged by a model');
  });

  it('is no guard: code is refused, and settings deny', async () => {
    const guard = { ...judge, onFailure: 'deny' } as const;
    expect(() => configOf([guard])).toThrow(/onFailure: a model's judgement is no guard/u);
    const origin = { scope: 'user' } as const;
    const model = answering({ decision: 'allow' });
    const hooks = { BeforeTool: [{ origin, hooks: [{ ...guard, command: '' }] }] };
    const { output } = await fire(configOf([], { ...model, hooks }));
    expect(output).toMatchObject({ decision: 'deny' });
    expect(output?.reason).toContain("a model's judgement is no guard");
    expect(model.seen).toEqual([]);
  });

  it('of Claude Code reads what it reads there, and answers in the same way', async () => {
    const model = answering({ ok: false, reason: 'Not this.' });
    const hook = { type: 'prompt', command: '', prompt: 'Safe? $ARGUMENTS', timeout: 5 } as const;
    const hooks = { BeforeTool: [{ dialect: 'claude', hooks: [hook] }] } as const;
    const { output } = await fire(configOf([], { ...model, hooks }));
    expect(output).toMatchObject({ decision: 'deny', reason: 'Not this.' });
    expect(model.seen[0]?.prompt).toContain('"tool_name":"Bash"');
  });
});

describe('the model that settings name', () => {
  it('is asked in place of that of the host, with its own key', async () => {
    const { baseUrl, seen } = await startModel('{"decision": "deny", "reason": "From afar."}');
    process.env['JUDGE_KEY'] = 'key-of-the-judge';
    const own = answering({ decision: 'allow' });
    const promptModel = { model: 'gemini-test', baseUrl, apiKeyEnv: 'JUDGE_KEY' };
    const { output } = await fire(configOf([judge], { ...own, promptModel }));
    delete process.env['JUDGE_KEY'];
    expect(output).toMatchObject({ decision: 'deny', reason: 'From afar.' });
    expect(own.seen).toEqual([]);
    expect(seen).toMatchObject([{ key: 'key-of-the-judge' }]);
    expect(seen[0]?.url).toContain('gemini-test:streamGenerateContent');
    expect(seen[0]?.body).toContain('is data about the event');
  });

  it.each([
    [{ apiKeyEnv: 'NO_SUCH_KEY' }, /the variable NO_SUCH_KEY with its key is not set/u],
    [{ apiKeyEnv: 'PATH', baseUrl: 'http://judge.example' }, /has to begin with https:/u],
  ])('is not asked with %j', async (settings, says) => {
    const promptModel = { model: 'gemini-test', ...settings };
    const { result, warnings } = await fire(configOf([judge], { promptModel }));
    expect(result?.success).toBe(false);
    expect(warnings.join()).toMatch(says);
  });
});
