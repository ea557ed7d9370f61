import type { AggregatedHookResult } from '../../src/protocol/hookOutput.js';
import { randomUUID } from 'node:crypto';
import type { Aggregator } from '../../middleware/aggregator.js';
import type { Planner } from '../../middleware/planner.js';
import type { Runner } from '../../middleware/runner.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { MessageBusType, type MessageBus } from '../../src/confirmation-bus/types.js';
import { createResponse } from '../../src/protocol/response.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import type {
  HookExecutionRequest,
  HookExecutionResponse,
} from '../../src/confirmation-bus/types.js';
import { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import { HookPlanner } from '../../src/hooks/hookPlanner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import {
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookEventName,
} from '../../src/protocol/types.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

export const { HOOK_EXECUTION_REQUEST, HOOK_EXECUTION_RESPONSE } = MessageBusType;

const llmRequest = {
  model: 'm',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
  config: { temperature: 0.5 },
};

/** A complete input of each event, as it is asked for over a bus. */
export const inputs: Record<HookEventName, Record<string, unknown>> = {
  BeforeTool: { tool_name: 'write_file', tool_input: { file_path: 'a', content: 'é\n"' } },
  AfterTool: {
    tool_name: 'write_file',
    tool_input: { file_path: 'a' },
    tool_response: { llmContent: 'done', returnDisplay: 'Done.' },
  },
  BeforeModel: { llm_request: llmRequest },
  AfterModel: {
    llm_request: llmRequest,
    llm_response: {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a' }] } }],
    },
  },
  BeforeToolSelection: { llm_request: llmRequest },
  BeforeAgent: { prompt: 'p' },
  AfterAgent: { prompt: 'p', prompt_response: 'r', stop_hook_active: true },
  SessionStart: { source: 'startup' },
  SessionEnd: { reason: 'exit' },
  PreCompress: { trigger: 'auto' },
  Notification: { notification_type: 'Idle', message: 'm', details: { seconds: 3 } },
  SubagentStart: { agent_id: 'a1', agent_type: 'explore', prompt: 'p' },
  SubagentStop: {
    agent_id: 'a1',
    agent_type: 'explore',
    prompt: 'p',
    prompt_response: 'r',
    stop_hook_active: true,
  },
  PostCompress: { trigger: 'auto', summary: 's' },
  ModelError: { llm_request: llmRequest, error: { message: 'down', status: 503 }, attempt: 2 },
  ToolBatchEnd: {
    tool_calls: [{ tool_name: 't', tool_input: { n: 1 }, tool_response: { llmContent: 'x' } }],
  },
};

type Fire = (handler: HookEventHandler) => Promise<AggregatedHookResult>;

/** The direct calls that say the same as `inputs`. */
export const directCalls: Record<HookEventName, Fire> = {
  BeforeTool: (handler) =>
    handler.fireBeforeToolEvent('write_file', { file_path: 'a', content: 'é\n"' }),
  AfterTool: (handler) =>
    handler.fireAfterToolEvent(
      'write_file',
      { file_path: 'a' },
      { llmContent: 'done', returnDisplay: 'Done.' },
    ),
  BeforeModel: (handler) => handler.fireBeforeModelEvent(llmRequest),
  AfterModel: (handler) =>
    handler.fireAfterModelEvent(
      llmRequest,
      createResponse({
        candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'a' }] } }],
      }),
    ),
  BeforeToolSelection: (handler) => handler.fireBeforeToolSelectionEvent(llmRequest),
  BeforeAgent: (handler) => handler.fireBeforeAgentEvent('p'),
  AfterAgent: (handler) => handler.fireAfterAgentEvent('p', 'r', true),
  SessionStart: (handler) => handler.fireSessionStartEvent({ source: SessionStartSource.Startup }),
  SessionEnd: (handler) => handler.fireSessionEndEvent({ reason: SessionEndReason.Exit }),
  PreCompress: (handler) => handler.firePreCompressEvent({ trigger: PreCompressTrigger.Auto }),
  Notification: (handler) =>
    handler.fireNotificationEvent(NotificationType.Idle, 'm', { seconds: 3 }),
  SubagentStart: (handler) =>
    handler.fireSubagentStartEvent({ agentId: 'a1', agentType: 'explore', prompt: 'p' }),
  SubagentStop: (handler) =>
    handler.fireSubagentStopEvent({
      agentId: 'a1',
      agentType: 'explore',
      prompt: 'p',
      promptResponse: 'r',
      stopHookActive: true,
    }),
  PostCompress: (handler) =>
    handler.firePostCompressEvent({ trigger: PreCompressTrigger.Auto, summary: 's' }),
  ModelError: (handler) =>
    handler.fireModelErrorEvent({
      llmRequest,
      error: { message: 'down', status: 503 },
      attempt: 2,
    }),
  ToolBatchEnd: (handler) =>
    handler.fireToolBatchEndEvent([
      { tool_name: 't', tool_input: { n: 1 }, tool_response: { llmContent: 'x' } },
    ]),
};

/** What is sent over a bus, of whatever types: nobody checks messages before they arrive. */
export type RequestFields = { [K in keyof HookExecutionRequest]?: unknown };

/** A request that is good but for `fields`. */
export function createRequest(fields: RequestFields = {}): HookExecutionRequest {
  const request: RequestFields = {
    type: HOOK_EXECUTION_REQUEST,
    correlationId: randomUUID(),
    eventName: 'BeforeTool',
    input: inputs.BeforeTool,
    ...fields,
  };
  return request as HookExecutionRequest;
}

/** Sends a request that is good but for `fields`, and returns the next response. */
export async function ask(
  bus: MessageBus,
  fields: RequestFields = {},
): Promise<HookExecutionResponse> {
  const response = await new Promise<HookExecutionResponse>((resolve, reject) => {
    const send = async () => {
      await bus.subscribe(HOOK_EXECUTION_RESPONSE, resolve);
      await bus.publish(createRequest(fields));
    };
    send().catch(reject);
  });
  return response;
}

/** A host whose hook system answers requests over a bus. */
export function startHost(options: ConfigOptions) {
  const logger = new RecordingLogger();
  const bus = new InProcessMessageBus(logger);
  const config = new Config({
    enableHooks: true,
    sessionId: 'session',
    messageBus: bus,
    debugLogger: logger,
    ...options,
  });
  const system = config.getHookSystem();
  if (!system) throw new Error('hooks are off');
  return { bus, config, logger, system };
}

/** The parts of an event handler that a test replaces. */
export interface HandlerParts {
  readonly config?: Config;
  readonly plans?: Planner;
  readonly hooks?: Runner;
  readonly outputs?: Aggregator;
}

/** An event handler that answers over a bus, made of the real parts but for those given. */
export function startHandler(options: ConfigOptions, parts: HandlerParts = {}) {
  const logger = new RecordingLogger();
  const bus = new InProcessMessageBus(logger);
  const config = parts.config ?? new Config({ enableHooks: true, ...options });
  const registry = new HookRegistry(config, logger);
  const handler = new HookEventHandler(
    config,
    registry,
    parts.plans ?? new HookPlanner(registry, logger),
    parts.hooks ?? new HookRunner(logger),
    parts.outputs ?? new HookAggregator(),
    bus,
    logger,
  );
  return { bus, handler, logger, registry };
}
