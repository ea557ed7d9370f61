import { query } from '@anthropic-ai/claude-agent-sdk';
import { claudeHooks } from 'hookstack/claude';
import type {
  Difference,
  Harness,
  ModelAnswerCall,
  SentRequest,
  Turn,
} from 'hookstack/conformance';
import { fakeClaude, type Answer, type ClaudeIo } from './fakeClaude.js';

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
    abortDuringModel: NO_MODEL_EVENTS,
    abortDuringStream: NO_MODEL_EVENTS,
    abortModel: NO_MODEL_EVENTS,
    synthetic: NO_MODEL_EVENTS,
    syntheticStream: NO_MODEL_EVENTS,
    blockModel: NO_MODEL_EVENTS,
    stopModel: NO_MODEL_EVENTS,
    stopAfterModel: NO_MODEL_EVENTS,
    request: NO_MODEL_EVENTS,
    redact: NO_MODEL_EVENTS,
    redactHeld: NO_MODEL_EVENTS,
    redactShown: NO_MODEL_EVENTS,
    stream: NO_MODEL_EVENTS,
    restrict: NO_MODEL_EVENTS,
    restrictCalls: NO_MODEL_EVENTS,
    modelReads: NO_MODEL_EVENTS,
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
        const request = { toolName, input } as unknown as Parameters<Turn['approver']>[0];
        const { decision, reason } = await turn.approver(request, { signal: asked });
        if (decision === 'allow') return { behavior: 'allow', updatedInput: input };
        return { behavior: 'deny', message: reason ?? 'No.' };
      },
      spawnClaudeCodeProcess: () => fakeClaude(who, (io) => serve(turn, io)),
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

type Message = SentRequest['messages'][number];

/** The loop of an agent, as Claude Code has it. */
async function serve(turn: Turn, io: ClaudeIo): Promise<string> {
  const messages: Message[] = [
    { role: 'system', text: io.systemPrompt },
    { role: 'user', text: io.prompt },
  ];
  for (;;) {
    const request = { messages, tools: turn.tools.map(({ name }) => name) };
    const { text, chunks, calls } = await turn.model(request, io.signal);
    if (calls.length === 0) {
      for await (const piece of turn.stream ? chunks : []) {
        const delta = { type: 'text_delta', text: piece };
        io.send({ type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta } });
      }
      return text;
    }
    const results = await Promise.all(calls.map((call) => callTool(turn, io, call)));
    for (const result of results) {
      if (typeof result !== 'string') return '';
      messages.push({ role: 'tool', text: result });
    }
  }
}

/** @returns what the model reads, or that the agent ends */
async function callTool(
  turn: Turn,
  io: ClaudeIo,
  { id, name, args }: ModelAnswerCall,
): Promise<string | { stopReason: string }> {
  const call = { tool_name: name, tool_input: args, tool_use_id: id };
  const before = await io.fire('PreToolUse', call);
  if (before.continue === false) return { stopReason: before.stopReason ?? '' };
  const { permissionDecision, permissionDecisionReason, updatedInput } =
    before.hookSpecificOutput ?? {};
  if (permissionDecision === 'deny') return permissionDecisionReason ?? '';
  const input = updatedInput ?? args;
  if (permissionDecision === 'ask') {
    const answer = await io.ask(name, input, id);
    if (answer.behavior === 'deny') return answer.message ?? '';
  }
  const tool = turn.tools.find((each) => each.name === name);
  try {
    const output = await tool?.execute({ ...input }, io.signal);
    const fields = { ...call, tool_input: input, tool_response: output };
    return whatModelReads(output ?? '', await io.fire('PostToolUse', fields));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const after = await io.fire('PostToolUseFailure', { ...call, error: message });
    return whatModelReads(message, after);
  }
}

function whatModelReads(output: string, after: Answer): string | { stopReason: string } {
  if (after.continue === false) return { stopReason: after.stopReason ?? '' };
  const { updatedToolOutput = output, additionalContext } = after.hookSpecificOutput ?? {};
  return [updatedToolOutput, additionalContext, after.reason].filter(Boolean).join('\n');
}
