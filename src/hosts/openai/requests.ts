import type { GenerateContentConfig, GenerateContentParameters } from '@google/genai';
import { namesLeft } from '../allowed.js';
import { toContents as toContentList } from '../../protocol/messages.js';
import { toContents, toItems, withoutAllowed } from './items.js';
import type { ModelRequest, ModelSettings } from './types.js';

type CallingConfig = NonNullable<
  NonNullable<GenerateContentConfig['toolConfig']>['functionCallingConfig']
>;

/** Names of the host's settings, by ours. */
const SETTINGS = {
  temperature: 'temperature',
  topP: 'topP',
  maxOutputTokens: 'maxTokens',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const satisfies Partial<Record<keyof GenerateContentConfig, keyof ModelSettings>>;

const OURS = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];

const CHOICES: Readonly<Record<string, string>> = { AUTO: 'auto', ANY: 'required', NONE: 'none' };

/** What hooks know a tool by that the model has under a name. */
export type NameOf = (name: string) => string;

/** A request of the host, as hooks and middleware read it. */
export function toParameters(
  request: ModelRequest,
  model: string,
  nameOf: NameOf,
): GenerateContentParameters {
  const { systemInstructions, modelSettings } = request;
  const functionDeclarations = declarationsOf(request, nameOf);
  const settings = OURS.flatMap((name) => {
    const value = modelSettings[SETTINGS[name]];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const toolConfig = toToolConfig(modelSettings.toolChoice, nameOf);
  return {
    model,
    contents: toContents(request.input),
    config: {
      ...Object.fromEntries(settings),
      ...(systemInstructions && { systemInstruction: systemInstructions }),
      ...(functionDeclarations.length > 0 && { tools: [{ functionDeclarations }] }),
      ...(toolConfig && { toolConfig }),
    },
  };
}

function declarationsOf({ tools, handoffs }: ModelRequest, nameOf: NameOf) {
  return [
    ...tools.map(({ name, description, parameters }) => ({
      name: nameOf(name),
      ...(description !== undefined && { description }),
      ...(parameters !== undefined && { parametersJsonSchema: parameters }),
    })),
    ...handoffs.map(({ toolName, toolDescription, inputJsonSchema }) => ({
      name: toolName,
      description: toolDescription,
      parametersJsonSchema: inputJsonSchema,
    })),
  ];
}

function toToolConfig(choice: string | undefined, nameOf: NameOf) {
  if (!choice) return undefined;
  const mode = Object.keys(CHOICES).find((each) => CHOICES[each] === choice);
  const functionCallingConfig = (
    mode ? { mode } : { mode: 'ANY', allowedFunctionNames: [nameOf(choice)] }
  ) as CallingConfig;
  return { functionCallingConfig };
}

/** The host's request with what hooks and middleware changed; all else is as it was. */
export function toRequest(
  request: ModelRequest,
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
  signal: AbortSignal,
  nameOf: NameOf,
): ModelRequest {
  const { systemInstruction } = changed.config ?? {};
  const isAsGiven = changed.contents === given.contents;
  const input = isAsGiven ? request.input : toItems(toContentList(changed.contents));
  const allowed = namesLeft(given, changed);
  return {
    ...request,
    signal,
    modelSettings: { ...request.modelSettings, ...changedSettings(given, changed) },
    input: typeof input === 'string' ? input : withoutAllowed(input),
    ...(typeof systemInstruction === 'string' && { systemInstructions: systemInstruction }),
    ...(allowed && {
      tools: request.tools.filter(({ name }) => allowed.includes(nameOf(name))),
      handoffs: request.handoffs.filter(({ toolName }) => allowed.includes(toolName)),
      // A provider would take an empty list for that of its stored prompt.
      toolsExplicitlyProvided: true,
    }),
  };
}

function changedSettings(
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): Partial<ModelSettings> {
  const names = OURS.filter((name) => changed.config?.[name] !== given.config?.[name]);
  const settings = names.map((name) => [SETTINGS[name], changed.config?.[name]]);
  const toolChoice = changedChoice(given, changed);
  return { ...Object.fromEntries(settings), ...(toolChoice && { toolChoice }) };
}

function changedChoice(
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): string | undefined {
  const { mode } = changed.config?.toolConfig?.functionCallingConfig ?? {};
  const allowed = namesLeft(given, changed);
  if (changed.config?.toolConfig === given.config?.toolConfig) return undefined;
  // A choice of one tool by its name would be refused by the model where that is not offered.
  return allowed?.length === 0 ? 'none' : CHOICES[mode ?? 'AUTO'];
}
