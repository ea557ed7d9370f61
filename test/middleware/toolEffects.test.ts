import { describe, expect, it } from 'vitest';
import { toolStages, type FireHook } from '../../middleware/callerEffects.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { ALLOW, createToolCall, type ToolCall } from '../../src/context.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import type { Approver } from '../../src/protocol/approval.js';
import type { HookDefinition } from '../../src/protocol/types.js';
import type { ToolResult } from '../../src/tools/tools.js';
import { hook, keepInput, saying } from '../helpers/hooks.js';
import { countingNext } from '../helpers/next.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const ran: ToolResult = { llmContent: 'ran', returnDisplay: 'shown' };

/** The stages over hooks that have been read, a call, and what was fired for it. */
async function open(
  hooks: Record<string, HookDefinition[]>,
  signal?: AbortSignal,
  configured: ConfigOptions = {},
) {
  const config = new Config({
    ...configured,
    enableHooks: true,
    workingDir: temp.path,
    debugLogger: new RecordingLogger(),
    hooks,
  });
  await config.getHookSystem()?.initialize();
  const fired: unknown[] = [];
  const fire: FireHook = (event, payload, options) => {
    fired.push({ event, ...payload });
    return fireHook(config, event, payload, options);
  };
  const host = { askPerson: config.askPerson, mayBeRead: () => false };
  const inputs: unknown[] = [];
  const execute = async (input: object) => {
    inputs.push(input);
    return ran;
  };
  const call = createToolCall('write_file', { path: 'a' }, execute, { signal, callId: 'id' });
  return {
    stages: toolStages(fire, host),
    fire,
    host,
    call,
    fired,
    inputs,
  };
}

/** Lets the hooks look at a call whose tool gave `ran`. */
async function annotate(
  hooks: Record<string, HookDefinition[]>,
  within: (call: ToolCall) => void = () => undefined,
): Promise<ToolCall> {
  const { stages, call } = await open(hooks);
  await stages.afterTool(call, async () => {
    await stages.execute(call, countingNext());
    within(call);
  });
  return call;
}

const group = (output: object, dialect?: 'claude' | 'gemini'): HookDefinition[] => [
  { ...(dialect && { dialect }), hooks: [saying(output)] },
];
/** A hook of another agent that gives another result in place of the tool's. */
const replacing = group({ hookSpecificOutput: { updatedToolOutput: 'replaced' } }, 'claude');
const decides = (decision: object) =>
  group({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } }, 'claude');

describe('before a tool', () => {
  it('nothing is fired for a call that is refused already', async () => {
    const { stages, call, fired } = await open({ BeforeTool: [{ hooks: [hook('true')] }] });
    call.block('not today');
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    expect(fired).toEqual([]);
  });

  it('the next stage is called at once where there is nothing to run', async () => {
    const { stages, call } = await open({});
    const next = countingNext();
    const passing = stages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    await passing;
    expect(call).toMatchObject({ verdict: ALLOW, contextForModel: [] });
  });

  it('hooks are asked once where none of them wants to ask', async () => {
    const { stages, call, fired } = await open({ BeforeTool: group({ decision: 'allow' }) });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    expect(fired).toHaveLength(1);
    expect(call.contextForModel).toEqual([]);
  });

  it('the model reads a note of a hook with the result, once', async () => {
    const { stages, call } = await open({
      BeforeTool: [
        ...group({ systemMessage: 'mind the gap' }),
        ...group({ hookSpecificOutput: { additionalContext: 'It is old.' } }, 'claude'),
      ],
    });
    const notes = [asHookContext('It is old.'), '[System] mind the gap'];
    await stages.beforeTool(call, countingNext());
    expect(call.contextForModel).toEqual(notes);
    await stages.beforeTool(call, countingNext());
    expect(call.contextForModel).toEqual(notes);
  });
});

/** A hook that says something of arguments that hold a text, and nothing of others. */
const saysOf = (text: string, output: object): HookDefinition => ({
  hooks: [hook(`! grep -q '"${text}"' || echo '${JSON.stringify(output)}'`)],
});

const never: Approver = () => ({ decision: 'deny', reason: 'never' });

describe('where hooks want the user to be asked', () => {
  const asking = group({ decision: 'ask' });
  const event = 'BeforeTool';
  const first = { event, toolName: 'write_file', toolInput: { path: 'a' }, callId: 'id' };

  it('the tool runs if there is nobody to decide', async () => {
    const { stages, call, fired } = await open({ BeforeTool: asking });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    expect(fired).toEqual([first, { ...first, isAsked: true }]);
  });

  it('another hook may deny in place of the user', async () => {
    const { stages, call } = await open({
      BeforeTool: asking,
      PermissionRequest: decides({ behavior: 'deny', message: 'no way' }),
    });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    expect(call.verdict).toMatchObject({ kind: 'block', reason: 'no way' });
  });

  it('another hook may allow the call as it is', async () => {
    const { stages, call, fired } = await open({
      BeforeTool: asking,
      PermissionRequest: decides({ behavior: 'allow' }),
    });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    expect(fired).toHaveLength(2);
  });

  it('other arguments that it is allowed with are put to the hooks as well', async () => {
    const { stages, call, fired } = await open({
      BeforeTool: asking,
      PermissionRequest: decides({ behavior: 'allow', updatedInput: { path: 'b' } }),
    });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(1);
    expect(call.input).toEqual({ path: 'b' });
    expect(fired).toEqual([
      first,
      { ...first, isAsked: true },
      { ...first, toolInput: { path: 'b' } },
    ]);
  });

  const changing = decides({ behavior: 'allow', updatedInput: { path: 'b' } });

  it('which may deny them', async () => {
    const denies = saysOf('b', { decision: 'deny', reason: 'not b' });
    const { stages, call } = await open({
      BeforeTool: [...asking, denies],
      PermissionRequest: changing,
    });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    expect(call.verdict).toMatchObject({ kind: 'block', reason: 'not b' });
  });

  it.each([
    { asks: 'a', questions: [] },
    { asks: 'path', questions: [{ path: 'b' }] },
  ])('which may have them put to the user as well: $questions', async ({ asks, questions }) => {
    const asked: unknown[] = [];
    const approver: Approver = ({ input }) => {
      asked.push(input);
      return { decision: 'allow' };
    };
    const hooks = {
      BeforeTool: [saysOf(asks, { decision: 'ask' })],
      PermissionRequest: changing,
    };
    const { stages, call } = await open(hooks, undefined, { approver });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(asked).toEqual(questions);
    expect(next.calls).toBe(1);
  });

  it('a no ends the call, and is one of the hooks that asked', async () => {
    const { stages, call } = await open({ BeforeTool: asking }, undefined, { approver: never });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    const hooks = [asking[0]?.hooks[0]?.command];
    expect(call.verdict).toMatchObject({ kind: 'block', hooks });
    expect(call.verdict).toHaveProperty('reason', expect.stringContaining('never'));
  });

  it('no answer blocks a call that is given up meanwhile', async () => {
    const abort = new AbortController();
    const approver: Approver = () => {
      abort.abort();
      return { decision: 'deny' };
    };
    const { stages, call } = await open({ BeforeTool: asking }, abort.signal, { approver });
    const next = countingNext();
    await stages.beforeTool(call, next);
    expect(next.calls).toBe(0);
    expect(call.verdict).toEqual(ALLOW);
    expect(call.result?.llmContent).toMatch(/was cancelled/);
  });
});

describe('the tool', () => {
  it('does not run for a call that is refused', async () => {
    const { stages, call, inputs } = await open({});
    call.block('not today');
    const next = countingNext();
    await stages.execute(call, next);
    expect({ inputs, calls: next.calls }).toEqual({ inputs: [], calls: 0 });
  });

  it('does not run for a call that was aborted meanwhile', async () => {
    const abort = new AbortController();
    const { stages, call, inputs } = await open({}, abort.signal);
    abort.abort();
    await stages.execute(call, countingNext());
    expect(inputs).toEqual([]);
    expect(call.result?.llmContent).toBe('The call of "write_file" was cancelled before it ran.');
  });

  it('is timed', async () => {
    const { stages, call } = await open({});
    const startedAt = performance.now();
    await stages.execute(call, countingNext());
    expect(call.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - startedAt));
  });
});

describe('after a tool', () => {
  it('hooks read all that it gave', async () => {
    const { stages, call } = await open({ AfterTool: [{ hooks: [hook(keepInput('seen.json'))] }] });
    const error = { type: 'unknown', message: 'oops' };
    await stages.afterTool(call, async () => {
      call.result = { ...ran, metadata: { lines: 1 }, error };
    });
    expect(await temp.readJson('seen.json')).toMatchObject({
      tool_name: 'write_file',
      tool_response: { llmContent: 'ran', returnDisplay: 'shown', metadata: { lines: 1 }, error },
    });
  });

  it('hooks read nothing else of it', async () => {
    const { stages, call } = await open({ AfterTool: [{ hooks: [hook(keepInput('seen.json'))] }] });
    await stages.afterTool(call, async () => {
      call.result = { ...ran, suppressDisplay: true };
    });
    expect(await temp.readJson('seen.json')).toHaveProperty('tool_response', ran);
  });

  it('nothing is fired for a call that was refused before it ran', async () => {
    const { stages, call, fired } = await open({ AfterTool: [{ hooks: [hook('true')] }] });
    call.block('not today');
    await stages.afterTool(call, countingNext());
    expect(fired).toEqual([]);
  });

  it('hooks look at a call that was refused when it had run', async () => {
    const call = await annotate({ AfterTool: group({ systemMessage: 'note' }) }, (each) =>
      each.block('too late'),
    );
    expect(call.result?.llmContent).toBe('too late\n\n[System] note');
  });

  it('a block that was decided meanwhile stands, whatever a hook gives in place of the result', async () => {
    const { fire, host, call, stages } = await open({ AfterTool: replacing });
    const meanwhile = toolStages((...event) => {
      const firing = fire(...event);
      call.block('too late');
      return firing;
    }, host);
    await meanwhile.afterTool(call, () => stages.execute(call, countingNext()));
    expect(call.result).toMatchObject({
      llmContent: 'replaced',
      error: { type: 'blocked_by_hook' },
    });
  });

  it('the tool gets the arguments of the call, and no copy, where no hook reads them again', async () => {
    const { call, inputs, stages } = await open({});
    await stages.execute(call, countingNext());
    expect(inputs[0]).toBe(call.input);
  });

  it('the tool gets a copy where hooks read them again, which it may write into', async () => {
    const { call, fire, host } = await open({});
    const stages = toolStages(fire, { ...host, mayBeRead: (event) => event === 'AfterTool' });
    const writing = createToolCall('write_file', { path: 'a' }, async (input) => {
      input['path'] = 'b';
      return ran;
    });
    await stages.execute(writing, countingNext());
    expect(writing.input).toEqual(call.input);
  });

  it('the result stays as it is without hooks, and with hooks that say nothing', async () => {
    expect((await annotate({})).result).toBe(ran);
    expect((await annotate({ AfterTool: [{ hooks: [hook('exit 1')] }] })).result).toBe(ran);
  });

  it('hooks add notes for the model, and keep the result from the user', async () => {
    const call = await annotate({
      AfterTool: group({
        systemMessage: 'note',
        suppressOutput: true,
        hookSpecificOutput: { additionalContext: 'context' },
      }),
    });
    expect(call.result).toEqual({
      llmContent: `ran\n\n${asHookContext('context')}\n\n[System] note`,
      returnDisplay: 'shown',
      suppressDisplay: true,
    });
  });

  it('a reason that takes the place of the result is read once, and notes after it', async () => {
    const denial = { decision: 'deny', reason: 'secret' };
    const alone = await annotate({ AfterTool: group(denial, 'gemini') });
    expect(alone.result?.llmContent).toBe('secret');
    expect(alone.verdict).toEqual(ALLOW);
    const noted = await annotate({
      AfterTool: [
        ...group(denial, 'gemini'),
        ...group({ suppressOutput: true, hookSpecificOutput: { additionalContext: 'context' } }),
      ],
    });
    expect(noted.result?.suppressDisplay).toBe(true);
    expect(noted.result?.llmContent).toBe(`secret\n\n${asHookContext('context')}`);
  });

  it('a stop stands when a hook replaces the result', async () => {
    const call = await annotate(
      { AfterTool: group({ decision: 'deny', reason: 'secret' }, 'gemini') },
      (each) => each.stop('enough', { hooks: ['budget'] }),
    );
    expect(call.verdict).toMatchObject({ kind: 'stop', reason: 'enough', hooks: ['budget'] });
    expect(call.result).toMatchObject({
      llmContent: 'secret',
      error: { type: 'stop_execution', message: 'enough' },
    });
  });
});
