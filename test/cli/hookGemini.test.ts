import { describe, expect, it } from 'vitest';
import { receivableEvents } from '../../src/dialects/reverse.js';
import { Cli } from './helpers.js';
import { haveForeignHook, haveHook, SAID, seen, send, type Saying } from './hookHelpers.js';

const cli = new Cli();

const tool = { tool_name: 'run_shell_command', tool_input: { command: 'ls', dir_path: 'src' } };
const request = {
  model: 'gemini-2.5-flash',
  messages: [{ role: 'user', content: 'Hello' }],
  config: { temperature: 0.5 },
  toolConfig: { mode: 'AUTO', allowedFunctionNames: ['grep_search', 'mcp_git_log'] },
};
const response = {
  candidates: [{ content: { role: 'model', parts: ['A secret'] }, finishReason: 'STOP' }],
};

/** Every event of Gemini CLI, as its documentation says. */
const EVENTS: Readonly<Record<string, object>> = {
  BeforeTool: tool,
  AfterTool: { ...tool, tool_response: { llmContent: 'out', returnDisplay: 'out' } },
  BeforeAgent: { prompt: 'Write a haiku' },
  AfterAgent: { prompt: 'Write a haiku', prompt_response: 'Done.', stop_hook_active: false },
  BeforeModel: { llm_request: request },
  AfterModel: { llm_request: request, llm_response: response },
  BeforeToolSelection: { llm_request: request },
  SessionStart: { source: 'resume' },
  SessionEnd: { reason: 'exit' },
  PreCompress: { trigger: 'auto' },
  Notification: { notification_type: 'ToolPermission', message: 'May it?', details: { a: 1 } },
};

const specific = (hookEventName: string, fields: object) => ({
  hookSpecificOutput: { hookEventName, ...fields },
});
const STOP = { continue: false, stopReason: 'end' };
const DENIED = { decision: 'deny', reason: 'no' };
const STOPPED = { ...STOP, decision: 'deny', reason: 'end' };
const CONTEXT = { additionalContext: 'context\n\n[System] note' };
const NOBODY = { systemMessage: expect.stringContaining('nobody can be asked') as string };

/** What Gemini CLI is answered, by event and by what hooks say; where nothing stands, `{}`. */
const ANSWERS: Readonly<Record<string, Partial<Record<Saying, object>>>> = {
  BeforeTool: {
    block: DENIED,
    stop: STOPPED,
    ask: {
      decision: 'deny',
      reason: expect.stringMatching(/^sure\? .*HOOKSTACK_PERSON=1/) as string,
    },
  },
  AfterTool: {
    block: specific('AfterTool', { additionalContext: 'no' }),
    stop: STOP,
    texts: specific('AfterTool', CONTEXT),
  },
  BeforeAgent: {
    block: DENIED,
    stop: STOPPED,
    ask: NOBODY,
    texts: specific('BeforeAgent', CONTEXT),
  },
  AfterAgent: { block: DENIED, stop: STOPPED },
  BeforeModel: { block: DENIED, stop: STOPPED, ask: NOBODY },
  AfterModel: { stop: STOP },
  BeforeToolSelection: { stop: specific('BeforeToolSelection', { toolConfig: { mode: 'NONE' } }) },
  SessionStart: { texts: specific('SessionStart', CONTEXT) },
};

describe.each(Object.entries(EVENTS))('%s of Gemini CLI', (event, fields) => {
  it.each(Object.keys(SAID) as Saying[])('is answered where hooks say %s', async (saying) => {
    await haveHook(cli);
    const sent = { hook_event_name: event, timestamp: '2026-01-01T00:00:00Z', ...fields };
    const { exitCode, json } = await send(cli, 'gemini', sent, SAID[saying]);
    expect(json).toEqual(ANSWERS[event]?.[saying] ?? {});
    expect(exitCode).toBe(0);
  });
});

it('has a question put to whoever says that somebody is there, but not in a build', async () => {
  await haveHook(cli);
  const sent = { hook_event_name: 'BeforeTool', ...tool };
  const asked = (env: NodeJS.ProcessEnv) => send(cli, 'gemini', sent, SAID.ask, env);
  const { json } = await asked({ HOOKSTACK_PERSON: '1' });
  expect(json).toEqual({ decision: 'ask', reason: 'sure?' });
  const build = await asked({ HOOKSTACK_PERSON: '1', CI: 'true' });
  expect(build.json).toMatchObject({ decision: 'deny' });
});

it('has all events of Gemini CLI in its table', () => {
  expect(Object.keys(EVENTS).toSorted()).toEqual([...receivableEvents('gemini')].toSorted());
});

/** A denial after a tool replaces its result there. */
const CAN_BLOCK = new Set(['BeforeTool', 'AfterTool', 'BeforeAgent', 'AfterAgent', 'BeforeModel']);

it.each(Object.entries(EVENTS))(
  'a guard that fails denies what can be denied: %s',
  async (event, fields) => {
    await haveHook(cli, { command: 'cat > /dev/null; exit 7', onFailure: 'deny' });
    const { exitCode, json } = await send(cli, 'gemini', { hook_event_name: event, ...fields });
    expect(exitCode).toBe(0);
    const text = JSON.stringify(json);
    expect(/"(?:deny|block)"/u.test(text)).toBe(CAN_BLOCK.has(event));
    expect(/What was given here is withheld/.test(text)).toBe(/After(?:Tool|Model)/.test(event));
    expect(text).toContain('exited with code 7');
  },
);

describe('what hooks read of an event of Gemini CLI', () => {
  it.each([
    ['BeforeTool', { tool_input: { command: 'ls', directory: 'src' } }],
    ['AfterTool', { tool_response: { llmContent: 'out', returnDisplay: 'out' } }],
    ['AfterAgent', { prompt: 'Write a haiku', prompt_response: 'Done.', stop_hook_active: false }],
    [
      'BeforeModel',
      {
        llm_request: {
          ...request,
          toolConfig: {
            mode: 'AUTO',
            allowedFunctionNames: ['search_file_content', 'mcp__git__log'],
          },
        },
      },
    ],
    ['AfterModel', { llm_response: { text: 'A secret' } }],
    ['Notification', { notification_type: 'ToolPermission', details: { a: 1 } }],
  ])('is ours, for %s', async (event, expected) => {
    await haveHook(cli);
    await send(cli, 'gemini', { hook_event_name: event, ...EVENTS[event] });
    const common = { session_id: 's1', transcript_path: `${cli.project}/t.jsonl` };
    expect(await seen(cli)).toMatchObject({ ...common, hook_event_name: event, ...expected });
  });
});

/** What Gemini CLI is answered where a hook says this. */
async function change(event: string, hookSpecificOutput: object, said: object = {}) {
  await haveHook(cli);
  const sent = { hook_event_name: event, ...EVENTS[event] };
  return (await send(cli, 'gemini', sent, { ...said, hookSpecificOutput })).json;
}

function answer(text: string): object {
  return {
    candidates: [{ content: { role: 'model', parts: [text] }, finishReason: 'STOP', index: 0 }],
  };
}

describe('what hooks change of an event of Gemini CLI', () => {
  it('is merged over the arguments, by its names', async () => {
    const json = await change('BeforeTool', { tool_input: { directory: 'lib' } });
    expect(json).toEqual(specific('BeforeTool', { tool_input: { dir_path: 'lib' } }));
  });

  it('denies where arguments are taken away, which it cannot do', async () => {
    await haveForeignHook(cli, 'claude', 'PreToolUse');
    const updatedInput = { command: 'ls' };
    const said = { hookSpecificOutput: { updatedInput } };
    const sent = { hook_event_name: 'BeforeTool', ...EVENTS['BeforeTool'] };
    const { json, stderr } = await send(cli, 'gemini', sent, said);
    expect(json).toMatchObject({ decision: 'deny' });
    expect(stderr).toContain('note: Gemini CLI, BeforeTool: A hook removed arguments (dir_path)');
  });

  it('is nothing where arguments have two names, of which hooks know one: it denies', async () => {
    const twice = { command: 'ls', dir_path: '/etc', directory: '.' };
    const sent = { ...tool, hook_event_name: 'BeforeTool', tool_input: twice };
    await haveHook(cli);
    for (const said of [{}, SAID.allow, SAID.ask]) {
      expect((await send(cli, 'gemini', sent, said)).json).toMatchObject({
        decision: 'deny',
        reason: expect.stringContaining('"dir_path" and "directory" are one') as string,
      });
    }
    expect((await send(cli, 'gemini', sent, SAID.block)).json).toMatchObject(DENIED);
    await cli.userSettings({});
    expect((await send(cli, 'gemini', sent)).json).toEqual({});
  });

  it('denies where a hook gives an argument by its other name, which others have not looked at', async () => {
    await haveHook(cli);
    const said = { hookSpecificOutput: { tool_input: { dir_path: '/etc' } } };
    const sent = { hook_event_name: 'BeforeTool', ...EVENTS['BeforeTool'] };
    expect((await send(cli, 'gemini', sent, said)).json).toMatchObject({
      decision: 'deny',
      reason: expect.stringContaining('"dir_path" and "directory" are one') as string,
    });
  });

  it('takes the place of a result in all versions of it', async () => {
    await haveForeignHook(cli, 'gemini', 'AfterTool');
    const sent = { hook_event_name: 'AfterTool', ...EVENTS['AfterTool'] };
    const said = { hookSpecificOutput: { tool_output: 'clean' } };
    const { json } = await send(cli, 'gemini', sent, said);
    expect(json).toEqual({ decision: 'deny', reason: 'clean' });
  });

  it('is a request, an answer in place of one, and an answer', async () => {
    expect(await change('BeforeModel', { llm_request: { config: { topK: 3 } } })).toEqual(
      specific('BeforeModel', { llm_request: { config: { topK: 3 } } }),
    );
    expect(await change('BeforeModel', { llm_response: { text: 'Old' } }, SAID.block)).toEqual({
      ...DENIED,
      ...specific('BeforeModel', { llm_response: answer('Old') }),
    });
    expect(await change('AfterModel', { llm_response: { text: 'A [redacted]' } })).toEqual(
      specific('AfterModel', { llm_response: answer('A [redacted]') }),
    );
    expect(await change('AfterModel', { llm_response: { text: '' } })).toEqual(
      specific('AfterModel', { llm_response: answer('') }),
    );
  });

  it('restricts tools by its names', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['search_file_content'] };
    expect(await change('BeforeToolSelection', { toolConfig })).toEqual(
      specific('BeforeToolSelection', {
        toolConfig: { mode: 'ANY', allowedFunctionNames: ['grep_search'] },
      }),
    );
  });
});
