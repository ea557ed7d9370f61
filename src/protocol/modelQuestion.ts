/** What a hook of the type `prompt` asks a model. */
export interface ModelQuestion {
  /** Who the model is, and how it is to answer. */
  readonly systemInstruction: string;
  readonly prompt: string;
  /** The model that the hook names; else the host's own. */
  readonly model?: string;
  /** The answer is not to be longer. */
  readonly maxOutputTokens: number;
  /** Aborts when the hook's time is over, or its event. */
  readonly signal: AbortSignal;
}

/** What a model answered. */
export interface ModelReply {
  readonly text: string;
  /** Tokens of question and answer, as the model counts them. Default: an estimate. */
  readonly tokens?: number;
}

/** Asks the model of a host, around its hooks: none of them is fired for the call. Rejects where it gives no answer. */
export type AskModel = (question: ModelQuestion) => Promise<ModelReply>;

/** What hooks of the type `prompt` may use. */
export interface PromptBudget {
  /** In a session, of all of them together. Default 200,000. */
  readonly tokens?: number;
  /** For each judgement, where the hook's `timeout` is not shorter. Default 30. */
  readonly seconds?: number;
}
