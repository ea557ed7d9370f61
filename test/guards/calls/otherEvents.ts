import { HookEventName } from '../../../src/protocol/types.js';

export type Fired = readonly [event: HookEventName, payload: Readonly<Record<string, unknown>>];

const llmRequest = { model: 'm', contents: 'run git status, with 500 tokens' };

/** What is no call of a tool, and no answer of a model. */
export const otherEvents: readonly Fired[] = [
  ...['startup', 'resume', 'clear'].map((source): Fired => [
    HookEventName.SessionStart,
    { source },
  ]),
  ...['clear', 'logout', 'exit', 'other'].map((reason): Fired => [
    HookEventName.SessionEnd,
    { reason },
  ]),
  ...['manual', 'auto'].map((trigger): Fired => [HookEventName.PreCompress, { trigger }]),
  [HookEventName.Notification, { notificationType: 'ToolPermission', message: 'git status?' }],
  [HookEventName.BeforeAgent, { prompt: 'Run git status' }],
  [HookEventName.BeforeAgent, { prompt: '' }],
  [HookEventName.AfterAgent, { prompt: 'Run it', promptResponse: 'Done' }],
  [HookEventName.AfterAgent, { prompt: 'Run it', promptResponse: '', stopHookActive: true }],
  [HookEventName.BeforeToolSelection, { llmRequest }],
  [HookEventName.BeforeModel, { llmRequest }],
  [HookEventName.BeforeModel, { llmRequest: { model: 'm', contents: [] } }],
];
