import { HookEventName } from '../../../src/protocol/types.js';
import { everyTool } from './everyTool.js';
import { otherEvents, type Fired } from './otherEvents.js';

const llmRequest = { model: 'm', contents: 'a' };

function answer(usageMetadata?: object, text = 'a'): Fired {
  const candidates = [{ index: 0, content: { role: 'model', parts: [{ text }] } }];
  const llmResponse = { candidates, ...(usageMetadata && { usageMetadata }) };
  return [HookEventName.AfterModel, { llmRequest, llmResponse }];
}

/** What is counted, and as how much: the first of it is too much for a budget of none. */
export const stop: readonly (readonly [...Fired, used: string])[] = [
  ...everyTool
    .slice(0, 45)
    .map(
      ([toolName, toolInput]) =>
        [HookEventName.BeforeTool, { toolName, toolInput }, '1 calls of 0'] as const,
    ),
  [...answer({ totalTokenCount: 1 }), '1 tokens of 0'],
  [...answer({ totalTokenCount: 123_456_789 }), '123456789 tokens of 0'],
  [
    ...answer({ promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 9 }),
    '9 tokens of 0',
  ],
  // Without a sum, or with half of it.
  [...answer({ promptTokenCount: 3, candidatesTokenCount: 4 }), '7 tokens of 0'],
  [...answer({ promptTokenCount: 3 }), '3 tokens of 0'],
  [...answer({ candidatesTokenCount: 4 }), '4 tokens of 0'],
  [...answer({ totalTokenCount: 5 }, ''), '5 tokens of 0'],
];

/** What is not: results, questions to the model, answers that took nothing that is known, and all else. */
export const pass: readonly Fired[] = [
  ...otherEvents,
  answer(),
  answer({}),
  answer({ totalTokenCount: 0 }),
  answer({ totalTokenCount: 0, promptTokenCount: 3 }),
  answer(undefined, 'It took 500 tokens, and "totalTokenCount": 500.'),
  ...everyTool.slice(0, 30).map(([toolName, toolInput]): Fired => [
    HookEventName.AfterTool,
    {
      toolName,
      toolInput: { ...toolInput, llm_response: { usageMetadata: { totalTokenCount: 9 } } },
      toolResponse: { llmContent: 'a', returnDisplay: 'a' },
    },
  ]),
];
