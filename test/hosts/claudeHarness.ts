import { query } from '@anthropic-ai/claude-agent-sdk';
import { claudeHooks } from 'hookstack/claude';
import {
  modelScenarioNames,
  type Difference,
  type Harness,
  type Turn,
} from '../conformance/conformance.js';
import { claudeLoop } from './claudeLoop.js';
import { CLAUDE_MOMENTS } from './claudeMoments.js';
import { fakeClaude } from './fakeClaude.js';

/** No hook runs, and the log says that it does not. */
const NO_MODEL_EVENTS: Difference = {
  instead: 'no model events: a warning says so',
  isSeen: ({ read, sent, warnings }) =>
    read.length === 0 && sent.length > 0 && warnings.some((each) => /no \w+ hook runs/.test(each)),
};

export const claudeHarness: Harness = {
  host: 'Claude Agent SDK 0.3',
  run: runTurn,
  differences: {
    ...Object.fromEntries(modelScenarioNames.map((name) => [name, NO_MODEL_EVENTS])),
    ...CLAUDE_MOMENTS,
  },
};

async function runTurn(turn: Turn) {
  const { sessionId, agent } = turn.session;
  const { signal, workingDir } = turn;
  let stopped: string | undefined;
  const abortController = new AbortController();
  signal.addEventListener('abort', () => abortController.abort(signal.reason));
  const who = {
    session_id: sessionId,
    agent_type: agent,
    cwd: workingDir,
    transcript_path: `${workingDir}/transcript.jsonl`,
  };
  let text = '';
  const messages = query({
    prompt: turn.prompt,
    options: {
      abortController,
      systemPrompt: turn.systemInstruction,
      includePartialMessages: turn.stream,
      settingSources: [],
      hooks: claudeHooks(turn.config, { onStop: (reason) => (stopped = reason) }),
      canUseTool: async (toolName, input, { signal: asked }) => {
        const { decision, reason } = await turn.approver({ toolName, input }, { signal: asked });
        if (decision === 'allow') return { behavior: 'allow', updatedInput: input };
        return { behavior: 'deny', message: reason ?? 'No.' };
      },
      pathToClaudeCodeExecutable: process.execPath,
      spawnClaudeCodeProcess: () =>
        fakeClaude(who, async (io) => {
          const ended = await claudeLoop(turn, io);
          return 'text' in ended ? ended.text : '';
        }),
    },
  });
  for await (const message of messages) {
    if (message.type === 'result' && message.subtype === 'success') text = message.result;
    if (message.type !== 'stream_event') continue;
    const { event } = message;
    if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
      turn.show(event.delta.text);
    }
  }
  return { text, stopped };
}
