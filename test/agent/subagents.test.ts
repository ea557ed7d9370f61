import { describe, expect, it } from 'vitest';
import { runAgent, type AgentOptions } from '../../src/agent/agent.js';
import type { AgentEvent } from '../../src/agent/agentEvents.js';
import { referenceSubagents } from '../../src/agent/subagents.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import type { ConfigOptions } from '../../src/config/config.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { textsOf } from '../core/helpers/chats.js';
import { atOnce, type HookScript } from '../core/helpers/hookScripts.js';
import { callTools, failure, reply, type RecordedAnswer } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';

const { SubagentStart, SubagentStop } = HookEventName;
const sandbox = useSandbox();

const TASK = { id: 't1', name: 'task', args: { prompt: 'Find it.', subagent_type: 'scout' } };
const WRITE = { id: 'w1', name: 'write_file', args: { file_path: 'a.txt', content: 'x' } };
const SCOUT = { name: 'scout', description: 'Looks for things.' };

interface Setup extends Partial<Pick<AgentOptions, 'subagents' | 'maxTurns' | 'signal'>> {
  readonly config?: ConfigOptions;
}

async function runTo(
  answers: readonly RecordedAnswer[],
  hooks: HookDefinitions = {},
  { config, ...options }: Setup = {},
) {
  const { models, sent } = await sandbox.startModel(...answers);
  const told: AgentEvent[] = [];
  const result = await runAgent({
    config: sandbox.createConfig(hooks, { sessionId: 'parent', ...config }),
    models,
    model: 'gemini-2.5-flash',
    prompt: 'Begin.',
    tools: referenceTools,
    subagents: [SCOUT],
    onEvent: (event) => told.push(event),
    ...options,
  });
  const [task] = result.toolCalls;
  return { result, task, sent: sent(), told };
}

/** A hook at each of these events that says nothing. */
function watch(...events: readonly HookEventName[]) {
  const scripts = new Map(events.map((event) => [event, sandbox.says({})]));
  const hooks = Object.fromEntries([...scripts].map(([event, script]) => [event, atOnce(script)]));
  return { hooks, read: (event: HookEventName) => scripts.get(event)?.inputs() ?? [] };
}

const group = (matcher: string, { config }: HookScript) => ({ matcher, hooks: [config] });

const last = (values: readonly string[]) => values.at(-1) ?? '';

describe('a sub-agent', () => {
  it('has a history of its own, and gives its answer to the model that started it', async () => {
    const { result, task, sent } = await runTo([callTools(TASK), reply('Found.'), reply('Done.')]);
    expect(result.response).toBe('Done.');
    expect(task).toMatchObject({ status: 'success', result: { llmContent: 'Found.' } });
    expect(textsOf(sent[1]?.contents)).toEqual(['Find it.']);
    expect(JSON.stringify(sent[2]?.contents)).toContain('Found.');
  });

  it('has the tools of the agent, but for the one that starts sub-agents', async () => {
    const { sent } = await runTo([callTools(TASK), reply('Found.'), reply('Done.')]);
    const names = sent.map(({ tools }) => JSON.stringify(tools).includes('"task"'));
    expect(names).toEqual([true, false, true]);
    expect(JSON.stringify(sent[1]?.tools)).toContain('"read_file"');
  });

  it('has its parent read what async hooks of its end say, which end with the session', async () => {
    const { hooks, read } = watch(HookEventName.SessionEnd);
    const slow = { ...sandbox.runs('echo $$ >pid; exec sleep 300').config, async: true };
    const said = sandbox.says({ hookSpecificOutput: { additionalContext: 'LATE' } });
    const late = { ...said.config, async: true };
    const started = sandbox.runs('while [ ! -e pid ]; do sleep 0.02; done; sleep 0.2');
    const { sent } = await runTo([callTools(TASK), reply('Found.'), reply('Done.')], {
      ...hooks,
      SubagentStop: [{ hooks: [slow, late, started.config] }],
    });
    expect(() => process.kill(Number(sandbox.read('pid')), 0)).toThrow('ESRCH');
    expect(read(HookEventName.SessionEnd)).toMatchObject([{ session_id: 'parent' }]);
    expect(JSON.stringify(sent.at(-1))).toContain('LATE');
  });

  it('is sent back to work by async hooks that say asyncRewake', async () => {
    const tests = sandbox.runs('[ -e fixed ] && exit 0; touch fixed; echo Red >&2; exit 2');
    const answers = [callTools(TASK), reply('Found.'), reply('Fixed.'), reply('Done.')];
    const { task, sent } = await runTo(answers, {
      SubagentStop: [{ hooks: [{ ...tests.config, asyncRewake: true }] }],
    });
    expect(task).toMatchObject({ result: { llmContent: 'Fixed.' } });
    expect(textsOf(sent[2]?.contents).at(-1)).toContain('Red');
  });

  it('is told apart by every event in it: with its own session, and that of the other agent', async () => {
    const events = Object.values(HookEventName);
    const { hooks, read } = watch(...events);
    await runTo([callTools(TASK), callTools(WRITE), reply('Found.'), reply('Done.')], hooks);
    const [start] = read(SubagentStart);
    expect(start).toMatchObject({
      agent: 'scout',
      agent_type: 'scout',
      parent_session_id: 'parent',
      prompt: 'Find it.',
      transcript_path: '',
    });
    const { agent_id, session_id } = start ?? {};
    expect(session_id).not.toBe('parent');
    const inside = events.flatMap((event) =>
      read(event).flatMap((input) => (input.agent_id === agent_id ? [event] : [])),
    );
    expect(new Set(inside)).toEqual(
      new Set([
        'SubagentStart',
        'BeforeToolSelection',
        'BeforeModel',
        'AfterModel',
        'BeforeTool',
        'AfterTool',
        'ToolBatchEnd',
        'SubagentStop',
      ]),
    );
    const all = events.flatMap((event) => read(event));
    for (const input of all) {
      expect(input.session_id).toBe(input.agent_id === undefined ? 'parent' : session_id);
      expect(input.parent_session_id).toBe(input.agent_id === undefined ? undefined : 'parent');
    }
    expect(read(SubagentStop)).toMatchObject([
      { prompt: 'Find it.', prompt_response: 'Found.', stop_hook_active: false, agent_id },
    ]);
  });

  it('is matched by its kind', async () => {
    const [scout, other] = [sandbox.says({}), sandbox.says({})];
    await runTo([callTools(TASK), reply('Found.'), reply('Done.')], {
      SubagentStart: [group('^scout$', scout), group('^reviewer$', other)],
    });
    expect([scout, other].map((hook) => hook.inputs().length)).toEqual([1, 0]);
  });

  it('does not start where a hook blocks, and the model reads why', async () => {
    const deny = sandbox.says({ decision: 'block', reason: 'No scouts today.' });
    const { result, task, sent } = await runTo([callTools(TASK), reply('Done.')], {
      SubagentStart: atOnce(deny),
    });
    expect(sent).toHaveLength(2);
    expect(task).toMatchObject({ status: 'error', result: { llmContent: 'No scouts today.' } });
    expect(result).toMatchObject({ response: 'Done.', stopped: null });
  });

  it('does not start where a guard fails', async () => {
    const guard = sandbox.runs('exit 7');
    const { task, sent } = await runTo([callTools(TASK), reply('Done.')], {
      SubagentStart: [{ hooks: [{ ...guard.config, onFailure: 'deny' }] }],
    });
    expect(sent).toHaveLength(2);
    expect(task?.result?.error?.type).toBe('blocked_by_hook');
  });

  it.each(['allow', 'deny'] as const)('is asked about where a hook asks: %s', async (decision) => {
    const ask = sandbox.says({ decision: 'ask', reason: 'A scout?' });
    const asked: unknown[] = [];
    const approver = async (request: object) => {
      asked.push(request);
      return { decision };
    };
    const answers = [callTools(TASK), ...(decision === 'allow' ? [reply('Found.')] : [])];
    const { task } = await runTo(
      [...answers, reply('Done.')],
      { SubagentStart: atOnce(ask) },
      { config: { approver } },
    );
    expect(asked).toMatchObject([
      { event: 'SubagentStart', agent: 'scout', input: { agentType: 'scout', prompt: 'Find it.' } },
    ]);
    expect(task?.status).toBe(decision === 'allow' ? 'success' : 'error');
  });

  it('reads what hooks add to its prompt', async () => {
    const add = sandbox.says({ hookSpecificOutput: { additionalContext: 'Look in src.' } });
    const { sent } = await runTo([callTools(TASK), reply('Found.'), reply('Done.')], {
      SubagentStart: atOnce(add),
    });
    expect(textsOf(sent[1]?.contents)).toEqual([`Find it.|${asHookContext('Look in src.')}`]);
  });

  it('is sent back to work by a block at its end', async () => {
    const again = sandbox.computes<HookEventName.SubagentStop>((input) =>
      input.stop_hook_active ? {} : { decision: 'block', reason: 'Look again.' },
    );
    const { task, sent } = await runTo(
      [callTools(TASK), reply('Nothing.'), reply('Found.'), reply('Done.')],
      { SubagentStop: atOnce(again) },
    );
    expect(last(textsOf(sent[2]?.contents))).toBe(asHookContext('Look again.'));
    expect(task?.result?.llmContent).toBe('Found.');
  });

  it('keeps its answer to itself where a guard at its end never answers', async () => {
    const guard = sandbox.runs('exit 7');
    const tries = Array.from({ length: 4 }, () => reply('secret'));
    const { result, task, sent } = await runTo([callTools(TASK), ...tries, reply('Done.')], {
      SubagentStop: [{ hooks: [{ ...guard.config, onFailure: 'deny' }] }],
    });
    expect(task?.result?.llmContent).toContain('maxStopHookRetries (3) is used up');
    expect(JSON.stringify(sent.at(-1)?.contents)).not.toContain('secret');
    expect(result).toMatchObject({ response: 'Done.', stopped: null });
  });

  it.each(['SubagentStart', 'BeforeModel', 'BeforeTool', 'SubagentStop'] as const)(
    'ends the agent that started it where a hook at %s in it stops',
    async (event) => {
      const stop = sandbox.computes<HookEventName.BeforeTool>((input) =>
        input.agent_id === undefined ? {} : { continue: false, stopReason: 'Enough.' },
      );
      const asked = event === 'BeforeTool' ? callTools(WRITE) : reply('Found.');
      const { result } = await runTo([callTools(TASK), asked], { [event]: atOnce(stop) });
      expect(result.stopped).toEqual({ event, reason: 'Enough.', hooks: [stop.config.name] });
      expect(result.turns).toBe(1);
      expect(sandbox.read('a.txt')).toBeUndefined();
    },
  );

  it('that fails is a result that says so, and the agent goes on', async () => {
    const { task, result } = await runTo([
      callTools(TASK),
      failure(503, 'overloaded'),
      reply('Done.'),
    ]);
    expect(task).toMatchObject({ status: 'error', result: { error: { type: 'tool_failed' } } });
    expect(task?.result?.llmContent).toContain('overloaded');
    expect(result.response).toBe('Done.');
  });

  it('is refused where its kind is not known', async () => {
    const other = { ...TASK, args: { ...TASK.args, subagent_type: 'wizard' } };
    const { task } = await runTo([callTools(other), reply('Done.')]);
    expect(task?.result?.error?.type).toBe('invalid_tool_params');
  });

  it('tells of its hooks, and of nothing that would be taken for the words of the agent', async () => {
    const { hooks } = watch(SubagentStart, SubagentStop);
    const { told, result } = await runTo([callTools(TASK), reply('Found.'), reply('Done.')], hooks);
    expect(result.hooks.map(({ event }) => event)).toEqual([SubagentStart, SubagentStop]);
    const texts = told.flatMap((event) => (event.type === 'text' ? [event.text] : []));
    expect(texts).toEqual(['Done.']);
  });
});

it('a tool of the name of the one that starts sub-agents is refused', async () => {
  const { models } = await sandbox.startModel();
  const running = runAgent({
    config: sandbox.createConfig({}),
    models,
    model: 'm',
    prompt: 'Begin.',
    tools: referenceTools.slice(0, 1).map((tool) => ({ ...tool, name: 'task' })),
    subagents: referenceSubagents,
  });
  await expect(running).rejects.toThrow('"task" starts sub-agents; give your tool another name');
});
