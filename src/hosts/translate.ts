import type {
  Content,
  FunctionCallingConfig,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  Part,
} from '@google/genai';
import type { Decision } from '../context.js';
import type { ModelTurn } from '../core/modelCall.js';
import { createResponse, emptyResponse } from '../protocol/response.js';
import { isRecord } from '../util/records.js';

/*
 * What requests and answers of all hosts have in common, once they are in the form that hooks and middleware read.
 */

/** Where contents, parts and chunks carry what the host gave, through hooks and middleware. */
const ORIGIN = Symbol('hookstack origin');

/** The same object, which carries one of the host's. */
export function carrying<T extends object>(piece: T, origin: unknown): T {
  return Object.assign(piece, { [ORIGIN]: origin });
}

/** What a piece was made of; `undefined` where hooks or middleware made it. */
export function originOf(piece: object): unknown {
  return (piece as { readonly [ORIGIN]?: unknown })[ORIGIN];
}

/** The sampling fields that hooks may change, by the names that a host has for them. */
export type SamplingNames = Readonly<Partial<Record<keyof GenerateContentConfig, string>>>;

/** What hooks and middleware changed of the sampling, in the host's names. */
export function toSampling(
  names: SamplingNames,
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): Record<string, unknown> {
  const fields = Object.entries(names) as [keyof GenerateContentConfig, string][];
  const isChanged = ([ours]: (typeof fields)[number]) =>
    changed.config?.[ours] !== given.config?.[ours];
  return Object.fromEntries(
    fields.filter(isChanged).map(([ours, theirs]) => [theirs, changed.config?.[ours]]),
  );
}

/** The modes of Gemini in the words of all others. */
const CHOICES = { AUTO: 'auto', ANY: 'required', NONE: 'none' } as const;

/** The choice of tools that a request makes. */
export function choiceIn(request: GenerateContentParameters): 'auto' | 'required' | 'none' {
  const { mode = 'AUTO' } = request.config?.toolConfig?.functionCallingConfig ?? {};
  return CHOICES[mode as keyof typeof CHOICES] ?? 'auto';
}

/** What the host's request says, apart from messages. */
interface RequestFields {
  readonly model: string;
  readonly contents: Content[];
  readonly system?: string | undefined;
  readonly tools?: readonly ToolFields[] | undefined;
  /** `auto`, `required` or `none`. */
  readonly choice?: unknown;
  /** The only tool that is to be called. */
  readonly chosenTool?: string | undefined;
  readonly sampling?: { readonly names: SamplingNames; readonly values: object };
}

interface ToolFields {
  readonly name: string;
  readonly description?: string | undefined;
  /** As a JSON schema. */
  readonly parameters?: unknown;
}

/** A request as hooks and middleware read it. */
export function toParameters(fields: RequestFields): GenerateContentParameters {
  const { model, contents, system, tools = [], sampling } = fields;
  const calling = toCalling(fields);
  const values = new Map<string, unknown>(Object.entries(sampling?.values ?? {}));
  const settings = Object.entries(sampling?.names ?? {}).flatMap(([ours, theirs]) => {
    const value = values.get(theirs) ?? undefined;
    return value === undefined ? [] : [[ours, value]];
  });
  const config = {
    ...Object.fromEntries(settings),
    ...(system && { systemInstruction: system }),
    ...(tools.length > 0 && { tools: [{ functionDeclarations: tools.map(toDeclaration) }] }),
    ...(calling && { toolConfig: { functionCallingConfig: calling } }),
  } as GenerateContentConfig;
  return { model, contents, config };
}

function toDeclaration({ name, description, parameters }: ToolFields) {
  return {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parametersJsonSchema: parameters }),
  };
}

function toCalling({ choice, chosenTool }: RequestFields): FunctionCallingConfig | undefined {
  const mode = Object.entries(CHOICES).find(([, word]) => word === choice)?.[0];
  if (mode !== undefined) return { mode } as FunctionCallingConfig;
  if (chosenTool === undefined) return undefined;
  return { mode: 'ANY', allowedFunctionNames: [chosenTool] } as unknown as FunctionCallingConfig;
}

/** What hooks have to say to the model, as further messages. */
export function toNotes(notes: readonly string[]): Content[] {
  return notes.map((text) => ({ role: 'user', parts: [{ text }] }));
}

/** The tokens of an answer. */
interface Usage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly total?: number | undefined;
}

/** An answer of the model, or a piece of it, as hooks and middleware read it. */
export function toResponse(
  parts: Part[] | undefined,
  usage?: Usage,
  finishReason?: string,
): GenerateContentResponse {
  const content = { role: 'model', parts: parts ?? [] };
  const candidate = { index: 0, content, ...(finishReason !== undefined && { finishReason }) };
  const usageMetadata = usage && {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output,
    totalTokenCount: usage.total,
  };
  return createResponse({
    candidates: parts || finishReason !== undefined ? [candidate as never] : [],
    ...(usageMetadata && { usageMetadata }),
  });
}

/** All texts of parts as one, those that are no answer included. */
export function textIn(parts: readonly Part[] | undefined = []): string {
  return parts.map(({ text }) => text ?? '').join('');
}

/** The arguments of a call; `undefined` where they are no JSON object. */
export function readArguments(given: unknown): Record<string, unknown> | undefined {
  try {
    const value: unknown = String(given).trim() === '' ? {} : JSON.parse(String(given));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A model that gives its answer in one piece, as a stream. */
export async function* only<T>(value: T | Promise<T>): AsyncGenerator<T> {
  yield await value;
}

/** How a model call ends that is not made, because hooks of the tools before it stopped the agent. */
// oxlint-disable-next-line require-yield -- what is not asked shows nothing
export async function* stoppedCall(
  request: GenerateContentParameters,
  { event, reason, hooks }: Decision,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  return {
    request,
    response: emptyResponse(),
    verdict: { kind: 'stop', event, reason, ...(hooks && { hooks }) },
    blocked: true,
    synthetic: false,
    suppressDisplay: false,
    notes: [],
  };
}
