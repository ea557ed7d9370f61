import type {
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  Tool,
} from '@google/genai';
// The types are the host's own.
// @ts-ignore
import type { InvocationContext, LlmRequest, LlmResponse } from '@google/adk';
import { toContents } from '../../protocol/messages.js';
import { createResponse } from '../../protocol/response.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import { textOf, textResult } from '../shared.js';
import { toNotes } from '../translate.js';

/** The host runs the tool with the object that it lends to plugins. */
export function replaceArguments(
  lent: Record<string, unknown>,
  input: Readonly<Record<string, unknown>>,
): void {
  for (const key of Object.keys(lent)) if (!Object.hasOwn(input, key)) delete lent[key];
  for (const [key, value] of Object.entries(input)) {
    if (Object.hasOwn(lent, key) && lent[key] === value) continue;
    // As data, whatever the model called it.
    const attributes = { value, writable: true, enumerable: true, configurable: true };
    Object.defineProperty(lent, key, attributes);
  }
}

/** What a tool gave, as hooks read it. */
export function toToolResult(result: unknown): ToolResult {
  const message = isRecord(result) ? result['error'] : undefined;
  return {
    ...textResult(result),
    ...(typeof message === 'string' && { error: { type: ToolErrorType.Failed, message } }),
  };
}

/** What the model reads in place of what the tool would have given. */
export function toToolAnswer(refused: ToolResult): Record<string, unknown> {
  return { error: textOf(refused) };
}

/** What the model reads after hooks have seen what the tool gave; `undefined` where they left it. */
export function toChangedAnswer(
  ended: ToolResult,
  given: ToolResult,
  result: unknown,
): Record<string, unknown> | undefined {
  if (ended.llmContent === given.llmContent) return undefined;
  const [before, text] = [textOf(given), textOf(ended)];
  if (isRecord(result) && before !== '' && text.startsWith(before)) {
    return { ...result, hook_context: text.slice(before.length).trim() };
  }
  return ended.error && !given.error ? { error: text } : { result: text };
}

/** The request as hooks read it, with what they have to say to the model at its end. */
export function toModelRequest(
  { model, contents, config = {} }: LlmRequest,
  notes: readonly string[],
): GenerateContentParameters {
  return { model: model ?? '', contents: [...contents, ...toNotes(notes)], config };
}

/** Gives the host what hooks left of its request. */
export function applyRequest(
  llmRequest: LlmRequest,
  { model, contents, config = {} }: GenerateContentParameters,
  allowed: readonly string[] | undefined,
): void {
  if (model !== '') llmRequest.model = model;
  llmRequest.contents = toContents(contents);
  llmRequest.config = allowed ? restricted(config, allowed) : config;
}

/** Models of other providers know no names that are allowed: they are offered nothing else. */
function restricted(
  config: GenerateContentConfig,
  allowed: readonly string[],
): GenerateContentConfig {
  const tools = (config.tools ?? []).flatMap((tool): Tool[] => {
    const { functionDeclarations: all = [] } = tool as Tool;
    const functionDeclarations = all.filter(({ name = '' }) => allowed.includes(name));
    return functionDeclarations.length > 0 ? [{ functionDeclarations }] : [];
  });
  const { allowedFunctionNames, ...calling } = config.toolConfig?.functionCallingConfig ?? {};
  // Gemini refuses names with any other mode.
  const names = String(calling.mode) === 'ANY' && tools.length > 0 && { allowedFunctionNames };
  const functionCallingConfig = { ...calling, ...names };
  return { ...config, tools, toolConfig: { ...config.toolConfig, functionCallingConfig } };
}

/** A complete answer of the model, as hooks read it. */
export function toModelResponse(answer: LlmResponse): GenerateContentResponse {
  const { content = { role: 'model', parts: [] }, finishReason, usageMetadata } = answer;
  return createResponse({
    candidates: [{ index: 0, content, ...(finishReason && { finishReason }) }],
    ...(usageMetadata && { usageMetadata }),
  });
}

/** Why hooks do not see all of what an agent can do, in a sentence each. */
export function uncoveredOf(
  { config, toolsDict }: LlmRequest,
  context: InvocationContext,
  isAgentTool: (tool: unknown) => boolean,
): string[] {
  const agent: { name?: string; codeExecutor?: unknown } = context.agent ?? {};
  const executor = agent.codeExecutor
    ? [`the code executor of the agent "${agent.name}" runs code without asking plugins`]
    : [];
  const tools: readonly object[] = Array.isArray(config?.tools) ? config.tools : [];
  const builtIn = tools
    .flatMap((tool) => Object.keys(tool))
    .filter(
      (key) => key !== 'functionDeclarations' && (key !== 'codeExecution' || !agent.codeExecutor),
    )
    .map((key) => `"${key}" is run by the provider of the model`);
  const inner = Object.entries(toolsDict ?? {})
    .filter(([, tool]) => isAgentTool(tool))
    .map(([name]) => `ADK runs the agent of the tool "${name}" without plugins`);
  return [...executor, ...builtIn, ...inner];
}
