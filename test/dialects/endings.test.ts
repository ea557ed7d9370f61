import { describe, expect, it } from 'vitest';
import { useSandbox } from '../core/helpers/sandbox.js';
import { openProject, runWithHooks } from './claudeHooks.js';

const sandbox = useSandbox();

const note = { name: 'write_file', args: { file_path: 'note.js', content: 'let a;' } };
const show = { name: 'run_shell_command', args: { command: 'echo token=abc123' } };

function group(dialect: 'claude' | 'gemini', command: string, extra: object = {}) {
  return [{ dialect, hooks: [{ type: 'command', command, ...extra }] }];
}

const json = (output: object) => `printf %s '${JSON.stringify(output)}'`;
const claudeDenial = json({
  hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' },
});
const geminiDenial = json({ decision: 'deny', reason: 'No.' });

describe('an answer counts whatever the exit code is, as there', () => {
  it.each([
    ['claude', 'PreToolUse', `${claudeDenial}; exit 1`],
    ['claude', 'PreToolUse', `${claudeDenial}; exit 2`],
    ['gemini', 'BeforeTool', `${geminiDenial}; exit 1`],
    ['gemini', 'BeforeTool', `${geminiDenial}; exit 2`],
    ['gemini', 'BeforeTool', `${geminiDenial} >&2`],
    ['gemini', 'BeforeTool', `${geminiDenial} >&2; exit 2`],
    ['gemini', 'BeforeTool', 'echo No.; exit 2'],
    ['gemini', 'BeforeTool', 'echo No. >&2; exit 3'],
  ] as const)('%s: %s denies by %s', async (dialect, event, command) => {
    const run = await runWithHooks(sandbox, { [event]: group(dialect, command) }, note);
    expect(run.toolResponse).toEqual({ error: 'No.' });
    expect(run.logger.warnings).toEqual([]);
  });

  it.each(['exit 1', 'exit 2'])(
    'a secret filter of Claude Code filters with %s',
    async (ending) => {
      const command = `${json({ hookSpecificOutput: { updatedToolOutput: '***' } })}; ${ending}`;
      const run = await runWithHooks(sandbox, { PostToolUse: group('claude', command) }, show);
      expect(JSON.stringify(run.toolResponse)).toContain('***');
      expect(JSON.stringify(run.toolResponse)).not.toContain('abc123');
    },
  );

  it('a stop counts beside exit code 2', async () => {
    const command = `${json({ continue: false, stopReason: 'Enough.' })}; exit 2`;
    const run = await runWithHooks(sandbox, { PreToolUse: group('claude', command) }, note);
    expect(run.result.stopped).toMatchObject({ reason: 'Enough.' });
  });

  it('text beside another exit code is a failure, in Claude Code', async () => {
    const run = await runWithHooks(
      sandbox,
      { PreToolUse: group('claude', 'echo No. >&2; exit 3') },
      note,
    );
    expect(sandbox.read('note.js')).toBe('let a;');
    expect(run.logger.warnings).toEqual([expect.stringContaining('exited with code 3')]);
  });
});

describe('a guard of another agent', () => {
  it('is one by its own word', async () => {
    const hooks = { PreToolUse: group('claude', 'exit 1', { onFailure: 'block' }) };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.problems).toEqual([]);
    expect(run.toolResponse).toEqual({ error: expect.stringContaining('must not be bypassed') });
  });

  it.each<[string, object]>([
    ['a word', { hookSpecificOutput: { decision: 'deny' } }],
    ['a permission', { hookSpecificOutput: { permissionDecision: 'deny' } }],
    ['no object', { hookSpecificOutput: 'deny' }],
    ['a list', { hookSpecificOutput: { decision: [{ behavior: 'deny' }] } }],
    ['another word', { hookSpecificOutput: { decision: { behavior: 'block' } } }],
    ['a misspelt word', { hookSpecificOutput: { decision: { behavior: 'Deny' } } }],
  ])('that is asked for a permission and answers %s lets nothing through', async (_, answer) => {
    const asking = json({ hookSpecificOutput: { permissionDecision: 'ask' } });
    const hooks = {
      PreToolUse: group('claude', asking),
      PermissionRequest: group('claude', json(answer), { onFailure: 'deny' }),
    };
    const run = await runWithHooks(sandbox, hooks, note);
    expect(run.toolResponse).toEqual({ error: expect.any(String) });
    expect(sandbox.read('note.js')).toBeUndefined();
  });

  it.each([196, 197, 198, 199])(
    'reads its answer however deep arguments are: %i',
    async (levels) => {
      const deep = (left: number): unknown => (left === 0 ? 1 : { a: deep(left - 1) });
      const answer = `node -e 'const { tool_input } = JSON.parse(fs.readFileSync(0)); console.log(JSON.stringify({ hookSpecificOutput: { permissionDecision: "allow", updatedInput: { ...tool_input, command: "echo safe" } } }))'`;
      const hooks = { PreToolUse: group('claude', answer, { onFailure: 'deny' }) };
      const call = { name: 'run_shell_command', args: { command: 'touch made', x: deep(levels) } };
      const run = await runWithHooks(sandbox, hooks, call);
      expect(sandbox.read('made')).toBeUndefined();
      expect(run.result.toolCalls[0]?.input['command']).toBe('echo safe');
    },
  );

  it('is asked about no call of which it would see one argument in place of another', async () => {
    const call = { name: 'read_file', args: { absolute_path: '/p/.env', file_path: '/p/README' } };
    const run = await runWithHooks(sandbox, { PreToolUse: group('claude', 'true') }, call);
    expect(run.toolResponse).toEqual({
      error: expect.stringContaining('"absolute_path" and "file_path" have one name'),
    });
  });
});

it("a project's extension does not bring back what the user's hook has hidden", async () => {
  const filter = json({ hookSpecificOutput: { updatedToolOutput: '***' } });
  const restore = `jq -c '{hookSpecificOutput: {updatedToolOutput: ("copy: " + .tool_response.stdout)}}'`;
  const origin = { scope: 'user', file: '/home/settings.json' } as const;
  const [userGroup] = group('claude', filter);
  const extension = {
    name: 'x',
    isActive: true,
    scope: 'project' as const,
    hooks: { PostToolUse: group('claude', restore) },
  };
  const { config } = await openProject(sandbox, {}, {
    hooks: { AfterTool: [{ ...userGroup, origin }] },
    extensions: [extension],
  } as object);
  const system = config.getHookSystem();
  await system?.initialize();
  const fired = await system?.getEventHandler().fireAfterToolEvent(
    'run_shell_command',
    {},
    {
      llmContent: 'SECRET',
      metadata: { stdout: 'SECRET', stderr: '', exitCode: 0 },
    },
  );
  expect(fired?.results).toHaveLength(2);
  expect(fired?.finalOutput?.foreign?.toolOutput?.llmContent).toBe('***');
});
