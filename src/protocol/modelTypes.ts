/** One text message of a request, as hooks see it. */
export interface LLMMessage {
  role: 'user' | 'model' | 'system';
  content: string;
}

/** Which tools the model may call. */
export interface HookToolConfig {
  mode?: 'AUTO' | 'ANY' | 'NONE';
  allowedFunctionNames?: string[];
}

/** The generation settings that hooks see and may set. */
export interface LLMConfig {
  temperature?: number;
  maxOutputTokens?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  candidateCount?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
}

/** A model request in the format that hooks read and write, whatever the SDK's version. */
export interface LLMRequest {
  model: string;
  /** Messages that have text; messages of function calls, images and the like are left out. */
  messages: LLMMessage[];
  config?: LLMConfig;
  toolConfig?: HookToolConfig;
  /** The functions that the model may call, for hooks to read: what they answer here changes nothing. */
  tools?: LLMTool[];
  /** The texts of the system instruction, one after the other; also for hooks to read only. */
  systemInstruction?: string;
}

/** What a hook sees of a tool of a request. */
export interface LLMTool {
  name: string;
  description?: string;
}

/** One candidate of a response. `parts` are its texts. */
export interface LLMCandidate {
  content: { role: 'model'; parts: string[] };
  finishReason?: string;
  index?: number;
  safetyRatings?: { category: string; probability: string }[];
}

/** A model response in the format that hooks read and write. */
export interface LLMResponse {
  /** The whole text of the first candidate. */
  text?: string;
  candidates: LLMCandidate[];
  usageMetadata?: {
    promptTokenCount?: number;
    candidatesTokenCount?: number;
    totalTokenCount?: number;
  };
}
