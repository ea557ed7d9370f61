import { describe, expect, it } from 'vitest';
import {
  sessionIdOf,
  toHookInput,
  transcriptPathOf,
  translator,
} from '../../middleware/translator.js';
import type { CallSession } from '../../src/protocol/hookInput.js';
import { textResponse } from '../../src/protocol/response.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type HookPayload,
} from '../../src/protocol/types.js';
import { hookContext } from '../helpers/hooks.js';
import { countingNext, failingNext } from '../helpers/next.js';

const session = { getSessionId: () => 's1', getWorkingDir: () => '/project' };
const llmRequest = { model: 'm', contents: 'hello' };
const request = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const toolInput = { path: 'a.txt' };
const batched = { tool_name: 't', tool_input: toolInput, tool_response: {}, call_id: 'c1' };

const payloads: { readonly [E in HookEventName]: [HookPayload<E>, expected: object] } = {
  BeforeTool: [
    { toolName: 'read_file', toolInput },
    { tool_name: 'read_file', tool_input: toolInput },
  ],
  AfterTool: [
    {
      toolName: 'read_file',
      toolInput,
      toolResponse: { llmContent: 'text', returnDisplay: 'shown', metadata: { lines: 1 } },
    },
    {
      tool_name: 'read_file',
      tool_input: toolInput,
      tool_response: { llmContent: 'text', returnDisplay: 'shown', metadata: { lines: 1 } },
    },
  ],
  BeforeModel: [{ llmRequest }, { llm_request: request }],
  AfterModel: [
    { llmRequest, llmResponse: textResponse('hi') },
    {
      llm_request: request,
      llm_response: {
        text: 'hi',
        candidates: [{ content: { role: 'model', parts: ['hi'] }, finishReason: 'STOP', index: 0 }],
      },
    },
  ],
  BeforeToolSelection: [{ llmRequest }, { llm_request: request }],
  BeforeAgent: [{ prompt: 'p' }, { prompt: 'p' }],
  AfterAgent: [
    { prompt: 'p', promptResponse: 'r', stopHookActive: true },
    { prompt: 'p', prompt_response: 'r', stop_hook_active: true },
  ],
  SessionStart: [{ source: SessionStartSource.Resume }, { source: 'resume' }],
  SessionEnd: [{ reason: SessionEndReason.Logout }, { reason: 'logout' }],
  PreCompress: [{ trigger: PreCompressTrigger.Auto }, { trigger: 'auto' }],
  Notification: [
    { notificationType: NotificationType.Idle, message: 'm', details: { n: 1 } },
    { notification_type: 'Idle', message: 'm', details: { n: 1 } },
  ],
  SubagentStart: [
    { agentId: 'a1', agentType: 'explore', prompt: 'p' },
    { agent_id: 'a1', agent_type: 'explore', prompt: 'p' },
  ],
  SubagentStop: [
    {
      agentId: 'a1',
      agentType: 'explore',
      prompt: 'p',
      promptResponse: 'r',
      stopHookActive: false,
    },
    {
      agent_id: 'a1',
      agent_type: 'explore',
      prompt: 'p',
      prompt_response: 'r',
      stop_hook_active: false,
    },
  ],
  PostCompress: [
    { trigger: PreCompressTrigger.Auto, summary: 's' },
    { trigger: 'auto', summary: 's' },
  ],
  ModelError: [
    { llmRequest, error: { message: 'down' }, attempt: 1 },
    { llm_request: request, error: { message: 'down' }, attempt: 1 },
  ],
  ToolBatchEnd: [{ toolCalls: [batched] }, { tool_calls: [batched] }],
};

function fail(): never {
  throw new Error('not begun yet');
}

describe('translator', () => {
  it('fills input and calls next once', async () => {
    const ctx = hookContext(HookEventName.BeforeAgent, { prompt: 'hi' });
    const next = countingNext();
    await translator(session)(ctx, next);
    expect(ctx.input).toMatchObject({ hook_event_name: 'BeforeAgent', prompt: 'hi' });
    expect(next.calls).toBe(1);
  });

  it('has filled input by the time next is called', async () => {
    const ctx = hookContext(HookEventName.BeforeAgent, { prompt: 'hi' });
    await translator(session)(ctx, async () => expect(ctx.input).toBeDefined());
    expect.assertions(1);
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const ctx = hookContext(HookEventName.BeforeAgent, { prompt: 'hi' });
    await expect(translator(session)(ctx, next)).rejects.toBe(error);
  });

  it('rejects a payload that it cannot read, without calling next', async () => {
    const llmBroken = JSON.parse('null') as typeof llmRequest;
    const ctx = hookContext(HookEventName.BeforeModel, { llmRequest: llmBroken });
    const next = countingNext();
    await expect(translator(session)(ctx, next)).rejects.toThrow(TypeError);
    expect(next.calls).toBe(0);
  });
});

describe('a call for a session of its own', () => {
  const host = { ...session, getTranscriptPath: () => '/own.json' };

  it.each<[string, CallSession, object]>([
    ['nothing', {}, {}],
    ['a directory', { cwd: '/elsewhere' }, { cwd: '/elsewhere' }],
    ['a transcript', { transcriptPath: '/t.json' }, { transcript_path: '/t.json' }],
    ['an agent', { agent: 'reviewer' }, { agent: 'reviewer' }],
    ['an agent without a name', { agent: '' }, { agent: '' }],
    [
      'an id, and so no transcript of the host',
      { sessionId: 's2' },
      { session_id: 's2', transcript_path: '' },
    ],
    [
      'an id and a transcript',
      { sessionId: 's2', transcriptPath: '/t.json' },
      { session_id: 's2', transcript_path: '/t.json' },
    ],
  ])('that tells %s has the rest from the host', async (_title, given, told) => {
    const payload = { prompt: 'hi' };
    const ctx = hookContext(HookEventName.BeforeAgent, payload, { session: given });
    await translator(host)(ctx, countingNext());
    const ofHost = toHookInput(HookEventName.BeforeAgent, payload, host);
    expect(ctx.input).toStrictEqual({ ...ofHost, timestamp: expect.any(String), ...told });
  });
});

describe('toHookInput', () => {
  it.each(Object.values(HookEventName))('writes the fields of %s', (event) => {
    const [payload, expected] = payloads[event];
    expect(toHookInput(event, payload, session)).toEqual({
      session_id: 's1',
      cwd: '/project',
      timestamp: expect.any(String),
      hook_event_name: event,
      transcript_path: '',
      ...expected,
    });
  });

  it('puts the common fields first and the time in ISO 8601', () => {
    const input = toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, session);
    expect(Object.keys(input)).toEqual([
      'session_id',
      'cwd',
      'timestamp',
      'hook_event_name',
      'transcript_path',
      'prompt',
    ]);
    expect(new Date(input.timestamp).toISOString()).toBe(input.timestamp);
    expect(Math.abs(Date.now() - Date.parse(input.timestamp))).toBeLessThan(60_000);
  });

  it('takes the path of the transcript from a session that has one', () => {
    const withTranscript = { ...session, getTranscriptPath: () => '/t.json' };
    const input = toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, withTranscript);
    expect(input.transcript_path).toBe('/t.json');
    const without = { ...session, getTranscriptPath: () => undefined };
    expect(toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, without).transcript_path).toBe(
      '',
    );
  });

  it('is written by a host that cannot tell its session or its transcript', () => {
    const unknown = { ...session, getSessionId: fail, getTranscriptPath: fail };
    const input = toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, unknown);
    expect(input).toMatchObject({ session_id: '', cwd: '/project', transcript_path: '' });
  });
});

describe('what a host tells of its session', () => {
  class Host {
    #id = 's2';
    getSessionId = () => this.#id;
    getWorkingDir = () => '/project';
    /** As a method, which needs its object. */
    getTranscriptPath(): string {
      return `/${this.#id}.json`;
    }
  }

  it('is its id and the path of its transcript', () => {
    const host = new Host();
    expect(sessionIdOf(host)).toBe('s2');
    expect(transcriptPathOf(host)).toBe('/s2.json');
    const input = toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, host);
    expect(input).toMatchObject({ session_id: 's2', transcript_path: '/s2.json' });
  });

  it('is an empty id and no path where it knows neither, or fails to tell', () => {
    expect(transcriptPathOf(session)).toBeUndefined();
    const unknown = { ...session, getSessionId: fail, getTranscriptPath: fail };
    expect(sessionIdOf(unknown)).toBe('');
    expect(transcriptPathOf(unknown)).toBeUndefined();
    const silent = { ...session, getSessionId: () => JSON.parse('null') as string };
    expect(sessionIdOf(silent)).toBe('');
    expect(toHookInput(HookEventName.BeforeAgent, { prompt: 'p' }, silent).session_id).toBe('');
  });
});
