import type { ModelAnswerCall, SentRequest, Turn } from '../conformance/conformance.js';

/** What the loop asks of hooks and host. */
export interface ClaudeIo {
  readonly prompt: string;
  readonly systemPrompt: string;
  /** What all hooks of an event answer; an empty object where there are none. */
  fire(event: string, fields: object): Promise<Answer>;
  /** Asks the user whether a tool may run. */
  ask(toolName: string, input: object, toolUseId: string): Promise<PermissionAnswer>;
  /** Shows a piece of text. */
  show(text: string): void;
  /** Aborts when the program is ended. */
  readonly signal: AbortSignal;
}

/** What the loop reads of an answer. */
export interface Answer {
  readonly continue?: boolean;
  readonly stopReason?: string;
  readonly decision?: string;
  readonly reason?: string;
  readonly hookSpecificOutput?: {
    readonly permissionDecision?: string;
    readonly permissionDecisionReason?: string;
    readonly updatedInput?: Record<string, unknown>;
    readonly updatedToolOutput?: unknown;
    readonly additionalContext?: string;
  };
}

export interface PermissionAnswer {
  readonly behavior: 'allow' | 'deny';
  readonly message?: string;
  readonly updatedInput?: Record<string, unknown>;
}

interface Stop {
  readonly stopReason: string;
}

/** One turn, with hooks as the documentation of Claude Code says. */
export async function claudeLoop(turn: Turn, io: ClaudeIo): Promise<{ text: string } | Stop> {
  return converse(turn, io, [
    { role: 'system', text: io.systemPrompt },
    { role: 'user', text: io.prompt },
  ]);
}

type Messages = SentRequest['messages'][number][];

async function converse(
  turn: Turn,
  io: ClaudeIo,
  messages: Messages,
): Promise<{ text: string } | Stop> {
  for (;;) {
    const request = { messages, tools: turn.tools.map(({ name }) => name) };
    const { text, chunks, calls } = await ask(turn, io, request);
    if (calls.length === 0) {
      for await (const piece of turn.stream ? chunks : []) {
        if (!io.signal.aborted) io.show(piece);
      }
      return { text };
    }
    const results = await Promise.all(calls.map((call) => callTool(turn, io, call)));
    for (const result of results) {
      if (typeof result !== 'string') return result;
      messages.push({ role: 'tool', text: result });
    }
    const batch = calls.map(({ id, name, args }, at) => ({
      tool_name: name,
      tool_input: args,
      tool_use_id: id,
      tool_response: results[at],
    }));
    const after = await io.fire('PostToolBatch', { tool_calls: batch });
    if (after.continue === false) return { stopReason: after.stopReason ?? '' };
    const { additionalContext } = after.hookSpecificOutput ?? {};
    if (additionalContext) messages.push({ role: 'user', text: additionalContext });
  }
}

/** Nothing that hooks answer to a failure has an effect. */
async function ask(turn: Turn, io: ClaudeIo, request: SentRequest) {
  try {
    return await turn.model(request, io.signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    await io.fire('StopFailure', { error: 'server_error', error_details: message });
    throw error;
  }
}

/** Another agent, which nobody can keep from beginning. */
async function help(turn: Turn, io: ClaudeIo, agentType: string, prompt: string): Promise<string> {
  const who = { agent_id: 'agent-1', agent_type: agentType };
  const inside = {
    ...io,
    fire: (event: string, more: object) => io.fire(event, { ...who, ...more }),
  };
  const start = await inside.fire('SubagentStart', {});
  const { additionalContext = '' } = start.hookSpecificOutput ?? {};
  const messages: Messages = [{ role: 'user', text: [prompt, additionalContext].join('\n') }];
  for (let isSentBack = false; ; isSentBack = true) {
    const ended = await converse(turn, inside, messages);
    if (!('text' in ended)) return ended.stopReason;
    const { text } = ended;
    const done = { stop_hook_active: isSentBack, last_assistant_message: text };
    const end = await inside.fire('SubagentStop', done);
    if (end.decision !== 'block') return text;
    messages.push({ role: 'assistant', text }, { role: 'user', text: end.reason ?? '' });
  }
}

/** @returns what the model reads, or that the agent ends */
async function callTool(
  turn: Turn,
  io: ClaudeIo,
  { id, name, args }: ModelAnswerCall,
): Promise<string | Stop> {
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
    const output =
      name === turn.subagent
        ? await help(turn, io, name, String(args['request']))
        : await tool?.execute({ ...input }, io.signal);
    const fields = { ...call, tool_input: input, tool_response: output };
    return whatModelReads(output ?? '', await io.fire('PostToolUse', fields));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const after = await io.fire('PostToolUseFailure', { ...call, error: message });
    return whatModelReads(message, after);
  }
}

function whatModelReads(output: string, after: Answer): string | Stop {
  if (after.continue === false) return { stopReason: after.stopReason ?? '' };
  const { updatedToolOutput = output, additionalContext } = after.hookSpecificOutput ?? {};
  return [updatedToolOutput, additionalContext, after.reason].filter(Boolean).join('\n');
}
