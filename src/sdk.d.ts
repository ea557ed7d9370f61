// The types of the Gemini SDK that published declarations name. Each is the SDK's own where the SDK is installed, and
// a plain description of the same data where it is not. The build leads every declaration here instead of to the SDK.

// The SDK is an optional peer: without this, its absence would be an error in every host that checks declarations.
// @ts-ignore
import type * as Sdk from '@google/genai';

/** What cannot be resolved is `any`, and only then any string is a key of it. */
type Or<FromSdk, Own> = string extends keyof FromSdk ? Own : FromSdk;

export type FunctionCall = Or<Sdk.FunctionCall, OwnFunctionCall>;
export type FunctionDeclaration = Or<Sdk.FunctionDeclaration, OwnFunctionDeclaration>;
export type Part = Or<Sdk.Part, OwnPart>;
export type PartListUnion = Or<Sdk.PartListUnion, OwnPartListUnion>;
export type Content = Or<Sdk.Content, OwnContent>;
export type ContentListUnion = Or<Sdk.ContentListUnion, OwnContentListUnion>;
export type ToolConfig = Or<Sdk.ToolConfig, OwnToolConfig>;
export type ToolListUnion = Or<Sdk.ToolListUnion, OwnToolListUnion>;
export type GenerateContentConfig = Or<Sdk.GenerateContentConfig, OwnGenerateContentConfig>;
export type GenerateContentParameters = Or<
  Sdk.GenerateContentParameters,
  OwnGenerateContentParameters
>;
export type Candidate = Or<Sdk.Candidate, OwnCandidate>;
export type GenerateContentResponse = Or<Sdk.GenerateContentResponse, OwnGenerateContentResponse>;
export type Models = Or<Sdk.Models, OwnModels>;

export interface OwnFunctionCall {
  id?: string;
  name?: string;
  args?: Record<string, unknown>;
}

export interface OwnFunctionDeclaration {
  name?: string;
  description?: string;
  parametersJsonSchema?: unknown;
}

export interface OwnPart {
  text?: string;
  thought?: boolean;
  thoughtSignature?: string;
  inlineData?: { mimeType?: string; data?: string };
  fileData?: { mimeType?: string; fileUri?: string };
  functionCall?: OwnFunctionCall;
  functionResponse?: { id?: string; name?: string; response?: Record<string, unknown> };
}

export type OwnPartListUnion = OwnPart | string | (OwnPart | string)[];

export interface OwnContent {
  role?: string;
  parts?: OwnPart[];
}

export type OwnContentListUnion = OwnContent | OwnContent[] | OwnPartListUnion;

export interface OwnToolConfig {
  functionCallingConfig?: { mode?: string; allowedFunctionNames?: string[] };
}

export type OwnToolListUnion = { functionDeclarations?: OwnFunctionDeclaration[] }[];

export interface OwnGenerateContentConfig {
  abortSignal?: AbortSignal;
  systemInstruction?: OwnContent | OwnPartListUnion;
  temperature?: number;
  maxOutputTokens?: number;
  topP?: number;
  topK?: number;
  stopSequences?: string[];
  candidateCount?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  tools?: OwnToolListUnion;
  toolConfig?: OwnToolConfig;
}

export interface OwnGenerateContentParameters {
  model: string;
  contents: OwnContentListUnion;
  config?: OwnGenerateContentConfig;
}

export interface OwnCandidate {
  index?: number;
  content?: OwnContent;
  finishReason?: string;
}

export interface OwnGenerateContentResponse {
  candidates?: OwnCandidate[];
  usageMetadata?: {
    promptTokenCount?: number;
    candidatesTokenCount?: number;
    totalTokenCount?: number;
  };
  /** The text of the first candidate, without thoughts. */
  readonly text?: string | undefined;
  readonly functionCalls?: OwnFunctionCall[] | undefined;
  /** Its inline data put together, in base64. */
  readonly data?: string | undefined;
  readonly executableCode?: string | undefined;
  readonly codeExecutionResult?: string | undefined;
}

export interface OwnModels {
  generateContentStream(
    request: OwnGenerateContentParameters,
  ): Promise<AsyncGenerator<OwnGenerateContentResponse>>;
}
