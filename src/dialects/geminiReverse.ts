import { defaultHookTranslator } from '../protocol/hookTranslator.js';
import type { HookEventName, HookPayload } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { recordOf } from './answers.js';
import { gemini } from './gemini.js';
import { contextOf, lostContext, reasonOf, stop, withSpecific } from './replyParts.js';
import { changedTheirArguments } from './reverseArguments.js';
import type { Received, Reply, ReplyVerdict, ReverseDialect } from './reverseTypes.js';
import { theirToolNames, withAllowedNames, withToolNames } from './translate.js';

/** What Gemini CLI tells its hooks, and how it is answered. */
export const geminiReverse: ReverseDialect = {
  spoken: gemini,
  alsoEvents: {},
  unknownEvents: new Set(),
  ourSubjects: {},
  toolName: (fields, name) => {
    const { server_name: server, tool_name: tool } = recordOf(fields['mcp_context']);
    const isKnown = typeof server === 'string' && typeof tool === 'string' && server && tool;
    return isKnown ? `mcp__${server}__${tool}` : name;
  },
  toolResponse: ({ tool_response: response }) => {
    if (isRecord(response)) return { llmContent: '', returnDisplay: '', ...response };
    const text = typeof response === 'string' ? response : '';
    return { llmContent: text, returnDisplay: text };
  },
  writers: {
    BeforeTool: writeCall,
    AfterTool: writeResult,
    BeforeModel: writeRequest,
    AfterModel: writeAnswer,
    BeforeToolSelection: writeSelection,
    BeforeAgent: (verdict) => ({
      json: {
        ...refusal(verdict),
        ...withSpecific('BeforeAgent', { additionalContext: contextOf(verdict) }),
      },
    }),
    AfterAgent: (verdict) => {
      if (verdict.kind === 'block') return { json: refusal(verdict, { withContext: true }) };
      return { json: refusal(verdict), lost: lostContext(verdict) };
    },
    SessionStart: (verdict) => ({
      json: withSpecific('SessionStart', { additionalContext: contextOf(verdict) }),
      lost: lostStop(verdict),
    }),
    SessionEnd: advice,
    PreCompress: advice,
    Notification: advice,
  },
};

function advice(verdict: ReplyVerdict): Partial<Reply> {
  return { lost: [...lostStop(verdict), ...lostContext(verdict)] };
}

function writeCall(verdict: ReplyVerdict, received: Received): Partial<Reply> {
  if (verdict.kind === 'block' || verdict.kind === 'stop') {
    return { json: refusal(verdict, { withContext: true }) };
  }
  const { toolName } = received.payload as HookPayload<HookEventName.BeforeTool>;
  const given = recordOf(received.fields['tool_input']);
  const cwd = received.identity.cwd ?? process.cwd();
  const { changed, dropped } = verdict.input
    ? changedTheirArguments(gemini, toolName, given, verdict.input, cwd)
    : { changed: {}, dropped: [] };
  if (dropped.length > 0) {
    // What hooks give is merged over the arguments.
    const reason = `A hook removed arguments (${dropped.join(', ')}), and Gemini CLI cannot remove any, so the tool was not run.`;
    return { json: refusal({ kind: 'block', reason }), lost: [reason] };
  }
  const isChanged = Object.keys(changed).length > 0;
  return {
    json: {
      ...(verdict.kind === 'ask' && { decision: 'ask', reason: reasonOf(verdict) }),
      ...(isChanged && withSpecific('BeforeTool', { tool_input: changed })),
    },
    lost: lostContext(verdict),
  };
}

/** A denial is the one way to replace a result that all versions know. */
function writeResult(verdict: ReplyVerdict): Partial<Reply> {
  const { output, kind } = verdict;
  if (output) {
    const reason = [output.text, ...(kind === 'block' ? [reasonOf(verdict)] : [])].join('\n\n');
    const denial = refusal({ ...verdict, kind: 'block', reason }, { withContext: true });
    return { json: { ...denial, ...(kind === 'stop' && stop(verdict)) } };
  }
  const objection = kind === 'block' ? [reasonOf(verdict)] : [];
  const additionalContext = contextOf({ context: [...objection, ...(verdict.context ?? [])] });
  return { json: { ...stop(verdict), ...withSpecific('AfterTool', { additionalContext }) } };
}

function writeRequest(verdict: ReplyVerdict): Partial<Reply> {
  const { llm_request: request, llm_response: response } = recordOf(verdict.changes);
  const isRefused = verdict.kind === 'block' || verdict.kind === 'stop';
  const changes = isRefused
    ? { llm_response: answerOf(response) }
    : { llm_request: withToolNames(request, theirName) };
  return {
    json: { ...refusal(verdict), ...withSpecific('BeforeModel', changes) },
    lost: lostContext(verdict),
  };
}

function writeAnswer(verdict: ReplyVerdict): Partial<Reply> {
  const response = answerOf(recordOf(verdict.changes)['llm_response']);
  return {
    json: { ...stop(verdict), ...withSpecific('AfterModel', { llm_response: response }) },
    lost: lostContext(verdict),
  };
}

/** An answer in the form that it reads: with candidates, the first of which has a text. */
function answerOf(response: unknown): Record<string, unknown> | undefined {
  if (!isRecord(response)) return undefined;
  const described = defaultHookTranslator.fromHookLLMResponse(response);
  const { text: _text, ...answer } = defaultHookTranslator.toHookLLMResponse(described);
  const [first, ...others] = answer.candidates;
  const parts = first?.content.parts ?? [];
  const content = { role: 'model', parts: parts.length > 0 ? parts : [''] };
  return { ...answer, candidates: [{ finishReason: 'STOP', ...first, content }, ...others] };
}

function writeSelection(verdict: ReplyVerdict): Partial<Reply> {
  const { toolConfig } = recordOf(verdict.changes);
  const lost = lostContext(verdict);
  if (verdict.kind === 'stop') {
    const instead = 'BeforeToolSelection cannot stop Gemini CLI: all tools are switched off';
    return {
      json: withSpecific('BeforeToolSelection', { toolConfig: { mode: 'NONE' } }),
      lost: [instead, ...lost],
    };
  }
  const selection = isRecord(toolConfig) ? withAllowedNames(toolConfig, theirName) : undefined;
  return { json: withSpecific('BeforeToolSelection', { toolConfig: selection }), lost };
}

function theirName(name: string): string {
  return theirToolNames(gemini, name)[0];
}

function refusal(
  verdict: ReplyVerdict,
  { withContext = false }: { readonly withContext?: boolean } = {},
): Record<string, unknown> {
  if (verdict.kind !== 'block' && verdict.kind !== 'stop') return {};
  const context = withContext ? (verdict.context ?? []) : [];
  const reason = [reasonOf(verdict), ...context].join('\n\n');
  return { ...stop(verdict), decision: 'deny', reason };
}

function lostStop({ kind }: ReplyVerdict): readonly string[] {
  return kind === 'stop' ? ['at this event, hooks cannot stop Gemini CLI'] : [];
}
