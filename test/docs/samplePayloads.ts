import { textResponse } from '../../src/protocol/response.js';
import {
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookEventName,
  type HookPayload,
} from '../../src/protocol/types.js';

const llmRequest: HookPayload<HookEventName.BeforeModel>['llmRequest'] = {
  model: 'gemini-2.5-flash',
  contents: 'Write a haiku to haiku.txt',
  config: { temperature: 0.7 },
};

const toolCall = { toolName: 'write_file', toolInput: { file_path: 'haiku.txt', content: '…' } };

/** One payload an event, to compare the documents with what scripts really read. */
export const samplePayloads: { readonly [E in HookEventName]: HookPayload<E> } = {
  BeforeTool: toolCall,
  AfterTool: {
    ...toolCall,
    toolResponse: { llmContent: 'Created haiku.txt', returnDisplay: 'Created haiku.txt' },
  },
  BeforeModel: { llmRequest },
  AfterModel: {
    llmRequest,
    llmResponse: Object.assign(textResponse('An old silent pond'), {
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 5, totalTokenCount: 17 },
    }),
  },
  BeforeToolSelection: { llmRequest },
  BeforeAgent: { prompt: 'Write a haiku to haiku.txt' },
  AfterAgent: {
    prompt: 'Write a haiku to haiku.txt',
    promptResponse: 'Done.',
    stopHookActive: false,
  },
  SessionStart: { source: SessionStartSource.Startup },
  SessionEnd: { reason: SessionEndReason.Exit },
  PreCompress: { trigger: PreCompressTrigger.Auto },
  Notification: {
    notificationType: NotificationType.ToolPermission,
    message: 'May write_file run?',
    details: {},
  },
  SubagentStart: { agentId: 'a1', agentType: 'general-purpose', prompt: 'Find all haiku' },
  SubagentStop: {
    agentId: 'a1',
    agentType: 'general-purpose',
    prompt: 'Find all haiku',
    promptResponse: 'There are two.',
    stopHookActive: false,
  },
  PostCompress: { trigger: PreCompressTrigger.Auto, summary: 'The user wants haiku.' },
  ModelError: { llmRequest, error: { message: 'overloaded', status: 503 }, attempt: 1 },
  ToolBatchEnd: {
    toolCalls: [
      {
        tool_name: 'write_file',
        tool_input: { file_path: 'haiku.txt', content: '…' },
        tool_response: { llmContent: 'Created haiku.txt' },
        call_id: 'c1',
      },
    ],
  },
};
