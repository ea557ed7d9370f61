import type { GenerateContentParameters } from '@google/genai';
import { isChoiceChanged, namesLeft } from '../allowed.js';
import { toContents as toContentList } from '../../protocol/messages.js';
import { choiceIn, toParameters, toSampling } from '../translate.js';
import { toContents, toItems, withoutAllowed } from './items.js';
import type { ModelRequest, ModelSettings } from './types.js';

/** Names of the host's settings, by ours. */
const SAMPLING = {
  temperature: 'temperature',
  topP: 'topP',
  maxOutputTokens: 'maxTokens',
  presencePenalty: 'presencePenalty',
  frequencyPenalty: 'frequencyPenalty',
} as const;

/** What hooks know a tool by that the model has under a name. */
export type NameOf = (name: string) => string;

/** A request of the host, as hooks and middleware read it. */
export function toGivenParameters(
  { systemInstructions: system, input, modelSettings, tools, handoffs }: ModelRequest,
  model: string,
  nameOf: NameOf,
): GenerateContentParameters {
  const { toolChoice: choice } = modelSettings;
  return toParameters({
    model,
    contents: toContents(input),
    system,
    tools: [
      ...tools.map((tool) => ({ ...tool, name: nameOf(tool.name) })),
      ...handoffs.map(({ toolName, toolDescription, inputJsonSchema }) => ({
        name: toolName,
        description: toolDescription,
        parameters: inputJsonSchema,
      })),
    ],
    choice,
    chosenTool: choice ? nameOf(choice) : undefined,
    sampling: { names: SAMPLING, values: modelSettings },
  });
}

/** The host's request with what hooks and middleware changed; all else is as it was. */
export function toRequest(
  request: ModelRequest,
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
  signal: AbortSignal | undefined,
  nameOf: NameOf,
): ModelRequest {
  const { systemInstruction } = changed.config ?? {};
  const isAsGiven = changed.contents === given.contents;
  const input = isAsGiven ? request.input : toItems(toContentList(changed.contents));
  const allowed = namesLeft(given, changed);
  return {
    ...request,
    signal,
    modelSettings: { ...request.modelSettings, ...changedSettings(given, changed, allowed) },
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
  allowed: readonly string[] | undefined,
): Partial<ModelSettings> {
  const settings = toSampling(SAMPLING, given, changed);
  if (!isChoiceChanged(given, changed)) return settings;
  // A choice of one tool by its name would be refused by the model where that is not offered.
  return { ...settings, toolChoice: allowed?.length === 0 ? 'none' : choiceIn(changed) };
}
