import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import type { Approval, ApprovalRequest, Approver } from '../../src/protocol/approval.js';
import { HookEventName } from '../../src/protocol/types.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { callTools, reply } from '../core/helpers/modelAnswers.js';
import { openProject, runAnswers, runWithHooks } from './claudeHooks.js';

const sandbox = useSandbox();

const readMissing = { name: 'read_file', args: { absolute_path: 'missing' } };
const note = { name: 'write_file', args: { file_path: 'note.js', content: 'let a;' } };

/** A group of one hook that notes its name and what it reads, and answers. */
function hook(name: string, answer: object | string = {}, dialect: string | undefined = 'claude') {
  const said =
    typeof answer === 'string' ? answer : `echo '${JSON.stringify(answer).replaceAll("'", '')}'`;
  const command = `jq -c '{ran: "${name}", read: .}' >>"$CLAUDE_PROJECT_DIR/ran.jsonl"; ${said}`;
  return [{ ...(dialect && { dialect }), hooks: [{ type: 'command', command }] }];
}

interface Ran {
  readonly ran: string;
  readonly read: Record<string, unknown>;
}

function ran(): Ran[] {
  const lines = sandbox.read('ran.jsonl')?.trim().split('\n') ?? [];
  return lines.map((line) => JSON.parse(line) as Ran);
}

const namesOf = (runs: readonly Ran[]) => runs.map((each) => each.ran);
const decide = (decision: object) => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
});
const permission = (permissionDecision: string) => ({ hookSpecificOutput: { permissionDecision } });
const asking = permission('ask');

describe('after a tool', () => {
  const both = {
    PostToolUse: hook('success'),
    PostToolUseFailure: hook('failure'),
    AfterTool: [...hook('ours', {}, ''), ...hook('gemini', {}, 'gemini')],
  };

  it('that worked, hooks of PostToolUse run, and none of PostToolUseFailure', async () => {
    await runWithHooks(sandbox, both, note);
    expect(namesOf(ran()).toSorted()).toEqual(['gemini', 'ours', 'success']);
  });

  it('that failed, hooks of PostToolUseFailure run, and none of PostToolUse', async () => {
    await runWithHooks(sandbox, both, readMissing);
    expect(namesOf(ran()).toSorted()).toEqual(['failure', 'gemini', 'ours']);
    const failure = ran().find((each) => each.ran === 'failure')!.read;
    expect(failure).not.toHaveProperty('tool_response');
    expect(failure).toMatchObject({
      hook_event_name: 'PostToolUseFailure',
      tool_name: 'Read',
      tool_input: { file_path: path.join(sandbox.workingDir, 'missing') },
      error: expect.stringContaining('missing') as string,
      is_interrupt: false,
    });
  });

  it('that failed, a group under our name is one of PostToolUse', async () => {
    await runWithHooks(sandbox, { AfterTool: hook('claude') }, readMissing);
    expect(ran()).toEqual([]);
  });

  it.each([
    ['additionalContext', { hookSpecificOutput: { additionalContext: 'It has moved.' } }],
    ['exit code 2', 'echo It has moved. >&2; exit 2'],
  ])('that failed, the model reads their %s', async (_, answer) => {
    const run = await runWithHooks(
      sandbox,
      { PostToolUseFailure: hook('failure', answer) },
      readMissing,
    );
    expect(run.toolResponse?.['error']).toContain(asHookContext('It has moved.'));
  });

  it('a command with another exit code than 0 has failed', async () => {
    const { config } = await openProject(sandbox, both);
    await executeToolWithHooks(config, 'run_shell_command', { command: 'exit 3' }, async () => ({
      llmContent: 'Exit code: 3',
      returnDisplay: '',
      metadata: { exitCode: 3, stdout: '', stderr: 'oops' },
    }));
    expect(namesOf(ran()).toSorted()).toEqual(['failure', 'gemini', 'ours']);
    const failure = ran().find((each) => each.ran === 'failure')!.read;
    expect(failure['error']).toMatch(/^Exit code 3/);
  });

  it('that throws, hooks learn of it as of every failure', async () => {
    const { config } = await openProject(sandbox, both);
    const tool = {
      name: 'print',
      declaration: { name: 'print' },
      execute: () => Promise.reject(new Error('out of paper')),
    };
    const scheduler = new CoreToolScheduler({ config, tools: [tool] });
    const [completed] = await scheduler.schedule([{ name: 'print', args: {} }]);
    expect(completed).toMatchObject({ status: 'error' });
    expect(namesOf(ran()).toSorted()).toEqual(['failure', 'gemini', 'ours']);
    const failure = ran().find((each) => each.ran === 'failure')!.read;
    expect(failure['error']).toContain('out of paper');
  });
});

describe('when hooks want the user to be asked', () => {
  it('those of PermissionRequest decide, and nobody else runs again', async () => {
    const hooks = {
      PreToolUse: hook('before', asking),
      BeforeTool: hook('ours', {}, ''),
      PermissionRequest: hook('decides', decide({ behavior: 'allow' })),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(namesOf(ran()).toSorted()).toEqual(['before', 'decides', 'ours']);
    const decides = ran().at(-1)!;
    expect(decides.ran).toBe('decides');
    expect(decides.read).toEqual({
      session_id: 'session',
      transcript_path: '',
      cwd: sandbox.workingDir,
      permission_mode: 'default',
      hook_event_name: 'PermissionRequest',
      tool_name: 'Write',
      tool_input: { file_path: path.join(sandbox.workingDir, 'note.js'), content: 'let a;' },
    });
    expect(run.result.toolCalls).toMatchObject([{ status: 'success' }]);
  });

  it.each([
    ['ours', { decision: 'ask' }, ''],
    ['ours, by permissionDecision', asking, ''],
    ['of Gemini CLI', { decision: 'ask' }, 'gemini'],
  ])('these may be %s', async (_, answer, dialect) => {
    const hooks = {
      BeforeTool: hook('before', answer, dialect),
      PermissionRequest: hook('decides', decide({ behavior: 'deny', message: 'Not now.' })),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.toolResponse).toEqual({ error: 'Not now.' });
    expect(sandbox.read('note.js')).toBeUndefined();
  });

  it.each(['allow', 'deny'])('and not when they say %s', async (decision) => {
    const hooks = {
      PreToolUse: hook('before', permission(decision)),
      PermissionRequest: hook('decides', decide({ behavior: 'allow' })),
    };
    await runWithHooks(sandbox, hooks, note);
    expect(namesOf(ran())).toEqual(['before']);
  });

  it('exit code 2 denies', async () => {
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: hook('decides', 'echo Never. >&2; exit 2'),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.toolResponse).toEqual({ error: 'Never.' });
  });

  it('one denial is enough', async () => {
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: [
        ...hook('allows', decide({ behavior: 'allow' })),
        ...hook('denies', decide({ behavior: 'deny', message: 'No.' })),
      ],
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.toolResponse).toEqual({ error: 'No.' });
  });

  it('a denial may end the agent', async () => {
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: hook(
        'ends',
        decide({ behavior: 'deny', message: 'Stop.', interrupt: true }),
      ),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.result.stopped).toMatchObject({
      event: HookEventName.BeforeTool,
      reason: 'Stop.',
      hooks: [expect.stringContaining('ends')],
    });
    expect(sandbox.read('note.js')).toBeUndefined();
  });

  it('an allowance may change the arguments, which the hooks of the call see then', async () => {
    const updatedInput = { file_path: 'b.js', content: 'let b;' };
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: hook('allows', decide({ behavior: 'allow', updatedInput })),
    };
    await runWithHooks(sandbox, hooks, note);
    expect(sandbox.read('b.js')).toBe('let b;');
    expect(ran().map((each) => each.ran)).toEqual(['before', 'allows', 'before']);
    expect(ran().at(-1)?.read).toMatchObject({ tool_input: { content: 'let b;' } });
  });

  it('an allowance does not get past a hook that denies the changed arguments', async () => {
    const deny = `jq -e '.tool_input.content == "evil"' >/dev/null && { echo no >&2; exit 2; }; echo '${JSON.stringify(asking)}'`;
    const updatedInput = { file_path: 'b.js', content: 'evil' };
    const guard = { type: 'command', command: deny, onFailure: 'deny' };
    const hooks = {
      PreToolUse: [{ dialect: 'claude', hooks: [guard] }],
      PermissionRequest: hook('allows', decide({ behavior: 'allow', updatedInput })),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.toolResponse).toEqual({ error: 'no' });
    expect(sandbox.read('b.js')).toBeUndefined();
  });

  it('a failing guard denies', async () => {
    const [group] = hook('decides', 'exit 1');
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: [{ ...group, hooks: [{ ...group!.hooks[0], onFailure: 'deny' }] }],
    };
    await runWithHooks(sandbox, hooks, note);
    expect(sandbox.read('note.js')).toBeUndefined();
  });

  it.each([
    ['nothing', {}, [/nobody can be asked/]],
    [
      'nothing about it, but something for the user',
      { systemMessage: 'Hm.' },
      [/says: Hm\./, /nobody can be asked/],
    ],
    ['rules', decide({ behavior: 'allow', updatedPermissions: [] }), [/updatedPermissions/]],
    [
      'something else',
      decide({ behavior: 'perhaps' }),
      [/decision\.behavior is ignored/, /nobody can be asked/],
    ],
  ])('the tool runs where they say %s', async (_, answer, expected) => {
    const hooks = {
      PreToolUse: hook('before', asking),
      PermissionRequest: hook('decides', answer),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(sandbox.read('note.js')).toBe('let a;');
    expect(run.logger.warnings).toEqual(
      expected.map((text) => expect.stringMatching(text) as string),
    );
  });

  it('middleware of the hook stack sees the second pass only where hooks decide', async () => {
    const seen: boolean[][] = [];
    for (const hooks of [{}, { PermissionRequest: hook('decides') }]) {
      const { config } = await openProject(sandbox, {
        PreToolUse: hook('before', asking),
        ...hooks,
      });
      const passes: boolean[] = [];
      config.use('hook', async (ctx, next) => {
        if (ctx.event === 'BeforeTool') passes.push(ctx.payload.isAsked ?? false);
        await next();
      });
      await executeToolWithHooks(config, 'write_file', note.args, async () => ({
        llmContent: '',
        returnDisplay: '',
      }));
      seen.push(passes);
    }
    expect(seen).toEqual([[false], [false, true]]);
  });
});

describe('before a person is asked, hooks of PermissionRequest', () => {
  const answers = [callTools(note), reply('Done.')];

  /** Runs an agent with these hooks and somebody who answers like this. */
  async function runAsked(
    answer: object | string,
    said: Approval = { decision: 'allow' },
    before: object = asking,
  ) {
    const asked: ApprovalRequest[] = [];
    const approver: Approver = (request) => {
      asked.push(request);
      return said;
    };
    const hooks = {
      PreToolUse: hook('before', before),
      PermissionRequest: hook('decides', answer),
    };
    const run = await runAnswers(sandbox, hooks, answers, {}, { approver });
    const [call] = run.result.toolCalls;
    return { ...run, asked, text: call?.result?.llmContent, file: sandbox.read('note.js') };
  }

  it.each([
    ['a behaviour', decide({ behavior: 'allow' })],
    ['a permission', permission('allow')],
    ['a decision', { decision: 'approve' }],
  ])('allow in his place, by %s', async (_, answer) => {
    const { asked, file, logger } = await runAsked(answer, { decision: 'deny' });
    expect(namesOf(ran())).toEqual(['before', 'decides']);
    expect(asked).toEqual([]);
    expect(file).toBe('let a;');
    expect(logger.warnings).toEqual([]);
  });

  it('deny in his place', async () => {
    const denial = decide({ behavior: 'deny', message: 'Not now.' });
    const { asked, text, file } = await runAsked(denial);
    expect(asked).toEqual([]);
    expect([text, file]).toEqual(['Not now.', undefined]);
  });

  describe.each([
    ['decision', { decision: 'maybe', ...permission('allow') }],
    ['hookSpecificOutput.permissionDecision', { decision: 'approve', ...permission('maybe') }],
    ['hookSpecificOutput.decision', { decision: 'approve', ...decide({ behavior: null }) }],
    ['hookSpecificOutput.decision', { hookSpecificOutput: { decision: 'x' } }],
    ['hookSpecificOutput.decision.behavior', decide({ behavior: 'perhaps' })],
    ['decision', { decision: 'maybe', ...decide({ behavior: 'allow' }) }],
    ['hookSpecificOutput', { decision: 'approve', hookSpecificOutput: 'deny' }],
    [
      'hookSpecificOutput.decision.updatedInput',
      decide({ behavior: 'allow', updatedInput: 'other.js' }),
    ],
    ['reason', { reason: 7 }],
    ['hookSpecificOutput.decision.message', decide({ behavior: 'ask', message: 7 })],
  ])('allow nothing by an answer whose %s cannot be read', (place, answer) => {
    it('of one that is no guard: he is asked', async () => {
      const { asked, file, logger } = await runAsked(answer, { decision: 'deny' });
      expect(asked).toHaveLength(1);
      expect(file).toBeUndefined();
      expect(logger.warnings).toEqual([expect.stringContaining(` ${place} is ignored: `)]);
    });

    it('of a guard: it denies', async () => {
      const [group] = hook('decides', answer);
      const hooks = {
        PreToolUse: hook('before', asking),
        PermissionRequest: [{ ...group, hooks: [{ ...group!.hooks[0], onFailure: 'deny' }] }],
      };
      await runAnswers(sandbox, hooks, answers, {}, { approver: () => ({ decision: 'allow' }) });
      expect(namesOf(ran())).toEqual(['before', 'decides']);
      expect(sandbox.read('note.js')).toBeUndefined();
    });
  });

  it.each([
    ['nothing', {}],
    ['that they want to ask, too', permission('ask')],
    ['something that is no answer', decide({ behavior: 'perhaps' })],
    ['no JSON', 'echo fine'],
    ['that they failed', 'exit 1'],
  ])('leave it to him where they say %s', async (_, answer) => {
    const { asked, text, file } = await runAsked(answer, { decision: 'deny', reason: 'No.' });
    expect(namesOf(ran())).toEqual(['before', 'decides']);
    expect(asked).toHaveLength(1);
    expect(text).toBe('A person was asked, and said no: No.');
    expect(file).toBeUndefined();
  });

  it('allow other arguments, about which hooks that ask again are put to him', async () => {
    const updatedInput = { file_path: 'b.js', content: 'let b;' };
    const { asked } = await runAsked(decide({ behavior: 'allow', updatedInput }), {
      decision: 'allow',
    });
    expect(asked).toMatchObject([
      { input: { file_path: expect.stringMatching(/b\.js$/) as string, content: 'let b;' } },
    ]);
    expect(sandbox.read('b.js')).toBe('let b;');
  });

  it.each([
    ['a guard that nobody can ask denies', undefined],
    ['a person hears of a guard that asks', { decision: 'deny' } as const],
  ])('allow other arguments, about which %s', async (_, said) => {
    const updatedInput = { file_path: 'b.js', content: 'let b;' };
    const asksAboutB = `if grep -q 'let b'; then echo '${JSON.stringify(asking)}'; fi`;
    const asked: ApprovalRequest[] = [];
    const approver: Approver = (request) => {
      asked.push(request);
      return said ?? { decision: 'allow' };
    };
    const guard = { name: 'guard', onFailure: 'deny', command: asksAboutB, type: 'command' };
    const hooks = {
      PreToolUse: [...hook('before', asking), { dialect: 'claude', hooks: [guard] }],
      PermissionRequest: hook('decides', decide({ behavior: 'allow', updatedInput })),
    };
    const run = await runAnswers(sandbox, hooks, answers, {}, said && { approver });
    const [call] = run.result.toolCalls;
    expect(call?.status).toBe('idle');
    expect(sandbox.read('b.js')).toBeUndefined();
    const names = asked.flatMap((request) => request.hooks.map(({ name }) => name));
    if (said) expect(names).toContain('guard');
    else expect(call?.result?.llmContent).toContain('nobody can be asked here');
  });

  it('are asked about a call that another one puts off', async () => {
    const { asked, file } = await runAsked(
      decide({ behavior: 'allow' }),
      { decision: 'deny' },
      permission('defer'),
    );
    expect([asked, file]).toEqual([[], 'let a;']);
  });
});

it('names of moments need a group of that dialect', async () => {
  const { problems } = await openProject(sandbox, {
    PermissionRequest: hook('x', {}, 'gemini'),
    PostToolUseFailure: hook('x', {}, ''),
    AfterTool: [{ moment: 'failed', hooks: [] }],
  });
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('"dialect": "claude"'),
    expect.stringContaining('"dialect": "claude"'),
    expect.stringContaining('unknown key'),
  ]);
});
