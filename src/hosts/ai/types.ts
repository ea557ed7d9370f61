// The parts of the AI SDK's types that are used here, so that one adapter takes those of several versions.

/** A part of a message, of an answer, or of a stream. What it has besides is carried along. */
export interface AnyPart {
  readonly type: string;
  readonly id?: unknown;
  readonly text?: unknown;
  readonly delta?: unknown;
  readonly toolCallId?: unknown;
  readonly toolName?: unknown;
  readonly input?: unknown;
  readonly output?: unknown;
  readonly providerExecuted?: unknown;
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
  /** The same, in a message. */
  readonly providerOptions?: unknown;
}

export interface PromptMessage {
  readonly role: string;
  readonly content: string | readonly AnyPart[];
}

/** What a model is called with. */
export interface CallParams {
  readonly prompt: readonly PromptMessage[];
  readonly tools?: readonly ToolDeclaration[] | undefined;
  readonly toolChoice?: { readonly type: string; readonly toolName?: string } | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
}

interface ToolDeclaration {
  readonly type: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
}

/** A model of the specification V3 or V4. */
export interface AnyModel {
  readonly specificationVersion: string;
  readonly modelId: string;
  readonly doGenerate: (params: never) => PromiseLike<unknown>;
  readonly doStream: (params: never) => PromiseLike<unknown>;
}

export interface Generated {
  readonly content: readonly AnyPart[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly warnings: readonly unknown[];
  readonly providerMetadata?: unknown;
  readonly response?: { readonly body?: unknown };
}

export interface Streamed {
  readonly stream: ReadableStream<AnyPart>;
}

/** What the AI SDK hands to a middleware, as far as it is used. */
interface WrapOptions {
  readonly params: CallParams;
  readonly model: AnyModel;
}

export interface WrapGenerateOptions<Given> extends WrapOptions {
  readonly doGenerate: () => PromiseLike<Given>;
}

export interface WrapStreamOptions<Given> extends WrapOptions {
  readonly doStream: () => PromiseLike<Given>;
}

/** A middleware for `wrapLanguageModel` of AI SDK 6 and 7. */
export interface ModelMiddleware {
  readonly specificationVersion: 'v3';
  readonly wrapGenerate: <Given>(options: WrapGenerateOptions<Given>) => Promise<Given>;
  readonly wrapStream: <Given>(options: WrapStreamOptions<Given>) => Promise<Given>;
}

/** What a tool's `execute` is called with besides its input. */
export interface ToolRunOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal | undefined;
  /** What came before the answer that calls the tool; of a call that was approved, up to the approval. */
  readonly messages?: readonly PromptMessage[] | undefined;
}

/** A tool, as far as it is wrapped. */
export interface AnyTool {
  readonly execute?: (input: unknown, options: ToolRunOptions) => unknown;
  readonly toModelOutput?: (given: { toolCallId: string; output: unknown }) => unknown;
}

/** What stop conditions are given, and what a turn resulted in. */
export interface Steps {
  readonly steps: readonly {
    readonly toolCalls: readonly { readonly toolCallId: string }[];
    readonly providerMetadata?: unknown;
  }[];
}
