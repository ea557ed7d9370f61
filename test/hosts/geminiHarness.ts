import {
  momentScenarioNames,
  type Difference,
  type Harness,
  type ModelAnswerCall,
  type Seen,
  type SentRequest,
  type Turn,
} from '../conformance/conformance.js';
import { hookCommand, type HookRun } from './hookCommand.js';
import { without } from './noMoments.js';

/** Gemini CLI with `hookstack hook` in its settings. It cannot run offline: a loop does what its documentation says. */
export const geminiHarness: Harness = {
  host: 'Gemini CLI',
  run,
  differences: {
    ...without(...momentScenarioNames),
    identity: {
      instead: 'the session, and no agent',
      isSeen: ({ read }) =>
        read.length === 2 &&
        read.every(({ session_id: id, agent }) => id === SESSION_ID && agent === undefined),
    },
    redactHeld: isEachPiece('[redacted][redacted]', 2),
    redactShown: isEachPiece('[redacted][redacted]', 2),
    stream: isEachPiece('One two three.', 3),
    restrictCalls: {
      instead: 'up to Gemini CLI',
      isSeen: ({ sent, runs }) => sent[0]?.tools.join() === 'read' && runs.length === 1,
    },
    abortDuringStream: {
      instead: 'hooks have seen the pieces until then',
      isSeen: ({ shown, text, read, wasToldOfAbort }) =>
        shown.join() === 'One ' && text === '' && wasToldOfAbort && count(read, 'AfterModel') === 1,
    },
    modelReads: {
      instead: 'the prompt and the session',
      isSeen: ({ read: [first] }) => {
        const request = JSON.stringify(first?.['llm_request']);
        return (
          first?.session_id === SESSION_ID &&
          request.includes('Go.') &&
          !request.includes('You are an agent.')
        );
      },
    },
  },
};

const SESSION_ID = 'conformance-session';

/** Gemini CLI sends hooks each piece of an answer, and never all of it. */
function isEachPiece(wanted: string, pieces: number): Difference {
  return {
    instead: 'hooks see each piece for itself',
    isSeen: ({ shown, text, read }) =>
      shown.join('') === wanted && text === wanted && count(read, 'AfterModel') === pieces,
  };
}

function count(read: Seen['read'], event: string): number {
  return read.filter(({ hook_event_name: name }) => name === event).length;
}

type Message = SentRequest['messages'][number];
type Send = (event: string, fields: object) => Promise<HookRun>;

/** What the loop reads of an answer. */
interface Answer {
  readonly continue?: boolean;
  readonly stopReason?: string;
  readonly decision?: string;
  readonly reason?: string;
  readonly hookSpecificOutput?: {
    readonly tool_input?: Record<string, unknown>;
    readonly additionalContext?: string;
    readonly llm_request?: LlmRequest;
    readonly llm_response?: LlmResponse;
    readonly toolConfig?: { readonly mode?: string; readonly allowedFunctionNames?: string[] };
  };
}

interface LlmRequest {
  readonly messages?: readonly { readonly role: string; readonly content: string }[];
  readonly config?: { readonly temperature?: number };
}

interface LlmResponse {
  readonly text?: string;
  readonly candidates?: readonly {
    readonly content: { readonly parts?: readonly (string | { readonly text?: string })[] };
  }[];
}

/** The agent ends, or the turn does. */
class End extends Error {
  constructor(readonly result: { readonly text: string; readonly stopped?: string }) {
    super('end');
  }
}

async function run(turn: Turn) {
  const send = await hookCommand(turn, 'gemini');
  const messages: Message[] = [
    { role: 'system', text: turn.systemInstruction },
    { role: 'user', text: turn.prompt },
  ];
  try {
    for (;;) {
      const { text, calls } = await askModel(turn, send, messages);
      if (calls.length === 0) return { text };
      const results = await Promise.all(calls.map((call) => callTool(turn, send, call)));
      messages.push(...results.map((result) => ({ role: 'tool' as const, text: result })));
    }
  } catch (error) {
    if (error instanceof End) return error.result;
    throw error;
  }
}

/** What hooks of one event say; ends the agent where they do. */
async function fire(send: Send, event: string, fields: object): Promise<Answer> {
  const { blocked, json } = await send(event, { timestamp: new Date().toISOString(), ...fields });
  if (blocked !== undefined) return { decision: 'deny', reason: blocked };
  const answer: Answer = json;
  if (answer.continue === false) {
    throw new End({ text: '', stopped: answer.stopReason ?? answer.reason ?? '' });
  }
  return answer;
}

const isDenied = ({ decision }: Answer) => decision === 'deny' || decision === 'block';

async function askModel(turn: Turn, send: Send, messages: readonly Message[]) {
  const shown = messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, text }) => ({ role: role === 'assistant' ? 'model' : 'user', content: text }));
  const llm_request = { model: 'mock', messages: shown, config: {} };
  const before = await fire(send, 'BeforeModel', { llm_request });
  const { llm_response, llm_request: changed } = before.hookSpecificOutput ?? {};
  if (isDenied(before) && !llm_response) throw new End({ text: before.reason ?? '' });
  if (llm_response) {
    const text = textOf(llm_response);
    turn.show(text);
    return { text, calls: [] };
  }
  const selection = await fire(send, 'BeforeToolSelection', { llm_request });
  const { allowedFunctionNames } = selection.hookSpecificOutput?.toolConfig ?? {};
  const names = turn.tools.map(({ name }) => name);
  const request = {
    messages: changed?.messages ? withMessages(messages, changed.messages) : messages,
    tools: allowedFunctionNames?.length ? allowedFunctionNames : names,
    temperature: changed?.config?.temperature,
  };
  const answer = await turn.model(request, turn.signal);
  turn.signal.throwIfAborted();
  const { calls } = answer;
  let text = '';
  for await (const piece of turn.stream ? answer.chunks : [answer.text]) {
    turn.signal.throwIfAborted();
    const parts = piece === '' ? [] : [piece];
    const given = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] };
    const after = await fire(send, 'AfterModel', { llm_request, llm_response: given });
    const replaced = after.hookSpecificOutput?.llm_response;
    const left = replaced ? textOf(replaced) : piece;
    text += left;
    if (left !== '') turn.show(left);
  }
  return { text, calls };
}

function withMessages(
  messages: readonly Message[],
  changed: NonNullable<LlmRequest['messages']>,
): Message[] {
  const system = messages.filter(({ role }) => role === 'system');
  return [
    ...system,
    ...changed.map(({ role, content }) => ({
      role: role === 'model' ? ('assistant' as const) : ('user' as const),
      text: content,
    })),
  ];
}

function textOf({ text, candidates = [] }: LlmResponse): string {
  const parts = candidates[0]?.content.parts ?? [];
  if (parts.length === 0) return text ?? '';
  return parts.map((part) => (typeof part === 'string' ? part : (part.text ?? ''))).join('');
}

/** What the model reads of it. */
async function callTool(turn: Turn, send: Send, { name, args }: ModelAnswerCall): Promise<string> {
  const before = await fire(send, 'BeforeTool', { tool_name: name, tool_input: args });
  if (isDenied(before)) return before.reason ?? '';
  const input = { ...args, ...before.hookSpecificOutput?.tool_input };
  if (before.decision === 'ask') {
    const request = { toolName: name, input };
    const { decision, reason } = await turn.approver(request, { signal: turn.signal });
    if (decision === 'deny') return reason ?? '';
  }
  const tool = turn.tools.find((each) => each.name === name);
  const response = await toResponse(async () => tool?.execute(input, turn.signal));
  const fields = { tool_name: name, tool_input: input, tool_response: response };
  const after = await fire(send, 'AfterTool', fields);
  if (isDenied(after)) return after.reason ?? '';
  const { additionalContext } = after.hookSpecificOutput ?? {};
  return [response.llmContent, additionalContext].filter(Boolean).join('\n');
}

/** A tool that throws has a result that says so. */
async function toResponse(execute: () => Promise<string | undefined>) {
  try {
    const text = (await execute()) ?? '';
    return { llmContent: text, returnDisplay: text };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { llmContent: message, returnDisplay: message, error: { message } };
  }
}
