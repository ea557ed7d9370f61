import type { FunctionDeclaration } from '@google/genai';
import type { Config } from '../../config/config.js';
import { fireBeforeToolSelectionHook } from '../../core/geminiChatHookTriggers.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import { recordIn, type Message } from './rpc.js';

/** Which tools hooks let a client see and call. */
export interface Selection {
  /** Full names; `undefined` for all. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** Full names of those that hooks were told of. */
  readonly listed: readonly string[];
  /** The hooks that restricted them. */
  readonly by: readonly string[] | undefined;
}

/**
 * Asks the hooks of BeforeToolSelection. A list of tools belongs to no request to a model, so that they read one without
 * messages.
 */
export async function selectTools(
  config: Config,
  functionDeclarations: FunctionDeclaration[],
): Promise<Selection> {
  const tools = [{ functionDeclarations }];
  const request = { model: '', contents: [], config: { tools } };
  const said = await fireBeforeToolSelectionHook(config, request);
  const { mode, allowedFunctionNames } = said.toolConfig?.functionCallingConfig ?? {};
  const isNone = said.stopped === true || String(mode) === 'NONE';
  const names = isNone ? [] : allowedFunctionNames;
  const listed = functionDeclarations.flatMap(({ name }) => name ?? []);
  return { allowed: names && new Set(names), listed, by: said.decidedBy };
}

/** A list of tools may have several pages, of which hooks see one at a time. */
export function unite(pages: Selection, next: Selection): Selection {
  const listed = [...pages.listed, ...next.listed];
  if (!pages.allowed && !next.allowed) return { ...next, listed };
  const allowed = [pages, next].flatMap((page) => [...(page.allowed ?? page.listed)]);
  const by = [...new Set([...(pages.by ?? []), ...(next.by ?? [])])];
  return { allowed: new Set(allowed), listed, by };
}

/** What hooks are told of the tools that a server lists. */
export function declarationsOf(
  answer: Message,
  fullName: (tool: string) => string,
): FunctionDeclaration[] {
  return toolsOf(answer).flatMap((tool) => {
    const { name, description, inputSchema } = recordIn(tool);
    if (typeof name !== 'string') return [];
    const about = typeof description === 'string' && { description };
    return [{ name: fullName(name), ...about, parametersJsonSchema: inputSchema }];
  });
}

/** A list of tools without those that hooks do not allow; `undefined` where nothing is left out. */
export function withAllowedTools(
  answer: Message,
  { allowed }: Selection,
  fullName: (tool: string) => string,
): Message | undefined {
  const tools = toolsOf(answer);
  const kept = tools.filter((tool) => {
    const { name } = recordIn(tool);
    return allowed === undefined || (typeof name === 'string' && allowed.has(fullName(name)));
  });
  if (kept.length === tools.length) return undefined;
  return { ...answer, result: { ...recordIn(answer, 'result'), tools: kept } };
}

function toolsOf(answer: Message): readonly unknown[] {
  const { tools } = recordIn(answer, 'result');
  return Array.isArray(tools) ? tools.filter(isRecord) : [];
}

/** The result of a call that hooks do not allow. */
export function notSelected(toolName: string): ToolResult {
  const message = `The tool "${toolName}" was not run: hooks have restricted the tools of this server, and it is not among those that may be called.`;
  const error = { type: ToolErrorType.NotAllowed, message };
  return { llmContent: message, returnDisplay: message, error };
}
