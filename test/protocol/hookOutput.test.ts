import { describe, expect, it } from 'vitest';
import { createSpecificHookOutput } from '../../middleware/aggregator.js';
import { createHookOutput } from '../../src/protocol/events.js';
import {
  AfterModelHookOutput,
  AfterToolHookOutput,
  BeforeModelHookOutput,
  BeforeToolHookOutput,
  BeforeToolSelectionHookOutput,
  DefaultHookOutput,
  textInPlace,
  withResponseInPlace,
  withToolOutput,
} from '../../src/protocol/hookOutput.js';
import { HookEventName, type HookDecision } from '../../src/protocol/types.js';

const specific = (hookSpecificOutput: Record<string, unknown>) => ({ hookSpecificOutput });

describe('createHookOutput', () => {
  it.each([
    ['AfterTool', AfterToolHookOutput],
    ['BeforeModel', BeforeModelHookOutput],
    ['AfterModel', AfterModelHookOutput],
    ['BeforeToolSelection', BeforeToolSelectionHookOutput],
    ['BeforeTool', DefaultHookOutput],
    ['SessionStart', DefaultHookOutput],
    ['NoSuchEvent', DefaultHookOutput],
    ['toString', DefaultHookOutput],
  ])('wraps the output of %s in its class', (event, expected) => {
    expect(createHookOutput(event, {}).constructor).toBe(expected);
  });

  it('does not look at permissionDecision of BeforeTool, as opposed to the aggregated output', () => {
    const denial = specific({ permissionDecision: 'block' });
    expect(createHookOutput('BeforeTool', denial).isBlockingDecision()).toBe(false);
    expect(new BeforeToolHookOutput(denial).isBlockingDecision()).toBe(true);
    const aggregated = createSpecificHookOutput(denial, HookEventName.BeforeTool);
    expect(aggregated.isBlockingDecision()).toBe(true);
  });
});

describe('DefaultHookOutput', () => {
  it('takes over every field', () => {
    const fields = {
      decision: 'ask' as const,
      reason: 'r',
      continue: true,
      stopReason: 's',
      suppressOutput: true,
      systemMessage: 'm',
      hookSpecificOutput: { a: 1 },
    };
    expect(new DefaultHookOutput(fields)).toMatchObject(fields);
  });

  it.each<[HookDecision, boolean]>([
    ['block', true],
    ['deny', true],
    ['allow', false],
    ['approve', false],
    ['ask', false],
    [null, false],
    [undefined, false],
  ])('decision %s blocks: %s', (decision, expected) => {
    expect(new DefaultHookOutput({ decision }).isBlockingDecision()).toBe(expected);
  });

  it.each([
    [false, true],
    [true, false],
    [undefined, false],
  ])('continue %s stops: %s', (value, expected) => {
    expect(new DefaultHookOutput({ continue: value }).shouldStopExecution()).toBe(expected);
  });

  it.each([
    [{ continue: false, stopReason: 's', reason: 'r' }, 's'],
    [{ continue: false, reason: 'r' }, 'r'],
    [{ continue: false, stopReason: '' }, 'Stopped by hook'],
    [{ continue: false, stopReason: '  ', reason: 'r' }, 'r'],
    [{ decision: 'deny' as const, reason: '\n', stopReason: 's' }, 's'],
    [{ continue: false }, 'Stopped by hook'],
    [{ decision: 'deny' as const, reason: 'r', stopReason: 's' }, 'r'],
    [{ decision: 'deny' as const, stopReason: 's' }, 's'],
    [{ decision: 'deny' as const }, 'Blocked by hook'],
  ])('the reason of %j is %s', (data, expected) => {
    expect(new DefaultHookOutput(data).getEffectiveReason()).toBe(expected);
  });

  it.each([
    ['text', 'text'],
    ['', undefined],
    [1, undefined],
    [undefined, undefined],
  ])('the additional context %j is %j', (additionalContext, expected) => {
    const output = new DefaultHookOutput(specific({ additionalContext }));
    expect(output.getAdditionalContext()).toBe(expected);
  });

  it('changes neither a request nor a selection of tools', () => {
    const output = new DefaultHookOutput(
      specific({ llm_request: { model: 'n' }, toolConfig: { mode: 'NONE' } }),
    );
    const request = { model: 'm', contents: 'hi' };
    expect(output.applyLLMRequestModifications(request)).toBe(request);
    const selection = { tools: [] };
    expect(output.applyToolConfigModifications(selection)).toBe(selection);
  });
});

describe('BeforeToolHookOutput', () => {
  it.each([
    ['block', true],
    ['deny', true],
    ['allow', false],
    ['ask', false],
    [true, false],
  ])('permissionDecision %s blocks: %s', (permissionDecision, expected) => {
    const output = new BeforeToolHookOutput(specific({ permissionDecision }));
    expect(output.isBlockingDecision()).toBe(expected);
  });

  it('blocks by the decision as well, whatever the permission', () => {
    const output = new BeforeToolHookOutput({
      decision: 'deny',
      ...specific({ permissionDecision: 'allow' }),
    });
    expect(output.isBlockingDecision()).toBe(true);
  });

  it('prefers permissionDecisionReason to reason', () => {
    const data = specific({ permissionDecision: 'deny', permissionDecisionReason: 'p' });
    expect(new BeforeToolHookOutput({ ...data, reason: 'r' }).getEffectiveReason()).toBe('p');
    expect(new BeforeToolHookOutput({ reason: 'r' }).getEffectiveReason()).toBe('r');
    const empty = specific({ permissionDecision: 'deny', permissionDecisionReason: '' });
    expect(new BeforeToolHookOutput({ ...empty, reason: 'r' }).getEffectiveReason()).toBe('r');
  });

  it('stops with stopReason, as every other output does', () => {
    const output = new BeforeToolHookOutput({
      continue: false,
      stopReason: 's',
      ...specific({ permissionDecision: 'allow', permissionDecisionReason: 'p' }),
    });
    expect(output.getEffectiveReason()).toBe('s');
  });

  it.each([
    [{ a: 1 }, { a: 1 }],
    [[1], undefined],
    ['text', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('the changed arguments %j are %j', (toolInput, expected) => {
    const output = new BeforeToolHookOutput(specific({ tool_input: toolInput }));
    expect(output.getModifiedToolInput()).toEqual(expected);
  });
});

describe('BeforeModelHookOutput', () => {
  it('has a synthetic response where a hook gave one', () => {
    const output = new BeforeModelHookOutput({
      decision: 'deny',
      ...specific({ llm_response: { text: 'cached' } }),
    });
    expect(output.getSyntheticResponse()?.text).toBe('cached');
  });

  it('makes none up for a stop', () => {
    const output = new BeforeModelHookOutput({ continue: false, stopReason: 's' });
    expect(output.getSyntheticResponse()).toBeUndefined();
  });

  it('applies a changed request over the one that was to be sent', () => {
    const output = new BeforeModelHookOutput(
      specific({ llm_request: { config: { temperature: 0 } } }),
    );
    const tools = [{ functionDeclarations: [] }];
    const request = { model: 'm', contents: 'hi', config: { tools, temperature: 1 } };
    expect(output.applyLLMRequestModifications(request)).toEqual({
      ...request,
      config: { tools, temperature: 0 },
    });
    expect(request.config.temperature).toBe(1);
  });

  it('returns the same request where nothing is to be changed', () => {
    const request = { model: 'm', contents: 'hi' };
    expect(new BeforeModelHookOutput().applyLLMRequestModifications(request)).toBe(request);
  });
});

describe('AfterModelHookOutput', () => {
  it('has the response that a hook gave', () => {
    const output = new AfterModelHookOutput(specific({ llm_response: { text: 'redacted' } }));
    expect(output.getModifiedResponse()?.text).toBe('redacted');
  });

  it('makes a response of the reason of a stop', () => {
    const output = new AfterModelHookOutput({ continue: false, stopReason: 'budget' });
    expect(output.getModifiedResponse()?.text).toBe('budget');
    expect(new AfterModelHookOutput({ continue: false }).getModifiedResponse()?.text).toBe(
      'Stopped by hook',
    );
  });

  it('has none otherwise', () => {
    expect(new AfterModelHookOutput({ decision: 'deny' }).getModifiedResponse()).toBeUndefined();
  });
});

describe('BeforeToolSelectionHookOutput', () => {
  it('changes the configuration and leaves the definitions', () => {
    const output = new BeforeToolSelectionHookOutput(
      specific({ toolConfig: { mode: 'ANY', allowedFunctionNames: ['a'] } }),
    );
    const tools = [{ functionDeclarations: [{ name: 'a' }, { name: 'b' }] }];
    const changed = output.applyToolConfigModifications({ tools });
    expect(changed.tools).toBe(tools);
    expect(changed.toolConfig).toEqual({
      functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] },
    });
  });

  it('returns the same selection where nothing is to be changed', () => {
    const selection = { tools: [] };
    const output = new BeforeToolSelectionHookOutput(specific({ toolConfig: 'NONE' }));
    expect(output.applyToolConfigModifications(selection)).toBe(selection);
  });
});

describe('another output in place of what a tool gave', () => {
  const result = {
    llmContent: 'key=7',
    returnDisplay: 'key=7',
    metadata: { stdout: 'key=7' },
    error: { message: 'key=7', type: 'tool_failed' },
    suppressDisplay: true,
  };

  it('leaves nothing of the old one to read, and is a failure where that was one', () => {
    expect(withToolOutput(result, textInPlace('***'))).toEqual({
      llmContent: '***',
      returnDisplay: '***',
      error: { message: '***', type: 'tool_failed' },
      suppressDisplay: true,
    });
  });

  it('may be parts, whose text stands in the error, and what the user reads stays', () => {
    const parts = [{ text: 'a' }, { inlineData: { data: '' } }];
    const replaced = withToolOutput(result, { llmContent: parts, isDenial: false });
    expect(replaced).toMatchObject({ llmContent: parts, returnDisplay: 'key=7' });
    expect(replaced.error.message).toMatch(/^a\n/u);
    expect(replaced).not.toHaveProperty('metadata');
  });

  it('may be of the user alone', () => {
    const shown = { returnDisplay: '***', isDenial: false };
    expect(withToolOutput(result, shown)).toEqual({ ...result, returnDisplay: '***' });
  });

  it('is cleaned of what must not reach a model or a terminal, and not cut', () => {
    const long = 'a'.repeat(20_000);
    const said = { llmContent: ['\u001b[2J', { text: '\u0007b' }, long], returnDisplay: '\u0007c' };
    const { foreign } = withResponseInPlace({ hookSpecificOutput: { tool_response: said } });
    expect(foreign?.toolOutput).toEqual({
      llmContent: [expect.not.stringContaining('\u001b'), { text: 'b' }, long],
      returnDisplay: 'c',
      isDenial: false,
    });
  });

  it('of a dialect counts beside one in our own format', () => {
    const foreign = { toolOutput: textInPlace('theirs') };
    const said = { hookSpecificOutput: { tool_response: 'ours', additionalContext: 'c' }, foreign };
    expect(withResponseInPlace(said)).toEqual({
      hookSpecificOutput: { additionalContext: 'c' },
      foreign,
    });
  });
});
