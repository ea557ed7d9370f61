import type { FunctionDeclaration } from '@google/genai';
import type { Config } from '../../config/config.js';
import { fireBeforeToolSelectionHook } from '../../core/geminiChatHookTriggers.js';
import type { CallSession } from '../../protocol/types.js';
import { ToolErrorType, type ToolResult } from '../../tools/tools.js';
import { traceRefusal } from '../../trace/stackSpans.js';
import { isRecord } from '../../util/records.js';
import { recordIn, type Message } from './rpc.js';

/** Which tools hooks let a client see and call. */
interface Selection {
  /** Full names; `undefined` for all. */
  readonly allowed: ReadonlySet<string> | undefined;
  /** Full names of those that hooks were told of. */
  readonly listed: readonly string[];
  /** The hooks that restricted them. */
  readonly by: readonly string[] | undefined;
}

/** The tools that hooks leave to a client. They are asked before its first call, and at each list. */
export class ToolOffer {
  #selection: Promise<Selection> | undefined;
  #isAll = false;

  /** @param fullName the name by which hooks know a tool of the server */
  constructor(
    private readonly fullName: (tool: string) => string,
    private readonly session: CallSession | undefined,
  ) {}

  /** Whether it is known that hooks allow all tools. */
  get isAll(): boolean {
    return this.#isAll;
  }

  /** A list of tools without those that hooks do not allow; `undefined` where nothing is left out. */
  async filter(config: Config, request: Message, answer: Message): Promise<Message | undefined> {
    const tools = toolsOf(answer);
    const isFurther = Object.hasOwn(recordIn(request, 'params'), 'cursor');
    const before = isFurther ? this.#selection : undefined;
    const page = this.#select(
      config,
      tools.flatMap((tool) => this.#declare(tool)),
    );
    await this.#remember(
      before ? Promise.all([before, page]).then(([pages, next]) => unite(pages, next)) : page,
    );
    const { allowed } = await page;
    if (allowed === undefined) return undefined;
    const kept = tools.filter(
      ({ name }) => typeof name === 'string' && allowed.has(this.fullName(name)),
    );
    return { ...answer, result: { ...recordIn(answer, 'result'), tools: kept } };
  }

  /** What hooks are told of a tool that a server lists. */
  #declare({ name, description, inputSchema }: Message): FunctionDeclaration[] {
    if (typeof name !== 'string') return [];
    const about = typeof description === 'string' && { description };
    return [{ name: this.fullName(name), ...about, parametersJsonSchema: inputSchema }];
  }

  /** The result of a call that hooks do not allow; `undefined` where they do. */
  async refusalOf(
    config: Config,
    toolName: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<ToolResult | undefined> {
    const { allowed, by } = await (this.#selection ?? this.#remember(this.#select(config, [])));
    if (allowed === undefined || allowed.has(toolName)) return undefined;
    const message = `The tool "${toolName}" was not run: hooks have restricted the tools of this server, and it is not among those that may be called.`;
    const error = { type: ToolErrorType.NotAllowed, message };
    const refusal = { llmContent: message, returnDisplay: message, error };
    traceRefusal(toolName, given, refusal, by);
    return refusal;
  }

  #select(config: Config, tools: FunctionDeclaration[]): Promise<Selection> {
    return selectTools(config, tools, this.session);
  }

  #remember(selection: Promise<Selection>): Promise<Selection> {
    this.#selection = selection;
    this.#isAll = false;
    const note = ({ allowed }: Selection) => {
      if (this.#selection === selection) this.#isAll = allowed === undefined;
    };
    // Who asked for it hears of a failure.
    selection.then(note, () => undefined);
    return selection;
  }
}

/**
 * Asks the hooks of BeforeToolSelection. A list of tools belongs to no request to a model, so that they read one without
 * messages.
 */
async function selectTools(
  config: Config,
  functionDeclarations: FunctionDeclaration[],
  session: CallSession | undefined,
): Promise<Selection> {
  const tools = [{ functionDeclarations }];
  const request = { model: '', contents: [], config: { tools } };
  const said = await fireBeforeToolSelectionHook(config, request, { session });
  const { mode, allowedFunctionNames } = said.toolConfig?.functionCallingConfig ?? {};
  const isNone = said.stopped === true || String(mode) === 'NONE';
  const names = isNone ? [] : allowedFunctionNames;
  const listed = functionDeclarations.flatMap(({ name }) => name ?? []);
  return { allowed: names && new Set(names), listed, by: said.decidedBy };
}

/** A list of tools may have several pages, of which hooks see one at a time. */
function unite(pages: Selection, next: Selection): Selection {
  const listed = [...pages.listed, ...next.listed];
  if (!pages.allowed && !next.allowed) return { ...next, listed };
  const allowed = [pages, next].flatMap((page) => [...(page.allowed ?? page.listed)]);
  const by = [...new Set([...(pages.by ?? []), ...(next.by ?? [])])];
  return { allowed: new Set(allowed), listed, by };
}

function toolsOf(answer: Message): readonly Message[] {
  const { tools } = recordIn(answer, 'result');
  return Array.isArray(tools) ? tools.filter(isRecord) : [];
}
