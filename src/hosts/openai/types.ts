/** What the adapter reads of an item of the conversation. */
export interface Item {
  readonly id?: string;
  readonly type?: string;
  readonly role?: string;
  readonly content?: string | readonly Piece[];
  readonly name?: string;
  readonly callId?: string;
  readonly arguments?: string;
  readonly output?: unknown;
  /** What the host keeps with the item, and stores, and sends to the provider. */
  readonly providerData?: Record<string, unknown>;
}

/** What the adapter reads of a piece of a message, or of what a tool gave. */
export interface Piece {
  readonly type?: string;
  readonly text?: string;
}

export interface ModelSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly toolChoice?: string | undefined;
}

export interface DeclaredTool extends AnyTool {
  readonly description?: string;
  readonly parameters?: unknown;
}

export interface DeclaredHandoff {
  readonly toolName: string;
  readonly toolDescription: string;
  readonly inputJsonSchema: unknown;
}

export interface ModelRequest {
  readonly systemInstructions?: string | undefined;
  readonly input: string | readonly Item[];
  readonly modelSettings: ModelSettings;
  readonly tools: readonly DeclaredTool[];
  readonly toolsExplicitlyProvided?: boolean;
  readonly handoffs: readonly DeclaredHandoff[];
  readonly outputType: unknown;
  readonly signal?: AbortSignal | undefined;
}

export interface ModelUsage {
  readonly requests?: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly inputTokensDetails?: readonly object[];
  readonly outputTokensDetails?: readonly object[];
}

export interface ModelResponse {
  readonly usage: ModelUsage;
  readonly output: readonly Item[];
  readonly providerData?: unknown;
}

export interface StreamEvent {
  readonly type: string;
  readonly delta?: string;
  readonly response?: ModelResponse & { readonly id: string };
}

export interface Model {
  readonly supportsPromptModelSelection?: boolean;
  getResponse(request: ModelRequest): Promise<ModelResponse>;
  getStreamedResponse(request: ModelRequest): AsyncIterable<StreamEvent>;
  getRetryAdvice?(failure: object): unknown;
}

export interface ModelProvider {
  getModel(name?: string): Promise<Model> | Model;
}

export interface InvocationDetails {
  readonly toolCall?: { readonly callId: string; readonly providerData?: unknown };
  readonly signal?: AbortSignal;
  /** Of an agent that goes on where it was interrupted. */
  readonly resumeState?: unknown;
}

/** Any tool, or what the model is told of it. */
export interface AnyTool {
  readonly type: string;
  readonly name: string;
}

export interface FunctionTool extends AnyTool {
  readonly type: 'function';
  invoke(context: object, input: string, details?: InvocationDetails): Promise<unknown>;
}

export interface ToolOutcome {
  readonly type: string;
  readonly tool: { readonly name: string; readonly namespace?: string };
  readonly output?: unknown;
}

export type FinalOutput =
  | { readonly isFinalOutput: false; readonly isInterrupted: undefined }
  | {
      readonly isFinalOutput: true;
      readonly isInterrupted: undefined;
      readonly finalOutput: string;
    };

export type DecideFinalOutput = (
  context: object,
  outcomes: readonly ToolOutcome[],
) => FinalOutput | Promise<FinalOutput>;

export interface Handoff {
  readonly agent: Agent;
  onInvokeHandoff(context: object, args: string): Promise<Agent> | Agent;
  clone(changes: object): Handoff;
}

export interface McpServer {
  readonly name: string;
}

/** What the adapter reads and replaces of an agent. */
export interface Agent {
  readonly name: string;
  readonly outputType: unknown;
  readonly mcpServers: readonly McpServer[];
  readonly mcpConfig: { readonly includeServerInToolNames?: boolean };
  model: string | Model;
  readonly modelSettings: ModelSettings;
  readonly prompt?: unknown;
  hasExplicitModelSettings(): boolean;
  tools: readonly AnyTool[];
  handoffs: readonly (Agent | Handoff)[];
  asTool(options: object): AnyTool;
  toolUseBehavior: string | { readonly stopAtToolNames: readonly string[] } | DecideFinalOutput;
  clone(changes: object): Agent;
  getMcpTools(...given: unknown[]): Promise<readonly FunctionTool[]>;
  getAllTools(...given: unknown[]): Promise<readonly AnyTool[]>;
}
