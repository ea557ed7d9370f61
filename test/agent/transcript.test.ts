import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runAgent, type AgentOptions } from '../../src/agent/agent.js';
import { Transcript } from '../../src/agent/transcript.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { atOnce } from '../core/helpers/hookScripts.js';
import {
  callTools,
  chunk,
  reply,
  stream,
  type RecordedAnswer,
} from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';

const sandbox = useSandbox();

interface Line {
  readonly type: 'user' | 'assistant';
  readonly message: {
    readonly role: string;
    readonly content: string | readonly Record<string, unknown>[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

const fileOf = (name = 'transcript.jsonl') => path.join(sandbox.workingDir, '..', name);

function read(file: string): Line[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line);
}

/** What was said, without who and when. */
const saidIn = (file: string) => read(file).map(({ type, message }) => [type, message.content]);

const kept = (name: string) => read(fileOf(name)).map(({ type }) => type);

/** A hook that keeps the transcript as it finds it. */
const keeping = (name: string) =>
  sandbox.runs(`cp "$(printf %s "$input" | jq -r .transcript_path)" ../${name}`);

async function runSession(
  hooks: HookDefinitions,
  answers: readonly RecordedAnswer[],
  {
    transcriptPath = fileOf(),
    ...options
  }: Partial<AgentOptions> & { transcriptPath?: string } = {},
) {
  const debugLogger = new RecordingLogger();
  const config = sandbox.createConfig(hooks, { sessionId: 'session', transcriptPath, debugLogger });
  const { models } = await sandbox.startModel(...answers);
  const result = await runAgent({
    config,
    models,
    model: 'gemini-test',
    prompt: 'Write it.',
    tools: referenceTools,
    ...options,
  });
  return { config, result, warnings: debugLogger.warnings };
}

const write = { id: 'call-1', name: 'write_file', args: { file_path: 'a.txt', content: 'A' } };

describe('the transcript of a session', () => {
  it('holds the prompt, the answers, the tool calls and their results, one a line', async () => {
    await runSession({}, [callTools(write), reply('It is ', 'done.')]);
    const [result] = [expect.stringContaining('a.txt') as string];
    expect(saidIn(fileOf())).toEqual([
      ['user', 'Write it.'],
      [
        'assistant',
        [
          {
            type: 'tool_use',
            id: 'call-1',
            name: 'Write',
            input: { file_path: path.join(sandbox.workingDir, 'a.txt'), content: 'A' },
            tool: 'write_file',
          },
        ],
      ],
      ['user', [{ type: 'tool_result', tool_use_id: 'call-1', content: result, is_error: false }]],
      ['assistant', [{ type: 'text', text: 'It is done.' }]],
    ]);
  });

  it('says of each line whose it is, when it was said, and what it follows', async () => {
    await runSession({}, [reply('Done.')]);
    const [first, second] = read(fileOf());
    expect(first).toEqual({
      type: 'user',
      uuid: expect.any(String) as string,
      parentUuid: null,
      sessionId: 'session',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      cwd: sandbox.workingDir,
      isSidechain: false,
      userType: 'external',
      message: { role: 'user', content: 'Write it.' },
    });
    expect(second).toMatchObject({ type: 'assistant', parentUuid: first?.['uuid'] });
  });

  it('counts the tokens of an answer as scripts add them up, and says why it ended', async () => {
    const usageMetadata = {
      promptTokenCount: 100,
      cachedContentTokenCount: 60,
      candidatesTokenCount: 7,
      thoughtsTokenCount: 3,
    };
    const last = {
      ...chunk([{ text: 'Done.' }], { finishReason: 'STOP' as never }),
      usageMetadata,
    };
    await runSession({}, [stream(last)]);
    expect(read(fileOf())[1]?.message).toEqual({
      role: 'assistant',
      type: 'message',
      model: 'gemini-test',
      content: [{ type: 'text', text: 'Done.' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 40,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 60,
        output_tokens: 10,
      },
    });
  });

  it('holds all that was said before, when a hook starts', async () => {
    const hooks = {
      SessionStart: atOnce(keeping('start')),
      BeforeModel: atOnce(keeping('model')),
      BeforeTool: atOnce(keeping('tool')),
      AfterAgent: atOnce(keeping('end')),
    };
    await runSession(hooks, [callTools(write), reply('Done.')]);
    expect(kept('start')).toEqual([]);
    expect(kept('tool')).toEqual(['user', 'assistant']);
    // The second model call, of which the results of tools are a part.
    expect(kept('model')).toEqual(['user', 'assistant', 'user']);
    expect(kept('end')).toEqual(['user', 'assistant', 'user', 'assistant']);
  });

  it('gives a call without an id the one that its result is told by', async () => {
    const { id: _id, ...call } = write;
    await runSession({}, [callTools(call, call), reply('Done.')]);
    const blocks = read(fileOf()).flatMap(({ message }) =>
      typeof message.content === 'string' ? [] : message.content,
    );
    const used = blocks.flatMap((block) => block['id'] ?? []);
    expect(new Set(used).size).toBe(2);
    expect(new Set(blocks.flatMap((block) => block['tool_use_id'] ?? []))).toEqual(new Set(used));
  });

  it('goes on after a call whose arguments are null', async () => {
    const call = { name: 'list_directory', args: null as never };
    const { config, warnings } = await runSession({}, [callTools(call), reply('Done.')]);
    expect(read(fileOf()).map(({ message }) => message.content)).toMatchObject([
      'Write it.',
      [{ type: 'tool_use', name: 'LS', input: {} }],
      [{ type: 'tool_result' }],
      [{ text: 'Done.' }],
    ]);
    expect(config.getTranscriptPath()).toBe(fileOf());
    expect(warnings).toEqual([]);
  });

  it('holds a big number as text, and leaves out a line that JSON cannot hold, with a warning', () => {
    const debugLogger = new RecordingLogger();
    const transcriptPath = fileOf();
    const config = sandbox.createConfig({}, { transcriptPath, debugLogger });
    const transcript = new Transcript(config);
    const addResult = (callId: string, part: object) => {
      const result = { llmContent: [part], returnDisplay: '' };
      const call = { callId, name: 'x', originalInput: {}, input: {} };
      transcript.addResult({ ...call, status: 'success', result });
    };
    const endless: Record<string, unknown> = {};
    endless['itself'] = endless;
    addResult('big', { size: 1n });
    addResult('endless', endless);
    transcript.addMessage('still here');
    transcript.close();
    const lines = read(transcriptPath);
    expect(lines.map(({ message }) => message.content)).toMatchObject([
      [{ tool_use_id: 'big', content: [{ type: 'text', text: '{"size":"1"}' }] }],
      'still here',
    ]);
    expect(lines[1]?.['parentUuid']).toBe(lines[0]?.['uuid']);
    expect(config.getTranscriptPath()).toBe(transcriptPath);
    expect(debugLogger.warnings).toEqual([
      expect.stringMatching(
        /^A line of the transcript .* is left out, as it is no JSON \(.*circular/,
      ),
    ]);
  });

  it('holds an answer as hooks left it, and no prompt that they blocked', async () => {
    const redact = sandbox.says({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } });
    await runSession({ AfterModel: atOnce(redact) }, [reply('The key is hunter2.')]);
    expect(saidIn(fileOf())).toEqual([
      ['user', 'Write it.'],
      ['assistant', [{ type: 'text', text: '[redacted]' }]],
    ]);
    const block = sandbox.says({ decision: 'block', reason: 'no' });
    const other = fileOf('blocked.jsonl');
    await runSession({ BeforeAgent: atOnce(block) }, [], { transcriptPath: other });
    expect(read(other)).toEqual([]);
  });

  it('tells what hooks say to the model from what the user said', async () => {
    const block = sandbox.runs(
      `printf %s "$input" | jq -e .stop_hook_active >/dev/null || { echo 'Test it.' >&2; exit 2; }`,
    );
    const context = sandbox.says({ hookSpecificOutput: { additionalContext: 'Be brief.' } });
    const hooks = { BeforeAgent: atOnce(context), AfterAgent: atOnce(block) };
    await runSession(hooks, [reply('Done.'), reply('Tested.')]);
    const asked = read(fileOf()).filter(({ type }) => type === 'user');
    expect(asked.map(({ message, isMeta }) => [isMeta ?? false, message.content])).toEqual([
      [false, 'Write it.'],
      [true, expect.stringContaining('Be brief.')],
      [true, expect.stringContaining('Test it.')],
    ]);
  });

  it('leaves out what the model thought to itself', async () => {
    const thought = { text: 'hm', thought: true, thoughtSignature: 'c2ln' };
    await runSession({}, [stream(chunk([thought]), chunk([{ text: 'Done.' }]))]);
    expect(saidIn(fileOf())[1]).toEqual(['assistant', [{ type: 'text', text: 'Done.' }]]);
  });

  it('has a line for an answer that is an image, with an empty text', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    await runSession({}, [stream(chunk([{ text: '' }, image]))]);
    expect(saidIn(fileOf())[1]).toEqual(['assistant', [{ type: 'text', text: '' }]]);
  });

  it('marks the summary that takes the place of older messages', async () => {
    const long = {
      ...chunk([{ functionCall: write }]),
      usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 1, totalTokenCount: 1001 },
    };
    const answers = [stream(long), stream(long), reply('We write.'), reply('Done.')];
    await runSession({}, answers, { compressAtTokens: 900 });
    const summaries = read(fileOf()).filter((line) => line['isCompactSummary']);
    expect(summaries.map(({ type, message }) => [type, message.content])).toEqual([
      ['user', 'Summary of the conversation so far:\nWe write.'],
    ]);
  });

  it('is for its owner alone, and goes on where the session does', async () => {
    const { config } = await runSession({}, [reply('Done.')]);
    expect(statSync(fileOf()).mode & 0o777).toBe(0o600);
    const { models } = await sandbox.startModel(reply('Done again.'));
    await runAgent({ config, models, model: 'gemini-test', prompt: 'Again.' });
    expect(saidIn(fileOf()).map(([, content]) => content)).toHaveLength(4);
  });

  it('is written by nobody where the host has none, or writes its own', async () => {
    await runSession({}, [reply('Done.')], { transcript: false });
    expect(existsSync(fileOf())).toBe(false);
  });

  it.each([
    ['is a link', () => symlinkSync('/dev/null', fileOf())],
    ['is a directory', () => mkdirSync(fileOf())],
    ['lies in a file', () => writeFileSync(fileOf('file'), ''), 'file/transcript.jsonl'],
  ])('costs one warning where it %s, and hooks are told of none', async (_, make, name = '') => {
    make();
    const start = sandbox.runs('');
    const hooks = { SessionStart: atOnce(start), BeforeModel: atOnce(start) };
    const transcriptPath = fileOf(name || undefined);
    const { result, warnings } = await runSession(hooks, [reply('Done.')], { transcriptPath });
    expect(result.response).toBe('Done.');
    expect(start.inputs().map((input) => input.transcript_path)).toEqual(['', '']);
    expect(warnings).toEqual([expect.stringContaining(`The transcript ${transcriptPath}`)]);
  });
});
