import { describe, expect, it } from 'vitest';
import { convertPlainTextToHookOutput, readHookOutput } from '../../src/protocol/readHookOutput.js';

function read(value: unknown) {
  return readHookOutput(JSON.stringify(value));
}

/** Everything that hooks may say, each field of the right type. */
const complete = {
  decision: 'ask',
  reason: 'r',
  continue: true,
  stopReason: 's',
  suppressOutput: false,
  systemMessage: 'm',
  hookSpecificOutput: {
    hookEventName: 'BeforeTool',
    additionalContext: 'c',
    tool_input: { a: { b: [1] } },
    permissionDecision: 'deny',
    permissionDecisionReason: 'p',
    llm_request: {
      model: 'm',
      messages: [{ role: 'system', content: 't' }],
      config: { temperature: 0, stopSequences: ['x'] },
      toolConfig: { mode: 'ANY', allowedFunctionNames: ['f'] },
    },
    llm_response: {
      text: 't',
      candidates: [
        {
          content: { role: 'model', parts: ['t'] },
          finishReason: 'STOP',
          index: 0,
          safetyRatings: [{ category: 'c', probability: 'LOW' }],
        },
      ],
      usageMetadata: { totalTokenCount: 1 },
    },
    toolConfig: { mode: 'NONE', allowedFunctionNames: [] },
  },
};

describe('readHookOutput', () => {
  it('reads every known field, without a complaint', () => {
    expect(read(complete)).toEqual({ output: complete, problems: [] });
  });

  it('reads JSON with blanks around it', () => {
    expect(readHookOutput('\n\t {"reason":"r"} \n\n').output).toEqual({ reason: 'r' });
  });

  it.each(['', ' \n\t '])('says nothing for %j', (stdout) => {
    expect(readHookOutput(stdout)).toEqual({ problems: [] });
  });

  it('takes null for an absent field', () => {
    const nothing = { decision: null, reason: null, hookSpecificOutput: null };
    expect(read(nothing)).toEqual({ output: {}, problems: [] });
  });
});

describe('JSON that is not an object', () => {
  it.each(['42', 'null', '[]', '[{"decision":"deny"}]', 'false', '"deny"', '-1.5e3'])(
    '%s is plain text',
    (stdout) => {
      expect(readHookOutput(stdout).output).toEqual({ decision: 'allow', systemMessage: stdout });
    },
  );
});

describe('double-encoded JSON', () => {
  it('is read as the object inside', () => {
    expect(read(JSON.stringify({ decision: 'deny' })).output).toEqual({ decision: 'deny' });
  });

  it('is plain text when it holds no object', () => {
    const stdout = JSON.stringify('[1]');
    expect(readHookOutput(stdout).output).toEqual({ decision: 'allow', systemMessage: stdout });
  });

  it('is not read a third time', () => {
    const stdout = JSON.stringify(JSON.stringify(JSON.stringify({ decision: 'deny' })));
    expect(readHookOutput(stdout).output?.decision).toBe('allow');
  });
});

describe('text around JSON', () => {
  it.each([
    ['before it', 'checking…\n{"decision":"deny"}', 'checking…'],
    ['behind it', '{"decision":"deny"}\nall checked', 'all checked'],
    ['a second object', '{"decision":"deny"}\n{"decision":"deny"}', undefined],
  ])('%s makes plain text of it', (_, stdout, noise) => {
    const { output, problems } = readHookOutput(stdout);
    expect(output).toEqual({ decision: 'allow', systemMessage: stdout });
    if (noise === undefined) return;
    expect(problems).toEqual([expect.stringContaining(`found ${JSON.stringify(noise)}`)]);
  });

  it.each(['function() { return; }', '3 files changed', '[1, 2', 'see:\n{ x }', '"half'])(
    'is no problem where it is no answer: %j',
    (stdout) => {
      expect(readHookOutput(stdout).problems).toEqual([]);
    },
  );

  it.each([
    '{"decision": "block", "reason": "unfin',
    '{',
    'checking…\n  {\n "decision":',
    "{'a': 1}",
  ])('that is no whole object is a problem: %j', (stdout) => {
    expect(readHookOutput(stdout).problems).toEqual([
      expect.stringMatching(/begins like a JSON object .* its decision does not count/),
    ]);
  });
});

describe('fields that are unknown or of a wrong type', () => {
  it.each([
    ['decision', { decision: 'DENY' }],
    ['decision', { decision: true }],
    ['decision', { decision: ['deny'] }],
    ['reason', { reason: 1 }],
    ['continue', { continue: 'false' }],
    ['continue', { continue: 0 }],
    ['stopReason', { stopReason: {} }],
    ['suppressOutput', { suppressOutput: 'yes' }],
    ['systemMessage', { systemMessage: ['m'] }],
    ['hookSpecificOutput', { hookSpecificOutput: 'x' }],
    ['hookSpecificOutput', { hookSpecificOutput: [] }],
    ['blocked', { blocked: true }],
    ['toString', { toString: true }],
  ])('%s in %j is ignored and reported', (field, value) => {
    const { output, problems } = read({ ...value, systemMessage: 'kept', ...value });
    const expected = field === 'systemMessage' ? {} : { systemMessage: 'kept' };
    expect(output).toEqual(expected);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${field} `))]);
  });

  it.each([
    ['additionalContext', { additionalContext: 1 }],
    ['tool_input', { tool_input: 'rm -rf' }],
    ['tool_input', { tool_input: [1] }],
    ['permissionDecision', { permissionDecision: true }],
    ['llm_request', { llm_request: [] }],
    ['llm_request.messages', { llm_request: { messages: 'hi' } }],
    ['llm_request.messages', { llm_request: { messages: [{ role: 'tool', content: 'x' }] } }],
    ['llm_request.config.temperature', { llm_request: { config: { temperature: '0' } } }],
    ['llm_response.text', { llm_response: { text: 7 } }],
    ['llm_response.candidates', { llm_response: { candidates: [{ content: 'x' }] } }],
    ['toolConfig.mode', { toolConfig: { mode: 'none' } }],
    ['toolConfig.allowedFunctionNames', { toolConfig: { allowedFunctionNames: ['a', 1] } }],
  ])('hookSpecificOutput.%s in %j is ignored and reported', (field, value) => {
    const { output, problems } = read({ hookSpecificOutput: value, reason: 'kept' });
    expect(output?.reason).toBe('kept');
    expect(problems).toEqual([expect.stringMatching(`^hookSpecificOutput.${field} `)]);
    const remains: unknown = field
      .split('.')
      .reduce<unknown>(
        (object, key) => (object as Record<string, unknown> | undefined)?.[key],
        output?.hookSpecificOutput,
      );
    expect(remains).toBeUndefined();
  });

  it('does not let one wrong field harm its neighbours', () => {
    const { output } = read({
      decision: 'deny',
      reason: 5,
      hookSpecificOutput: { tool_input: { a: 1 }, llm_request: 3 },
    });
    expect(output).toEqual({ decision: 'deny', hookSpecificOutput: { tool_input: { a: 1 } } });
  });

  it('keeps unknown fields of hookSpecificOutput, for middleware that understands more', () => {
    const { output, problems } = read({ hookSpecificOutput: { ticket: { id: 7 } } });
    expect(output?.hookSpecificOutput).toEqual({ ticket: { id: 7 } });
    expect(problems).toHaveLength(1);
  });

  it('shows no more than an excerpt of a wrong value', () => {
    const { problems } = read({ decision: 'x'.repeat(100_000) });
    expect(problems[0]?.length).toBeLessThan(300);
  });
});

describe('texts without bound', () => {
  const long = 'x'.repeat(5_000_000);

  it.each(['reason', 'stopReason', 'systemMessage'])('cuts %s visibly', (field) => {
    const text = String(read({ [field]: long }).output?.[field as 'reason']);
    expect(text.slice(0, 10_000)).toBe(long.slice(0, 10_000));
    expect(text.slice(10_000)).toMatch(/^\n\[.*4990000 more characters.*\]$/);
  });

  it.each(['additionalContext', 'permissionDecisionReason'])('cuts %s visibly', (field) => {
    const text = String(
      read({ hookSpecificOutput: { [field]: long } }).output?.hookSpecificOutput?.[field],
    );
    expect(text.length).toBeLessThan(10_100);
    expect(text).toMatch(/more characters/);
  });

  it('cuts plain text', () => {
    expect(readHookOutput(long).output?.systemMessage?.length).toBeLessThan(10_100);
  });

  it('leaves a text of exactly the limit as it is', () => {
    const text = 'y'.repeat(10_000);
    expect(read({ reason: text }).output?.reason).toBe(text);
  });
});

describe('control characters', () => {
  it('are removed from what reaches a model or a terminal', () => {
    const text = 'a\u0000b\u0007c\u001b[31md\u001b]0;title\u0007e\u009bf\u007fg';
    expect(read({ reason: text }).output?.reason).toBe('abcdefg');
    expect(readHookOutput(text).output?.systemMessage).toBe('abcdefg');
  });

  it('are removed where they change the direction of text', () => {
    const text = '\u202aa\u202eb\u2066c\u2069d\u200ee\u200ff\u061cg';
    expect(read({ reason: text }).output?.reason).toBe('abcdefg');
  });

  it('leaves newlines, tabs and other scripts', () => {
    const text = 'één\n\tдва 三 🎣';
    expect(read({ systemMessage: text }).output?.systemMessage).toBe(text);
    expect(read({ systemMessage: 'a\r\nb' }).output?.systemMessage).toBe('a\nb');
  });

  it('stay in data', () => {
    const toolInput = { content: '\u001b[31mred' };
    const { output } = read({ hookSpecificOutput: { tool_input: toolInput } });
    expect(output?.hookSpecificOutput?.['tool_input']).toEqual(toolInput);
  });
});

describe('hostile JSON', () => {
  it('cannot reach a prototype', () => {
    const inner = '{"__proto__":{"polluted":1},"constructor":{"x":1},"prototype":2,"a":1}';
    const stdout = `{"__proto__":{"decision":"deny"},"hookSpecificOutput":{"tool_input":{"list":[${inner}],"nested":${inner}},"other":${inner}}}`;
    for (const text of [stdout, JSON.stringify(stdout)]) {
      const { output } = readHookOutput(text);
      expect(output?.decision).toBeUndefined();
      expect(JSON.stringify(output)).toBe(
        '{"hookSpecificOutput":{"tool_input":{"list":[{"a":1}],"nested":{"a":1}},"other":{"a":1}}}',
      );
    }
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it.each([
    ['an unknown field', '{"deep":@,"decision":"deny"}'],
    ['a known field', '{"reason":@,"decision":"deny"}'],
    ['the arguments of a tool', '{"hookSpecificOutput":{"tool_input":{"x":@}},"decision":"deny"}'],
    [
      'a list of messages',
      '{"hookSpecificOutput":{"llm_request":{"messages":@}},"decision":"deny"}',
    ],
  ])('may be 200,000 levels deep in %s', (_, template) => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    expect(readHookOutput(template.replace('@', deep)).output?.decision).toBe('deny');
  });

  it.each([
    '{"reason":{"toString":1},"decision":"deny"}',
    '{"hookSpecificOutput":{"llm_request":{"messages":[{"role":{"toString":1}}]}},"decision":"deny"}',
  ])('may hold objects that cannot be turned into text: %s', (stdout) => {
    expect(readHookOutput(stdout).output?.decision).toBe('deny');
  });

  it('may be 200,000 levels deep as a whole', () => {
    const stdout = '['.repeat(200_000);
    expect(readHookOutput(stdout).output?.decision).toBe('allow');
    expect(readHookOutput(`${stdout}${']'.repeat(200_000)}`).output?.decision).toBe('allow');
  });
});

describe('convertPlainTextToHookOutput', () => {
  it.each([
    [0, { decision: 'allow', systemMessage: 'text' }],
    [2, { decision: 'deny', reason: 'text' }],
    [1, { decision: 'allow', systemMessage: 'Warning: text' }],
    [127, { decision: 'allow', systemMessage: 'Warning: text' }],
  ])('exit code %i', (exitCode, expected) => {
    expect(convertPlainTextToHookOutput(' text\n', exitCode)).toEqual(expected);
  });

  it('blocks with a default reason when there is no text', () => {
    expect(convertPlainTextToHookOutput(' \n', 2)).toEqual({
      decision: 'deny',
      reason: 'Blocked by hook',
    });
  });
});
