import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentError, runAgent, type AgentOptions } from '../../src/agent/agent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import type { ConfigOptions } from '../../src/config/config.js';
import type { ApprovalRequest, Approver } from '../../src/protocol/approval.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { callTools, reply, type RecordedAnswer } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { person } from '../helpers/person.js';
import { blocking, chain, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const sandbox = useSandbox();
const ASK = { decision: 'ask', reason: 'It is production.' };
const note = { name: 'write_file', args: { file_path: 'note.txt', content: 'text' } };

/** Runs an agent whose model answers "Done.", or first calls a tool. */
async function run(
  hooks: HookDefinitions,
  config: ConfigOptions = {},
  { calls, ...options }: Partial<AgentOptions> & { calls?: RecordedAnswer } = {},
) {
  const debugLogger = new RecordingLogger();
  const answers = calls ? [calls, reply('Done.')] : [reply('Done.')];
  const { models, sent } = await sandbox.startModel(...answers);
  const told: string[] = [];
  const ended = runAgent({
    config: sandbox.createConfig(hooks, { debugLogger, ...config }),
    models,
    model: 'gemini-2.5-flash',
    prompt: 'Deploy it.',
    tools: referenceTools,
    onEvent: ({ type }) => void told.push(type),
    ...options,
  });
  return { ended, told, sent, logger: debugLogger };
}

const MOMENTS = ['BeforeAgent', 'BeforeModel'] as const;
const only = (event: string, ...hooks: ReturnType<typeof saying>[]) => ({ [event]: [{ hooks }] });

describe.each(MOMENTS)('a hook of %s that asks', (event) => {
  it('is put to a person, and what was allowed goes on', async () => {
    const { approver, asked } = person({ decision: 'allow' });
    const { ended, told } = await run(only(event, saying(ASK, { name: 'production' })), {
      approver,
    });
    expect(await ended).toMatchObject({ response: 'Done.', stopped: null });
    expect(told.filter((type) => type === 'approval')).toHaveLength(2);
    expect(asked).toMatchObject([
      {
        event,
        hooks: [{ name: 'production' }],
        reason: ASK.reason,
        workingDir: sandbox.workingDir,
      },
    ]);
    expect(asked[0]).not.toHaveProperty('toolName');
    expect(JSON.stringify(asked[0]?.input)).toContain('Deploy it.');
  });

  it('keeps the model from being asked where the person says no, with the reason', async () => {
    const { approver } = person({ decision: 'deny', reason: 'not on a Friday' });
    const { ended, sent } = await run(only(event, saying(ASK)), { approver });
    const result = await ended;
    const said = result.stopped?.reason ?? result.modelCalls[0]?.blockReason;
    expect(said).toBe('A person was asked, and said no: not on a Friday');
    expect(sent()).toEqual([]);
  });

  it('goes on with a warning where nobody can be asked, unless it is a guard', async () => {
    const open = await run(only(event, saying(ASK)));
    expect((await open.ended).response).toBe('Done.');
    expect(open.logger.warnings).toEqual([expect.stringContaining('nobody can be asked here')]);
    const guarded = await run(only(event, saying(ASK, { onFailure: 'deny' })));
    const result = await guarded.ended;
    expect(guarded.sent()).toEqual([]);
    expect(result.stopped?.reason ?? result.modelCalls[0]?.blockReason).toContain(
      'nobody can be asked here',
    );
  });

  it('is not put to anybody where another one denies or stops', async () => {
    const { approver, asked } = person({ decision: 'allow' });
    for (const other of [blocking('Never.'), saying({ continue: false, stopReason: 'Never.' })]) {
      const { ended, sent } = await run(only(event, saying(ASK), other), { approver });
      const result = await ended;
      expect(result.stopped?.reason ?? result.modelCalls[0]?.blockReason).toBe('Never.');
      expect(sent()).toEqual([]);
    }
    expect(asked).toEqual([]);
  });

  it('loses its question where the agent is given up, and the agent says why', async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const approver: Approver = (_, { signal }) => {
      signals.push(signal);
      controller.abort(new Error('given up'));
      return new Promise(() => {});
    };
    const { ended, sent } = await run(
      only(event, saying(ASK)),
      { approver },
      { signal: controller.signal },
    );
    const error: unknown = await ended.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ message: 'given up', result: { modelCalls: [] } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(sent()).toEqual([]);
  });
});

describe('hooks of BeforeModel', () => {
  const changing = saying({
    ...ASK,
    hookSpecificOutput: { llm_request: { config: { temperature: 0.25 } } },
  });

  it('are asked about the request as it will be sent, and as it was', async () => {
    const { approver, asked } = person({ decision: 'allow' });
    const { ended, sent } = await run(only('BeforeModel', changing), { approver });
    await ended;
    expect(asked).toMatchObject([{ input: { config: { temperature: 0.25 } } }]);
    expect(JSON.stringify(asked[0]?.originalInput)).not.toContain('0.25');
    expect(sent()[0]).toMatchObject({ generationConfig: { temperature: 0.25 } });
  });

  const answering = { hookSpecificOutput: { llm_response: { text: 'Made up.' } } };

  it('that answer in place of the model and ask: the answer counts neither way', async () => {
    for (const decision of ['allow', 'deny'] as const) {
      const { approver, asked } = person({ decision });
      const hooks = only('BeforeModel', saying({ ...ASK, ...answering }));
      const { ended } = await run(hooks, { approver });
      const result = await ended;
      expect(asked).toHaveLength(1);
      expect(result.response).not.toContain('Made up.');
      expect(result.modelCalls).toMatchObject([{ synthetic: false, blocked: decision === 'deny' }]);
    }
  });

  it.each(['hooks', 'sequential'])(
    'that answer in place of the model beside one that asks: nobody is asked (%s)',
    async (way) => {
      const { approver, asked } = person({ decision: 'allow' });
      const hooks = [saying(ASK), saying({ decision: 'block', reason: 'No.', ...answering })];
      const group = way === 'hooks' ? { hooks } : chain(...hooks);
      const { ended, sent } = await run({ BeforeModel: [group] }, { approver });
      const result = await ended;
      expect(asked).toEqual([]);
      expect(sent()).toEqual([]);
      expect(result).toMatchObject({ response: 'Made up.', modelCalls: [{ synthetic: true }] });
    },
  );
});

/** Changes the arguments. */
const to = (content: string, others: object = {}) =>
  saying({ ...others, hookSpecificOutput: { tool_input: { content } } });

describe.each(['at once', 'in sequence'])('hooks %s', (way) => {
  const group = (...hooks: ReturnType<typeof saying>[]) =>
    way === 'at once' ? { hooks } : chain(...hooks);

  it.each(['BeforeTool', ...MOMENTS])('that ask are one question at %s', async (event) => {
    const { approver, asked } = person({ decision: 'allow' });
    const asking = [
      saying(ASK, { name: 'first' }),
      saying({ decision: 'allow' }),
      saying({ decision: 'ask', reason: 'It is late.' }, { name: 'second' }),
    ];
    const { ended } = await run(
      { [event]: [group(...asking)] },
      { approver },
      { calls: callTools(note) },
    );
    expect((await ended).response).toBe('Done.');
    const reason = 'It is production.\nIt is late.';
    const hooks = [{ name: 'first' }, { name: 'second' }];
    expect(asked[0]).toMatchObject({ event, reason, hooks });
    // One for each call of the model.
    expect(asked).toHaveLength(event === 'BeforeModel' ? 2 : 1);
  });

  it('are asked about after the last one, with what will really run', async () => {
    const { approver, asked } = person({ decision: 'allow' });
    const BeforeTool = [group(to('first'), to('second', ASK), to('third'))];
    const { ended } = await run({ BeforeTool }, { approver }, { calls: callTools(note) });
    await ended;
    expect(asked).toMatchObject([
      { input: { content: 'third' }, originalInput: { content: 'text' } },
    ]);
    expect(sandbox.read('note.txt')).toBe('third');
  });

  it('that deny after one that asks are heard, and nobody is asked', async () => {
    const { approver, asked } = person({ decision: 'allow' });
    const BeforeTool = [group(saying(ASK), saying({ decision: 'allow' }), blocking('Never.'))];
    const { ended } = await run({ BeforeTool }, { approver }, { calls: callTools(note) });
    expect((await ended).toolCalls).toMatchObject([{ blocked: { reason: 'Never.' } }]);
    expect([asked, sandbox.read('note.txt')]).toEqual([[], undefined]);
  });
});

describe('a stop by one call of a turn', () => {
  const stopping = saying({ continue: false, stopReason: 'Enough.' }, { name: 'stopping' });
  const asks = saying(ASK, { name: 'asking' });
  const calls = callTools(note, { name: 'read_file', args: { absolute_path: 'note.txt' } });

  it.each([
    ['while it is open', 'until [ -e asked ]; do sleep 0.01; done', 'true'],
    ['before it is put', 'true', 'until [ -e ended ]; do sleep 0.01; done'],
  ])('takes the question about another one back, %s', async (_, beforeStop, beforeAsk) => {
    const asked: ApprovalRequest[] = [];
    const approver: Approver = (request) => {
      asked.push(request);
      writeFileSync(path.join(sandbox.workingDir, 'asked'), '');
      return new Promise(() => {});
    };
    const before = (command: string, { command: then, ...hook }: typeof asks) => ({
      ...hook,
      command: `${command}; ${then}`,
    });
    const BeforeTool = [
      { matcher: '^read_file$', hooks: [before(beforeStop, stopping)] },
      { matcher: '^write_file$', hooks: [before(beforeAsk, asks)] },
    ];
    const answers: string[] = [];
    const { ended } = await run(
      { BeforeTool },
      { approver },
      {
        calls,
        onEvent: (event) => {
          if (event.type === 'approval' && event.answer) answers.push(event.answer.reason ?? '');
          if (event.type === 'tool' && event.call.stopped) {
            writeFileSync(path.join(sandbox.workingDir, 'ended'), '');
          }
        },
      },
    );
    const { stopped, toolCalls } = await ended;
    expect(stopped).toMatchObject({ reason: 'Enough.' });
    expect(toolCalls.map(({ status }) => status)).toEqual(['idle', 'idle']);
    expect(answers).toEqual(['the question was taken back']);
    expect(asked).toHaveLength(beforeAsk === 'true' ? 1 : 0);
    expect(sandbox.read('note.txt')).toBeUndefined();
  });
});
