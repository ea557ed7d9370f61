import { describe, expect, it } from 'vitest';
import { textInPlace } from '../../src/protocol/hookOutput.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookInput,
  type Moment,
} from '../../src/protocol/types.js';
import { MAX_ANSWER_NESTING } from '../../src/util/records.js';
import { commonInput, hook, keepInput } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool, AfterTool, BeforeModel, BeforeToolSelection } = HookEventName;
const { BeforeAgent, SessionStart, PreCompress } = HookEventName;
const temp = useTempDir();

type Name = 'claude' | 'gemini';
type Settings = Partial<Omit<CommandHookConfig, 'command' | 'type'>>;

const CALL = { tool_name: 'write_file', tool_input: { file_path: '/a', content: 'b' } };
const ANSWERED = { ...CALL, tool_response: { llmContent: 'Done.', returnDisplay: 'Done.' } };
const GUARD = { onFailure: 'deny' } as const;

/** Fields of events, where a test does not say others. */
const FIELDS: { readonly [E in HookEventName]?: object } = {
  BeforeTool: CALL,
  AfterTool: ANSWERED,
  BeforeAgent: { prompt: 'fix it' },
  BeforeModel: { llm_request: { model: 'm', messages: [] } },
  BeforeToolSelection: { llm_request: { model: 'm', messages: [] } },
};

/** Runs a hook of another agent, once or more often, and returns the last result. */
async function ask(
  dialect: Name,
  event: HookEventName,
  command: string,
  { fields = FIELDS[event], times = 1, ...settings }: Settings & Asking = {},
) {
  const logger = new RecordingLogger();
  const runner = new HookRunner(logger);
  const input: HookInput = { ...commonInput(event, temp.path), ...fields };
  const config = hook(command, { name: 'theirs', dialect, ...settings });
  let result = await runner.executeHook(config, event, input);
  for (let left = times - 1; left > 0; left--) {
    result = await runner.executeHook(config, event, input);
  }
  return { result, output: result.output, warnings: logger.warnings };
}

interface Asking {
  readonly fields?: object | undefined;
  readonly times?: number;
}

/** A command that prints an answer. */
const says = (answer: unknown, ending = '') =>
  `cat <<'END'${ending}\n${JSON.stringify(answer)}\nEND`;
const specific = (fields: object) => ({ hookSpecificOutput: fields });

async function read(dialect: Name, event: HookEventName, asking: Settings & Asking = {}) {
  const { warnings } = await ask(dialect, event, keepInput('read.json'), asking);
  expect(warnings).toEqual([]);
  return temp.readJson('read.json');
}

/** An object in objects, so many levels deep. */
function nested(levels: number): object {
  let value = {};
  for (let level = 1; level < levels; level++) value = { a: value };
  return value;
}

describe('what hooks of another agent read', () => {
  it('is an event with its own fields only', async () => {
    expect(await read('claude', BeforeAgent)).toEqual({
      session_id: 'session',
      transcript_path: '',
      cwd: temp.path,
      permission_mode: 'default',
      hook_event_name: 'UserPromptSubmit',
      prompt: 'fix it',
    });
  });

  it('is the moment of an event, where the agent has one', async () => {
    expect(await read('claude', BeforeTool, { moment: 'asked' })).toMatchObject({
      hook_event_name: 'PermissionRequest',
      tool_name: 'Write',
      tool_input: CALL.tool_input,
    });
  });

  it('is the event itself, where the agent knows no such moment', async () => {
    expect(await read('gemini', BeforeTool, { moment: 'asked' })).toMatchObject({
      hook_event_name: 'BeforeTool',
      ...CALL,
    });
  });

  it.each([
    ['no arguments', { tool_name: 'search_file_content' }],
    ['arguments that are a text', { tool_name: 'search_file_content', tool_input: 'x' }],
    ['a name that is a number', { tool_name: 7, tool_input: { path: 'a' } }],
    ['arguments and no name', { tool_input: { path: 'a' } }],
  ])('is, of what a host calls a call and has %s, what the host said', async (_, fields) => {
    const told = (await read('gemini', BeforeTool, { fields })) as object;
    expect(told).toMatchObject(fields);
    expect(Object.keys(told)).not.toContain('tool_response');
  });

  it('is the result in its own words, and one that is no object as it is', async () => {
    const shell = { tool_name: 'run_shell_command', tool_input: { command: 'date' } };
    const known = { ...shell, tool_response: { llmContent: 'noon', returnDisplay: '' } };
    expect(await read('claude', AfterTool, { fields: known })).toMatchObject({
      tool_name: 'Bash',
      tool_response: { llmContent: 'noon', stdout: 'noon', success: true },
    });
    const plain = { ...shell, tool_response: 'noon' };
    expect(await read('claude', AfterTool, { fields: plain })).toMatchObject({
      tool_response: 'noon',
    });
  });

  it('holds no result before there is one', async () => {
    expect(await read('gemini', BeforeTool)).toEqual({
      ...commonInput(BeforeTool, temp.path),
      ...CALL,
    });
  });

  it('is a request with its own names of the tools', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['search_file_content', 'mcp__a__b'] };
    const fields = { llm_request: { model: 'm', messages: [], toolConfig } };
    expect(await read('gemini', BeforeModel, { fields })).toMatchObject({
      llm_request: { toolConfig: { allowedFunctionNames: ['grep_search', 'mcp_a_b'] } },
    });
  });
});

describe('two arguments with one name there', () => {
  const fields = {
    tool_name: 'read_file',
    tool_input: { absolute_path: '/a', file_path: '/b' },
    tool_response: { llmContent: 'text', returnDisplay: '' },
  };

  it('block the call, and the hook is not started', async () => {
    const { result, output } = await ask('claude', BeforeTool, ': >ran', { fields });
    expect(result.error?.message).toMatch(/"absolute_path" and "file_path".*Claude Code/);
    expect(output?.decision).toBe('deny');
    await expect(temp.readLines('ran')).rejects.toThrow('ENOENT');
  });

  it('are no reason to ask nobody where nothing can be blocked', async () => {
    const { result } = await ask('claude', AfterTool, 'echo ran', { fields });
    expect(result).toMatchObject({ success: true, stdout: 'ran\n' });
  });
});

describe('an exit code', () => {
  it.each<[Name, string, string]>([
    ['claude', 'echo " No. " >&2; exit 2', 'No.'],
    ['claude', 'echo Maybe.; echo No. >&2; exit 2', 'No.'],
    ['claude', 'echo Maybe.; exit 2', 'Blocked by hook'],
    ['claude', `${says({})}\necho No. >&2; exit 2`, 'No.'],
    ['claude', 'exit 2', 'Blocked by hook'],
    ['gemini', 'exit 2', 'Blocked by hook'],
    ['gemini', 'echo " No. "; exit 2', 'No.'],
    ['gemini', 'echo " No. " >&2; exit 2', 'No.'],
    ['gemini', 'echo No.; echo Maybe. >&2; exit 2', 'No.'],
    ['gemini', 'echo " "; echo No. >&2; exit 3', 'No.'],
    ['gemini', `${says({ systemMessage: 'x' })}\nexit 2`, 'Blocked by hook'],
    ['gemini', `${says({ systemMessage: 'x' })}\necho No. >&2; exit 2`, 'Blocked by hook'],
  ])('of %s denies by %j', async (dialect, command, reason) => {
    const { output } = await ask(dialect, BeforeTool, command);
    expect(output).toEqual(expect.objectContaining({ decision: 'deny', reason }));
  });

  it.each<[Name, string]>([
    ['gemini', 'exit 3'],
    ['gemini', 'echo No. >&2; exit 1'],
    ['gemini', 'echo No.; exit 1'],
    ['claude', 'echo No.; exit 3'],
    ['claude', 'echo No. >&2; exit 3'],
  ])('of %s is only a failure by %j', async (dialect, command) => {
    const { result, warnings } = await ask(dialect, BeforeTool, command);
    expect(result).toMatchObject({ success: false, exitCode: Number(command.at(-1)) });
    expect(result.output?.decision).not.toBe('deny');
    expect(warnings).toEqual([expect.stringContaining('exited with code')]);
  });

  it.each([
    ['its own reason', { decision: 'block', reason: 'Mine.' }, 'Mine.'],
    ['no reason', { decision: 'block' }, 'Theirs.'],
    ['a blank reason', { decision: 'block', reason: ' ' }, 'Theirs.'],
    ['the reason of an allowance', { decision: 'allow', reason: 'Fine.' }, 'Theirs.'],
    [
      'the reason of a denied permission',
      specific({ permissionDecision: 'deny', permissionDecisionReason: 'Mine.' }),
      'Mine.',
    ],
    [
      'the reason of a permission',
      specific({ permissionDecision: 'allow', permissionDecisionReason: 'Fine.' }),
      'Theirs.',
    ],
    ['something that is no object', { hookSpecificOutput: 'deny' }, 'Theirs.'],
  ])('that denies beside an answer with %s gives that of both that is one', async (...row) => {
    const [, answer, reason] = row;
    const command = `${says(answer)}\necho Theirs. >&2; exit 2`;
    const { output } = await ask('claude', BeforeTool, command);
    expect(output).toMatchObject({ decision: 'deny', reason });
  });

  it('keeps what else an answer says beside a denial', async () => {
    const answer = { continue: false, stopReason: 'Enough.' };
    const { output } = await ask('claude', BeforeTool, `${says(answer)}\nexit 2`);
    expect(output).toMatchObject({ decision: 'deny', continue: false, stopReason: 'Enough.' });
  });

  it('other than 0 does not keep an answer from being one', async () => {
    const { result, warnings } = await ask(
      'claude',
      BeforeTool,
      `${says({ decision: 'block', reason: 'No.' })}\nexit 1`,
    );
    expect(result).toMatchObject({ success: true, output: { decision: 'block', reason: 'No.' } });
    expect(warnings).toEqual([]);
  });

  it.each([
    ['a signal', 'kill -KILL $$', 'SIGKILL'],
    ['its deadline', 'trap "exit 0" TERM; while :; do sleep 0.01; done', 'timed out'],
  ])('does not count after %s, and what was printed before is no answer', async (...row) => {
    const [, ending, expected] = row;
    const command = `${says({ decision: 'deny', systemMessage: 'x' })}\n${ending}`;
    const { result, warnings } = await ask('claude', BeforeTool, command, { timeout: 300 });
    expect(result.success).toBe(false);
    expect(result.output).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining(expected)]);
  });
});

describe('an answer on stderr', () => {
  const denial = says({ decision: 'deny', reason: 'No.' }, ' >&2');

  it('counts for Gemini CLI, also beside a blank stdout', async () => {
    const { output } = await ask('gemini', BeforeTool, `echo; ${denial}`);
    expect(output).toMatchObject({ decision: 'deny', reason: 'No.' });
  });

  it('counts for nothing in Claude Code', async () => {
    const { output, warnings } = await ask('claude', BeforeTool, denial);
    expect(output).toBeUndefined();
    expect(warnings).toEqual([]);
  });
});

const replacing = (levels: number) => specific({ updatedToolOutput: nested(levels) });

describe('an answer that is nested deeply', () => {
  it('counts as long as it can be read', async () => {
    const answer = replacing(MAX_ANSWER_NESTING - 1);
    const { output, warnings } = await ask('claude', AfterTool, says(answer));
    expect(output?.foreign?.toolOutput?.llmContent).toContain('{"a":{"a":');
    expect(warnings).toEqual([]);
  });

  it('is refused as a whole where it is too deep', async () => {
    const answer = replacing(MAX_ANSWER_NESTING);
    const { output, warnings } = await ask('claude', AfterTool, says(answer));
    expect(output?.foreign).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('nested deeper')]);
  });

  it('is refused on stderr as well', async () => {
    const answer = specific({ tool_output: nested(MAX_ANSWER_NESTING) });
    const { output, warnings } = await ask('gemini', AfterTool, says(answer, ' >&2'));
    expect(output?.foreign).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('nested deeper')]);
  });
});

describe('plain text', () => {
  it.each([BeforeAgent, SessionStart])('is context at %s, for Claude Code', async (event) => {
    const { output, warnings } = await ask('claude', event, 'echo "  Be brief. "');
    expect(output).toEqual(specific({ additionalContext: 'Be brief.' }));
    expect(warnings).toEqual([]);
  });

  it('that begins as an object is no context, and is warned of', async () => {
    const { output, warnings } = await ask('claude', BeforeAgent, `echo '{"additional'`);
    expect(output).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('its decision does not count')]);
  });

  it('is not there where nothing is printed', async () => {
    const { output } = await ask('claude', BeforeAgent, 'echo Hm. >&2');
    expect(output).toBeUndefined();
  });

  it('is for nobody elsewhere in Claude Code', async () => {
    const { output, warnings } = await ask('claude', BeforeTool, 'echo Hello.');
    expect(output).toBeUndefined();
    expect(warnings).toEqual([]);
  });

  it.each(['echo Hello.', 'echo Hello. >&2'])(
    'is for the user in Gemini CLI, each time: %s',
    async (command) => {
      const { output, warnings } = await ask('gemini', BeforeTool, command, { times: 2 });
      expect(output).toBeUndefined();
      expect(warnings).toEqual(['Hello.', 'Hello.'].map(endingWith));
    },
  );

  it('around an object is warned of once', async () => {
    const command = `echo 'Loading {"decision": "deny"}'`;
    const { output, warnings } = await ask('claude', BeforeTool, command, { times: 2 });
    expect(output).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('with other text around it')]);
  });

  it('of a guard is none of its business, unless it was to be an answer', async () => {
    const prose = await ask('gemini', BeforeTool, 'echo Hello.', GUARD);
    expect(prose.output).toBeUndefined();
    for (const to of ['', ' >&2']) {
      const half = await ask('gemini', BeforeTool, `echo '{"decision": "al'${to}`, GUARD);
      expect(half.output).toMatchObject({ decision: 'deny' });
      expect(half.output?.reason).toContain('must not be bypassed');
      expect(half.warnings.join('\n')).not.toContain('says:');
    }
  });
});

const endingWith = (text: string) => expect.stringMatching(new RegExp(`says: ${text}$`)) as string;

describe('what an answer has for the user', () => {
  it.each<[string, unknown, string[]]>([
    ['a text', 'Mind the gap.', ['Mind the gap.']],
    ['a text with control characters', 'Mind\u001b[31m the gap.', ['Mind the gap.']],
    ['a blank text', ' \n', []],
    ['a number', 7, []],
  ])('is told each time where it is %s', async (_, systemMessage, told) => {
    const { result, warnings } = await ask('claude', AfterTool, says({ systemMessage }), {
      times: 2,
    });
    expect(result.success).toBe(true);
    expect(warnings).toEqual([...told, ...told].map(endingWith));
  });

  it('that cannot happen as its author expects is told once', async () => {
    const answer = specific({ watchPaths: ['a.txt'] });
    const { warnings } = await ask('claude', BeforeTool, says(answer), { times: 2 });
    expect(warnings).toEqual([expect.stringContaining('no files are watched')]);
  });
});

describe('an answer of another agent', () => {
  it.each<[Moment | undefined, string]>([
    ['asked', 'deny'],
    [undefined, 'none'],
  ])('is read as that of its moment: %s', async (moment, decision) => {
    const answer = specific({ decision: { behavior: 'deny', message: 'No.' } });
    const { output } = await ask('claude', BeforeTool, says(answer), { moment });
    expect(output?.decision ?? 'none').toBe(decision);
  });

  it('is read as that of the event, where the agent knows no such moment', async () => {
    const answer = { decision: 'deny', reason: 'No.' };
    const { output } = await ask('gemini', AfterTool, says(answer), { moment: 'failed' });
    expect(output?.foreign?.toolOutput).toEqual(textInPlace('No.', true));
  });

  it('is read as any other, where the event has no reading of its own', async () => {
    const answer = { decision: 'block', reason: 'No.' };
    const { output } = await ask('gemini', BeforeAgent, says(answer));
    expect(output).toEqual(answer);
  });

  it('changes arguments by our names, and only those that it changed', async () => {
    const fields = { tool_name: 'read_file', tool_input: { absolute_path: '/a', limit: 1 } };
    const updatedInput = { file_path: '/b', limit: 1 };
    const { output } = await ask('claude', BeforeTool, says(specific({ updatedInput })), {
      fields,
    });
    expect(output).toEqual(specific({ tool_input: { absolute_path: '/b' } }));
  });

  it('takes away arguments that it leaves out, where the agent does so', async () => {
    const answer = specific({ updatedInput: { file_path: '/a' } });
    const { output } = await ask('claude', BeforeTool, says(answer));
    expect(output?.foreign?.droppedArguments).toEqual(['content']);
  });

  it('says nothing of arguments that come back as they were', async () => {
    const answer = specific({ updatedInput: CALL.tool_input });
    const { output } = await ask('claude', BeforeTool, says(answer));
    expect(output).toEqual(specific({}));
  });

  it('keeps arguments as they are where no tool is called', async () => {
    const answer = specific({ tool_input: { a: 1 } });
    const { output } = await ask('gemini', BeforeAgent, says(answer));
    expect(output).toEqual(answer);
  });

  it('with arguments that are no object is reported', async () => {
    const answer = specific({ tool_input: 'all' });
    const { output, warnings } = await ask('gemini', BeforeTool, says(answer));
    expect(output).toEqual(specific({}));
    expect(warnings).toEqual([expect.stringContaining('tool_input is ignored')]);
  });

  it('with fields of the event that are no object is reported', async () => {
    const answer = { decision: 'deny', hookSpecificOutput: 'all' };
    const { output, warnings } = await ask('gemini', BeforeTool, says(answer));
    expect(output).toEqual({ decision: 'deny' });
    expect(warnings).toEqual([expect.stringContaining('hookSpecificOutput is ignored')]);
  });

  it('allows tools by our names, in a request and for one', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['grep_search', 'mcp_a_b'] };
    const ours = { mode: 'ANY', allowedFunctionNames: ['search_file_content', 'mcp__a__b'] };
    const allowing = await ask('gemini', BeforeToolSelection, says(specific({ toolConfig })));
    expect(allowing.output).toEqual(specific({ toolConfig: ours }));
    const changing = await ask(
      'gemini',
      BeforeModel,
      says(specific({ llm_request: { toolConfig } })),
    );
    expect(changing.output).toEqual(specific({ llm_request: { toolConfig: ours } }));
  });

  it('with allowed tools that are no object is reported', async () => {
    const answer = specific({ toolConfig: ['glob'] });
    const { output, warnings } = await ask('gemini', BeforeToolSelection, says(answer));
    expect(output).toEqual(specific({}));
    expect(warnings).toEqual([expect.stringContaining('toolConfig is ignored')]);
  });
});

describe('a field without a meaning here', () => {
  it.each<[string, object, string[]]>([
    ['at the top', { async: true }, ['async']],
    ['of the event', specific({ sessionTitle: 'a' }), ['sessionTitle']],
    ['that is switched off', { async: false, ...specific({ sessionTitle: '' }) }, []],
    ['of which nothing is missed', specific({ suppressOriginalPrompt: true }), []],
  ])('%s is told once, and is not read', async (_, answer, told) => {
    const { output, warnings } = await ask('claude', BeforeTool, says(answer), { times: 2 });
    expect(warnings).toEqual(
      told.map((name) => expect.stringContaining(`"${name}", which has no effect here`)),
    );
    expect(Object.keys(output?.hookSpecificOutput ?? {})).toEqual([]);
    expect(output).not.toHaveProperty('async');
  });

  it('in another place is an unknown field', async () => {
    const { warnings } = await ask('claude', BeforeTool, says(specific({ async: true })));
    expect(warnings).toEqual([expect.stringContaining('async is not a known field')]);
  });
});

describe('what our own format has no words for', () => {
  it('is nothing where an answer has nothing of the kind', async () => {
    const { output } = await ask('claude', BeforeTool, says({ decision: 'block', reason: 'No.' }));
    expect(output).toEqual({ decision: 'block', reason: 'No.' });
  });

  it.each<[string, unknown, string | undefined]>([
    ['a text', ' It is a draft. ', ' It is a draft. '],
    ['a text with control characters', 'a\u0007b', 'ab'],
    ['a blank text', ' ', undefined],
    ['a number', 7, undefined],
  ])('is context for the result, where it is %s', async (_, additionalContext, expected) => {
    const { output } = await ask('claude', BeforeTool, says(specific({ additionalContext })));
    expect(output?.foreign?.contextOfResult).toBe(expected);
    expect(output?.foreign === undefined).toBe(expected === undefined);
  });

  it('is a block of an event that ours cannot block', async () => {
    const answer = says({ decision: 'block', reason: 'Not now.' });
    const { output, warnings } = await ask('claude', PreCompress, answer);
    expect(output?.foreign?.prevents).toBe(true);
    expect(warnings).toEqual([endingWith('Not now.')]);
  });

  it.each<[string, unknown, string]>([
    ['its reason', ' It held a password. ', 'It held a password.'],
    ['no reason', undefined, 'Blocked by hook'],
    ['a blank reason', ' ', 'Blocked by hook'],
    ['a reason of which nothing is left', '\u0007', 'Blocked by hook'],
    ['a reason that is no text', 7, 'Blocked by hook'],
    ['a reason with control characters', 'a\u0007b', 'ab'],
  ])('is a denial in place of a result, with %s', async (_, reason, text) => {
    const { output } = await ask('gemini', AfterTool, says({ decision: 'deny', reason }));
    expect(output?.foreign?.toolOutput).toEqual(textInPlace(text, true));
  });

  it('is a text in place of a result, without control characters and of any length', async () => {
    const long = 'x'.repeat(12_000);
    const answer = says(specific({ tool_output: `a\u0007${long}` }));
    const { output } = await ask('gemini', AfterTool, answer);
    expect(output?.foreign?.toolOutput).toEqual(textInPlace(`a${long}`));
  });

  it('is nothing where the result comes back as it was', async () => {
    const answer = says(specific({ updatedToolOutput: asRead(ANSWERED.tool_response) }));
    const { result, output } = await ask('claude', AfterTool, answer);
    expect(result.success).toBe(true);
    expect(output?.foreign).toBeUndefined();
  });

  it('is an object in place of a result that was none', async () => {
    const fields = { ...CALL, tool_response: 'Done.' };
    const answer = says(specific({ updatedToolOutput: { created: 1 } }));
    const { output } = await ask('claude', AfterTool, answer, { fields });
    expect(output?.foreign?.toolOutput).toEqual(textInPlace('{"created":1}'));
  });

  it('is what the tool itself would have printed', async () => {
    const fields = { ...ANSWERED, tool_name: 'run_shell_command', tool_input: {} };
    const answer = says(specific({ updatedToolOutput: { stdout: 'a', stderr: 'b' } }));
    const { output } = await ask('claude', AfterTool, answer, { fields });
    expect(output?.foreign?.toolOutput).toEqual(textInPlace('a\nb'));
  });

  it('is a text in place of the result of what is no call of a tool', async () => {
    const answer = says(specific({ tool_output: '***' }));
    const { output } = await ask('gemini', AfterTool, answer, { fields: { tool_name: 7 } });
    expect(output?.foreign?.toolOutput).toEqual(textInPlace('***'));
  });

  it('is the same for a tool whose name is no text', async () => {
    const fields = { ...ANSWERED, tool_name: 7 };
    const answer = says(specific({ updatedToolOutput: '***' }));
    const { output } = await ask('claude', AfterTool, answer, { fields });
    expect(output?.foreign?.toolOutput).toEqual(textInPlace('***'));
  });
});

/** A result of `write_file` as hooks of Claude Code read it. */
function asRead(response: object): object {
  return { ...response, filePath: '/a', success: true };
}

it('a hook at an event that its agent does not have is read by what its answers have in common', async () => {
  const answer = { continue: false, stopReason: 'enough', systemMessage: 'hello' };
  const { output, warnings } = await ask('claude', BeforeModel, says(answer));
  expect(output).toMatchObject({ continue: false, stopReason: 'enough' });
  expect(warnings).toEqual([expect.stringContaining('says: hello')]);
});
