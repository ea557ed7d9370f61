import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { createModelCall } from '../../src/context.js';
import { textResponse } from '../../src/protocol/response.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const temp = useTempDir();

const result = { llmContent: 'ran', returnDisplay: 'ran' };
const request = { model: 'm', contents: 'hi' };

/** What a hook of every event would do if it were heeded. */
const demands = JSON.stringify({
  decision: 'block',
  continue: false,
  suppressOutput: true,
  systemMessage: 'forged',
  hookSpecificOutput: {
    additionalContext: 'forged',
    tool_input: { forged: true },
    llm_request: { model: 'forged' },
    llm_response: { text: 'forged' },
    toolConfig: { mode: 'NONE' },
  },
});

/** Runs a tool call and a model call, and returns all that came of them. */
async function runBoth(config: Config) {
  const inputs: unknown[] = [];
  const toolResult = await executeToolWithHooks(config, 'tool', { a: 1 }, async (input) => {
    inputs.push(input);
    return result;
  });
  const requests: unknown[] = [];
  const call = createModelCall(request, async (sent) => {
    requests.push(sent);
    return (async function* () {
      yield textResponse('hello');
    })();
  });
  await config.getModelStack().run(call);
  const texts = [];
  for await (const chunk of call.stream ?? []) texts.push(chunk.text);
  return { toolResult, inputs, requests, texts, verdict: call.verdict };
}

const untouched = {
  toolResult: result,
  inputs: [{ a: 1 }],
  requests: [request],
  texts: ['hello'],
  verdict: { kind: 'allow' },
};

const failures: readonly [string, CommandHookConfig, RegExp, object][] = [
  [
    'exits with code 1',
    hook(`echo '${demands}'; echo broken >&2; exit 1`),
    /exited with code 1/,
    { exitCode: 1, stderr: 'broken\n' },
  ],
  [
    'is killed',
    hook(`echo '${demands}'; echo broken >&2; kill -KILL $$`),
    /SIGKILL/,
    { signal: 'SIGKILL', stderr: 'broken\n' },
  ],
  [
    'times out',
    hook(`echo '${demands}'; echo broken >&2; exec sleep 60`, { timeout: 1_000 }),
    /timed out after 1000 ms/,
    { stderr: 'broken\n' },
  ],
];

describe.each([BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection])(
  'a hook of %s',
  (event) => {
    it.each(failures)(
      'that %s changes nothing, and is warned of',
      async (_, failing, what, details) => {
        const logger = new RecordingLogger();
        const config = new Config({
          enableHooks: true,
          workingDir: temp.path,
          hooks: { [event]: [{ hooks: [failing] }] },
          debugLogger: logger,
        });
        expect(await runBoth(config)).toEqual(untouched);
        expect(logger.records.filter(({ level }) => level === 'warn')).toEqual([
          expect.objectContaining({
            message: expect.stringMatching(what),
            details: expect.objectContaining({ event, ...details }),
          }),
        ]);
      },
    );
  },
);
