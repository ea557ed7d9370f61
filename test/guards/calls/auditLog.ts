import { HookEventName } from '../../../src/protocol/types.js';
import { everyTool } from './everyTool.js';
import { otherEvents, type Fired } from './otherEvents.js';

/** What is written: each call, once. */
export const stop = everyTool;

const answer = { candidates: [], usageMetadata: { totalTokenCount: 9 } };

/** What is none: what a tool has answered, what a model is asked and answers, and all else. */
export const pass: readonly Fired[] = [
  ...otherEvents,
  [HookEventName.AfterModel, { llmRequest: { model: 'm', contents: 'a' }, llmResponse: answer }],
  ...everyTool.slice(0, 40).map(([toolName, toolInput], at): Fired => [
    HookEventName.AfterTool,
    {
      toolName,
      toolInput,
      toolResponse: { llmContent: 'a', returnDisplay: 'a', ...(at % 2 && { error: {} }) },
    },
  ]),
];
