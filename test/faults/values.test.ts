import assert from 'node:assert/strict';
import { describe, expect } from 'vitest';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import type { HookExecutionResult } from '../../src/protocol/types.js';
import type { Tool } from '../../src/tools/tools.js';
import { readToEnd } from '../core/helpers/chats.js';
import { reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { blocking, hook, saying } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';

/** A hook that prints this text as it stands. */
function printing(text: string) {
  return hook(`cat <<'END'\n${text}\nEND`, { name: 'printer' });
}

/** A hook whose answer a script of Node computes. */
function computing(script: string) {
  return hook(`'${process.execPath}' - <<'END'\n${script}\nEND`, { name: 'printer' });
}

describe('what a hook prints', () => {
  fault.for(['"text"', 'null', '[1]', '7', 'true'])(
    "41 hookSpecificOutput: %s beside another hook's deny: the deny survives",
    async (value, { host }) => {
      const other = printing(`{"hookSpecificOutput":${value}}`);
      const { verdict, text } = await host.callTool([other, blocking('no'), other]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      const isNothing = value === 'null';
      expect(host.warnings).toEqual(
        isNothing ? [] : [expect.stringMatching(/"printer".*hookSpecificOutput is ignored/)],
      );
    },
  );

  fault.for(['null', '42', '[]', 'true', '"text"'])(
    '42 stdout %s: plain text',
    async (value, { host }) => {
      const { verdict, text } = await host.callTool([printing(value)]);
      expect(verdict).toBe('allowed');
      expect(text).toBe(`done\n\n[System] ${value}`);
      expect(host.warnings).toEqual([]);
    },
  );

  fault.for([
    ['continue: "false"', '{"continue":"false"}', 'continue'],
    ['decision: "DENY"', '{"decision":"DENY"}', 'decision'],
    ['decision: 7', '{"decision":7}', 'decision'],
    ['reason: []', '{"reason":[]}', 'reason'],
  ] as const)('43 %s: ignored, warned', async ([, json, field], { host }) => {
    const { verdict, text, input } = await host.callTool([printing(json)]);
    expect({ verdict, text, input }).toEqual({ verdict: 'allowed', text: 'done', input: {} });
    expect(host.warnings).toEqual([
      expect.stringMatching(new RegExp(`"printer" .*${field} is ignored: expected`)),
    ]);
  });

  fault('46 200,000 levels deep out: ignored, warned, and the deny survives', async ({ host }) => {
    const deep = computing(`const deep = '['.repeat(200_000) + ']'.repeat(200_000);
      process.stdout.write('{"hookSpecificOutput":{"tool_input":{"x":' + deep + '}}}');`);
    const { verdict, text } = await host.callTool([deep, blocking('no')]);
    expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
    expect(host.warnings).toEqual([expect.stringContaining('nested deeper than')]);
  });

  fault('47 lone surrogates', async ({ host }) => {
    const json = String.raw`{"decision":"deny","reason":"a\ud800b"}`;
    const { verdict, text } = await host.callTool([printing(json)]);
    expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'a\uD800b' });
  });

  fault('47 1e999 and duplicate keys', async ({ host }) => {
    const json = '{"hookSpecificOutput":{"tool_input":{"size":1e999,"path":"a","path":"b"}}}';
    const { verdict, input } = await host.callTool([printing(json)]);
    expect(verdict).toBe('allowed');
    expect(input).toEqual({ size: Number.POSITIVE_INFINITY, path: 'b' });
  });

  fault('48 a 500 kB systemMessage: capped, and the deny beside it counts', async ({ host }) => {
    const { verdict, text } = await host.callTool([
      computing(`process.stdout.write(JSON.stringify({
        decision: 'deny', reason: 'no', systemMessage: 'x'.repeat(500_000) }));`),
    ]);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/^no\n\n\[System\] x+\n\[… 490000 more characters cut\]$/);
  });

  fault('48 a 5 MB systemMessage: capped', async ({ host }) => {
    const { verdict, text } = await host.callTool([
      computing(`process.stdout.write(JSON.stringify({ systemMessage: 'x'.repeat(5_000_000) }));`),
    ]);
    expect(verdict).toBe('allowed');
    expect(text).toMatch(/\[System\] x{10000}\n\[… 4990000 more characters cut\]$/);
    expect(host.warnings).toEqual([]);
  });

  fault('48 a 20 MB answer: more than is read, so not heeded, and warned', async ({ host }) => {
    const { verdict, text } = await host.callTool([
      computing(`process.stdout.write(JSON.stringify({ systemMessage: 'x'.repeat(2e7) }));`),
    ]);
    expect(verdict).toBe('allowed');
    expect(text.length).toBeLessThan(10_200);
    expect(host.warnings).toEqual([expect.stringMatching(/"printer" printed more than/)]);
  });

  fault.for([
    ['1 with a JSON deny', `echo '{"decision":"deny"}'; exit 1`, 'allowed', 'done', 1],
    ['1 with stderr', 'echo oops >&2; exit 1', 'allowed', 'done', 1],
    ['2 with a JSON allow', `echo '{"decision":"allow"}'; exit 2`, 'blocked', 'Blocked by hook', 0],
    ['2, silent', 'exit 2', 'blocked', 'Blocked by hook', 0],
    ['2 with stderr', 'echo no >&2; exit 2', 'blocked', 'no', 0],
    ['3', 'exit 3', 'allowed', 'done', 1],
    ['127', 'exit 127', 'allowed', 'done', 1],
    ['0 with a JSON deny', `echo '{"decision":"deny"}'`, 'blocked', 'Blocked by hook', 0],
  ] as const)('49 exit %s', async ([, command, verdict, text, warnings], { host }) => {
    const answer = await host.callTool([hook(command)]);
    expect({ verdict: answer.verdict, text: answer.text }).toEqual({ verdict, text });
    expect(host.warnings).toHaveLength(warnings);
  });

  fault("50 one hook's merge throws: only that hook is lost", async ({ host }) => {
    const hooks = [saying({ reason: 'lost' }), blocking('no'), saying({ systemMessage: 'kept' })];
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks }] } });
    config.use(
      'hook',
      async (ctx, next) => {
        const [first, ...others] = ctx.results ?? [];
        if (first) ctx.results = [withUnreadableReason(first), ...others];
        await next();
      },
      { after: 'runner' },
    );
    const { verdict, text } = await host.callToolOf(config);
    expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no\n\n[System] kept' });
  });
});

function withUnreadableReason(result: HookExecutionResult): HookExecutionResult {
  const output = {
    get reason(): string {
      throw new Error('unreadable');
    },
  };
  return { ...result, output };
}

describe('44 __proto__, constructor, prototype', () => {
  const sandbox = useSandbox();
  const evil = '{"__proto__":{"evil":1},"constructor":{"evil":1},"prototype":{"evil":1},"b":2}';

  fault('44 as keys in what a hook returns', async ({ host }) => {
    const json = `{"__proto__":{"decision":"deny"},"hookSpecificOutput":{"tool_input":{"a":${evil},"c":[${evil}],"__proto__":{"evil":1}}}}`;
    const { verdict, input } = await host.callTool([printing(json)]);
    expect(verdict).toBe('allowed');
    expect(Object.keys(input ?? {})).toEqual(['a', 'c']);
    expect(JSON.stringify(input)).toBe('{"a":{"b":2},"c":[{"b":2}]}');
    expect(input).not.toHaveProperty('evil');
    expect({}).not.toHaveProperty('evil');
  });

  fault('44 as keys in what a hook returns for the model', async ({ host }) => {
    const request = `{"config":{"temperature":0.5,${evil.slice(1)},${evil.slice(1, -1)}}`;
    const json = `{"hookSpecificOutput":{"llm_request":${request}}}`;
    const config = host.createConfig({ hooks: { BeforeModel: [{ hooks: [printing(json)] }] } });
    const { models, sent } = await sandbox.startModel(reply('hello'));
    const chat = new GeminiChat({ config, models, model: 'gemini-2.5-flash' });
    expect((await readToEnd(chat.sendMessageStream('hi'))).turn.response.text).toBe('hello');
    expect(sent()[0]?.generationConfig).toMatchObject({ temperature: 0.5 });
    expect(JSON.stringify(sent())).not.toContain('evil');
    expect({}).not.toHaveProperty('evil');
  });

  fault('44 as keys in what a model sends', async ({ host }) => {
    const seen: Record<string, unknown>[] = [];
    const config = host.createConfig({
      hooks: { BeforeTool: [{ hooks: [hook('cat > seen; echo >> seen')] }] },
    });
    const scheduler = new CoreToolScheduler({ config, tools: [watchingTool(seen)] });
    const args = JSON.parse(`{"a":[${evil}],${evil.slice(1)}`) as Record<string, unknown>;
    const [call] = await scheduler.schedule([{ name: 'watch', args }]);
    expect(call?.status).toBe('success');
    expect(seen).toHaveLength(1);
    assert.deepStrictEqual(seen[0], args);
    expect(Object.getPrototypeOf(seen[0])).toBe(Object.prototype);
    await host.waitForFile('seen');
    expect(host.lines('seen').join('')).toContain(JSON.stringify(args));
    expect({}).not.toHaveProperty('evil');
  });
});

/** A tool that keeps what it is called with. */
function watchingTool(seen: Record<string, unknown>[]): Tool {
  return {
    name: 'watch',
    declaration: { name: 'watch' },
    execute: async (input) => {
      seen.push(input);
      return { llmContent: 'done', returnDisplay: 'done' };
    },
  };
}

/** No hook is started, the tool is not called, and the reason says why: the hook could not be asked. */
/** A plain hook is left out, and a guard denies. */
async function expectUnread(host: Host, toolInput: Record<string, unknown>, why: RegExp) {
  const plain = hook(': > ran', { name: 'plain' });
  expect((await host.callTool([plain], { toolInput })).verdict).toBe('allowed');
  const guard = { ...plain, name: 'guard', onFailure: 'deny' } as const;
  const { verdict, hooks, text, input } = await host.callTool([guard], { toolInput });
  expect({ verdict, input }).toEqual({ verdict: 'blocked', input: undefined });
  expect(text).toMatch(why);
  expect(host.exists('ran')).toBe(false);
  expect(hooks).toMatchObject([{ success: false, error: { message: expect.stringMatching(why) } }]);
  expect(host.warnings).toEqual([
    expect.stringMatching(/"plain" was not started.*goes on without it$/),
    expect.stringMatching(/"guard" was not started.*is blocked \(onFailure: "deny"\)$/),
  ]);
}

describe('what a tool is called with', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const deep = JSON.parse(`{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`) as typeof cyclic;
  const throwing = {
    toJSON() {
      throw new Error('not me');
    },
  };

  fault.for([
    ['BigInt', { size: 1n }, /tool_input\.size is a BigInt/],
    ['throwing toJSON', { it: throwing }, /tool_input\.it cannot be read/],
  ] as const)('45 %s: no spawn, a clear failure', ([, toolInput, why], { host }) =>
    expectUnread(host, toolInput, why),
  );

  fault('45 undefined: no spawn, a clear failure', async ({ host }) => {
    // As a host in JavaScript may do.
    const nothing: unknown = undefined;
    await expectUnread(host, nothing as Record<string, unknown>, /tool_input is missing/);
  });

  fault.for([
    ['45 cyclic', cyclic],
    ['46 20,000 levels deep in', deep],
  ] as const)('%s: refused before any hook', async ([, toolInput], { host }) => {
    const answer = await host.callTool([hook(': > ran', { name: 'plain' })], { toolInput });
    expect(answer).toMatchObject({
      text: expect.stringMatching(/nested deeper than 200 levels, or without end/),
      input: undefined,
      hooks: [],
    });
    expect(host.exists('ran')).toBe(false);
    expect(host.warnings).toEqual([]);
  });

  fault('46 20,000 levels deep in, from a model', async ({ host }) => {
    const seen: Record<string, unknown>[] = [];
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook('exit 2')] }] } });
    const scheduler = new CoreToolScheduler({ config, tools: [watchingTool(seen)] });
    const calls = await scheduler.schedule([{ name: 'watch', args: deep }, { name: 'watch' }]);
    expect(calls.map(({ status }) => status)).toEqual(['error', 'idle']);
    expect(seen).toEqual([]);
  });
});
