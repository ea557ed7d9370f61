import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { deadlineOf } from '../../src/run/preparedInput.js';
import { fireBeforeToolHook } from '../../src/core/coreToolHookTriggers.js';
import { HookEventName } from '../../src/protocol/types.js';
import { textsOf } from '../core/helpers/chats.js';
import { callTools, reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { openProject, runAnswers, runWithHooks } from './claudeHooks.js';

// Hooks as the documentation of both agents teaches to write them. Each means here what it means there, or it is left
// out with an error that says why.

const sandbox = useSandbox();

const remove = { name: 'run_shell_command', args: { command: 'touch made; rm -rf kept' } };
const show = { name: 'run_shell_command', args: { command: 'echo token=abc123' } };
const fail = { name: 'run_shell_command', args: { command: 'echo broken >&2; exit 3' } };
const write = { name: 'write_file', args: { file_path: 'note.js', content: 'let a;' } };
const edit = {
  name: 'replace',
  args: { file_path: 'note.js', old_string: 'let', new_string: 'const' },
};
const search = { name: 'search_file_content', args: { pattern: 'token', include: '*.env' } };

/** A script of the project, in the folder that the agent's documentation uses. */
function put(file: string, ...lines: string[]): void {
  const target = path.join(sandbox.workingDir, file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(target, `${lines.join('\n')}\n`, { mode: 0o755 });
}

function claude(event: string, hook: object, matcher?: string) {
  const group = { dialect: 'claude', hooks: [{ type: 'command', ...hook }] };
  return { [event]: [matcher === undefined ? group : { matcher, ...group }] };
}

function gemini(event: string, command: string, matcher?: string) {
  return { [event]: [{ matcher, dialect: 'gemini', hooks: [{ type: 'command', command }] }] };
}

const DENY_BY_CODE = `echo "Not allowed." >&2; exit 2`;
const saying = (output: object) => `cat >/dev/null; printf %s '${JSON.stringify(output)}'`;

describe('hooks for Claude Code', () => {
  const GUARD = [
    '#!/usr/bin/env bash',
    `command=$(node -p 'JSON.parse(fs.readFileSync(0)).tool_input.command')`,
    'case "$command" in *"rm -rf"*) echo "No recursive deletion." >&2; exit 2;; esac',
  ];

  it('a guard in exec form blocks, and what the model says is never a script', async () => {
    put('.claude/hooks/guard.sh', ...GUARD);
    const hook = { command: 'bash', args: ['${CLAUDE_PROJECT_DIR}/.claude/hooks/guard.sh'] };
    const run = await runWithHooks(sandbox, claude('PreToolUse', hook, 'Bash'), remove);
    expect(run.problems).toEqual([]);
    expect(run.toolResponse).toEqual({ error: 'No recursive deletion.' });
    expect(sandbox.read('made')).toBeUndefined();
  });

  it('arguments in exec form arrive as they are, whatever a shell would make of them', async () => {
    put(
      '.claude/hooks/keep.mjs',
      `import fs from 'node:fs';`,
      `fs.writeFileSync('args', JSON.stringify(process.argv.slice(2)));`,
    );
    const args = ['.claude/hooks/keep.mjs', '$HOME', '; touch made', 'a b', '*', '$(touch made)'];
    const hook = { command: 'node', args };
    await runWithHooks(sandbox, claude('PreToolUse', hook), write);
    expect(JSON.parse(sandbox.read('args') ?? '')).toEqual(args.slice(1));
    expect(sandbox.read('made')).toBeUndefined();
  });

  it.each<[string, object]>([
    ['if', { command: DENY_BY_CODE, if: 'Agent(Explore)' }],
    ['shell', { command: 'exit 2', shell: 'powershell' }],
    ['headers', { type: 'http', url: 'http://localhost:9/hook', headers: ['a'] }],
    ['type', { type: 'agent', prompt: 'Check it.' }],
  ])('a hook with %s that has no meaning here is left out, as an error', async (key, hook) => {
    const { problems, config } = await openProject(sandbox, claude('PreToolUse', hook, 'Bash'));
    const told = problems.map(({ path: at, message }) => `${at}: ${message}`);
    expect(told).toEqual([
      expect.stringMatching(/^hooks\.PreToolUse\[0\]\.hooks\[0\].*(?:left out|is ignored)/),
    ]);
    expect(told[0]).toContain(key);
    await config.getHookSystem()?.initialize();
    expect(config.getHookSystem()?.getAllHooks()).toEqual([]);
  });

  it.each<[string, object, RegExp]>([
    [
      'a header with a variable',
      { url: 'http://localhost:9/hook', headers: { 'X-Key': '$KEY' } },
      /was not asked: its header X-Key names a variable/,
    ],
    ['no TLS', { url: 'http://hooks.example/hook' }, /was not asked: .*use https/],
  ])('of the type "http" with %s is not asked, so that a guard denies', async (_, keys, why) => {
    const hook = { type: 'http', onFailure: 'deny', ...keys };
    const run = await runWithHooks(sandbox, claude('PreToolUse', hook, 'Bash'), remove);
    expect(run.toolResponse).toEqual({ error: expect.stringMatching(why) });
  });

  // The table of Claude Code's documentation, and what its words mean for other tools.
  it.each<[string, string, boolean]>([
    ['Bash(git *)', 'FOO=bar git push', true],
    ['Bash(git *)', 'npm test && git push', true],
    ['Bash(rm *)', 'echo $(rm -rf /nowhere)', true],
    ['Bash(rm *)', 'echo $(date)', false],
    ['Bash(cat *)', 'echo before $(date) after', false],
    ['Bash(git *)', '$TOOL git push', true],
    ['Bash(git push*)', 'git push-all', true],
    ['Bash(*kept*)', 'touch made; ls kept', true],
    ['Bash(npm *)', 'touch made', false],
    ['Edit(*.js)', 'touch made', false],
  ])('with "if": %j runs for %j: %j', async (rule, command, runs) => {
    // No guard: what cannot be told runs it, as there.
    const hooks = claude('PreToolUse', { command: DENY_BY_CODE, if: rule }, 'Bash');
    const { problems, config } = await openProject(sandbox, hooks);
    expect(problems).toEqual([]);
    const output = await fireBeforeToolHook(config, 'run_shell_command', { command });
    expect(output?.decision).toBe(runs ? 'deny' : undefined);
  });

  // As seen in Claude Code 2.1.331: a rule of files is about tools for files, whatever else could do the same.
  it.each<[string, string, object, boolean]>([
    ['Edit(*.js)', 'replace', edit.args, true],
    ['Edit(*.js)', 'run_shell_command', { command: 'echo > note.js' }, false],
    ['Edit(*.js)', 'mcp__files__write', { path: 'note.js', content: '' }, false],
    ['Read(*.env)', 'read_file', { absolute_path: '.env' }, true],
    ['Read(*.env)', 'search_file_content', search.args, false],
    ['Read(*.env)', 'run_shell_command', { command: 'cat .env' }, false],
  ])('with "if": %j and no matcher, %s %j: %j', async (rule, tool, input, runs) => {
    const hooks = claude('PreToolUse', { command: DENY_BY_CODE, if: rule });
    const { problems, config } = await openProject(sandbox, hooks);
    expect(problems).toEqual([]);
    const output = await fireBeforeToolHook(config, tool, { ...input });
    expect(output?.decision).toBe(runs ? 'deny' : undefined);
  });

  it('with "if" at an event without a tool is left out, as it never runs there', async () => {
    const hooks = claude('UserPromptSubmit', { command: DENY_BY_CODE, if: 'Bash(rm *)' });
    const { problems, config } = await openProject(sandbox, hooks);
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('is ignored')]);
    await config.getHookSystem()?.initialize();
    expect(config.getHookSystem()?.getAllHooks()).toEqual([]);
  });

  it('of the type "http" is a remote hook, with its token and its headers', async () => {
    const headers = { Authorization: 'Bearer $POLICY_TOKEN', 'X-Team': 'acme' };
    const hook = { type: 'http', url: 'http://localhost:9/hook', headers };
    const { problems, config } = await openProject(
      sandbox,
      claude('PreToolUse', { ...hook, allowedEnvVars: ['POLICY_TOKEN'], timeout: 5 }, 'Bash'),
    );
    expect(problems).toEqual([]);
    await config.getHookSystem()?.initialize();
    expect(config.getHookSystem()?.getAllHooks()[0]?.config).toMatchObject({
      type: 'remote',
      url: 'http://localhost:9/hook',
      tokenVariable: 'POLICY_TOKEN',
      headers: { 'X-Team': 'acme' },
      timeout: 5000,
      dialect: 'claude',
    });
  });

  it.each([
    ['a list with commas', 'Edit, Write'],
    ['a list with bars', 'Edit | Write'],
    ['an expression', 'Edit.*|Wri.*'],
    ['an expression without anchors', '(dit|rite)$'],
    ['an anchored expression', '^Write'],
  ])('%s matches as there', async (_what, matcher) => {
    const run = await runWithHooks(
      sandbox,
      claude('PreToolUse', { command: DENY_BY_CODE }, matcher),
      write,
    );
    expect(run.toolResponse).toEqual({ error: 'Not allowed.' });
  });

  it('a matcher of MCP tools matches their names', async () => {
    const hooks = claude('PreToolUse', { command: DENY_BY_CODE }, '^mcp__');
    const { config } = await openProject(sandbox, hooks);
    const system = config.getHookSystem();
    await system?.initialize();
    const matches = (toolName: string) =>
      system?.getEventHandler().hasWork(HookEventName.BeforeTool, { toolName, toolInput: {} });
    expect([matches('mcp__memory__create'), matches('write_file')]).toEqual([true, false]);
  });

  it('a hook without a timeout has 600 s', async () => {
    const hooks = claude('PreToolUse', { command: 'true' });
    const { config } = await openProject(sandbox, hooks);
    const system = config.getHookSystem();
    await system?.initialize();
    const limits = system
      ?.getAllHooks()
      .map((entry) => deadlineOf(entry.config, entry.eventName).timeoutMs);
    expect(limits).toEqual([600_000]);
  });

  it('a secret filter replaces what the model reads of a tool', async () => {
    const output = {
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: 'token=***' },
    };
    const run = await runWithHooks(
      sandbox,
      claude('PostToolUse', { command: saying(output) }, 'Bash'),
      show,
    );
    expect(JSON.stringify(run.toolResponse)).toContain('token=***');
    expect(JSON.stringify(run.toolResponse)).not.toContain('abc123');
  });

  it('a call that a hook defers does not run', async () => {
    const output = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' },
    };
    const run = await runWithHooks(
      sandbox,
      claude('PreToolUse', { command: saying(output) }),
      write,
    );
    expect(sandbox.read('note.js')).toBeUndefined();
    expect(run.toolResponse).toEqual({ error: expect.stringContaining('put this call off') });
    expect(run.logger.warnings).toEqual([expect.stringContaining('defer')]);
  });

  it('a permission that is asked for can be refused', async () => {
    const ask = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask' } };
    const refuse = {
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: { behavior: 'deny', message: 'Nobody is here.' },
      },
    };
    const run = await runWithHooks(
      sandbox,
      {
        ...claude('PreToolUse', { command: saying(ask) }, 'Write'),
        ...claude('PermissionRequest', { command: saying(refuse) }, 'Write'),
      },
      write,
    );
    expect(run.toolResponse).toEqual({ error: 'Nobody is here.' });
    expect(sandbox.read('note.js')).toBeUndefined();
  });

  it('context before a tool reaches the model', async () => {
    const output = {
      hookSpecificOutput: { hookEventName: 'PreToolUse', additionalContext: 'Tabs, no blanks.' },
    };
    const run = await runWithHooks(
      sandbox,
      claude('PreToolUse', { command: saying(output) }, 'Write'),
      write,
    );
    expect(JSON.stringify(run.toolResponse)).toContain('Tabs, no blanks.');
  });

  it('a failed tool is told to the hooks of failures, and to no others', async () => {
    const hooks = {
      ...claude('PostToolUse', { command: 'cat >succeeded' }),
      ...claude('PostToolUseFailure', { command: 'cat >failed' }),
    };
    await runWithHooks(sandbox, hooks, fail);
    expect(sandbox.read('succeeded')).toBeUndefined();
    expect(JSON.parse(sandbox.read('failed') ?? '')).toMatchObject({
      hook_event_name: 'PostToolUseFailure',
      tool_name: 'Bash',
      error: expect.stringContaining('broken'),
    });
  });

  it('a Stop hook with context keeps the agent going', async () => {
    put(
      '.claude/hooks/once.sh',
      '#!/bin/sh',
      'cat >/dev/null; [ -e asked ] && exit 0; touch asked',
      `printf %s '{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"Run the tests."}}'`,
    );
    const hook = { command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/once.sh' };
    const run = await runWithHooks(sandbox, claude('Stop', hook), write);
    expect(textsOf(run.sent[2]?.contents).at(-1)).toContain('Run the tests.');
    expect(run.result.response).toBe('Tested.');
  });

  it('a Stop hook reads the transcript', async () => {
    const transcriptPath = path.join(sandbox.workingDir, 'transcript.jsonl');
    put(
      '.claude/hooks/last.mjs',
      `import fs from 'node:fs';`,
      `const { transcript_path } = JSON.parse(fs.readFileSync(0, 'utf8'));`,
      `const lines = fs.readFileSync(transcript_path, 'utf8').trim().split('\\n').map(JSON.parse);`,
      `const said = lines.filter(({ type }) => type === 'assistant').flatMap(({ message }) => message.content);`,
      `fs.writeFileSync('last', JSON.stringify(said));`,
    );
    const hook = { command: 'node', args: ['.claude/hooks/last.mjs'] };
    const answers = [callTools({ id: 'call-1', ...write }), reply('Done.')];
    await runAnswers(sandbox, claude('Stop', hook), answers, {}, { transcriptPath });
    expect(JSON.parse(sandbox.read('last') ?? '')).toMatchObject([
      { type: 'tool_use', name: 'Write' },
      { type: 'text', text: 'Done.' },
    ]);
  });

  it('a prompt gets what a hook prints', async () => {
    const hooks = claude('UserPromptSubmit', { command: 'echo The release is on Friday.' });
    const run = await runWithHooks(sandbox, hooks, write);
    expect(textsOf(run.sent[0]?.contents)[0]).toContain('The release is on Friday.');
  });
});

describe('hooks for Gemini CLI', () => {
  it('a secret scanner hides what a tool gave', async () => {
    const output = { decision: 'deny', reason: 'The result holds a secret.' };
    const run = await runWithHooks(sandbox, gemini('AfterTool', saying(output)), show);
    expect(JSON.stringify(run.toolResponse)).toContain('The result holds a secret.');
    expect(JSON.stringify(run.toolResponse)).not.toContain('abc123');
    expect(JSON.stringify(run.result.toolCalls[0]?.result?.returnDisplay)).not.toContain('abc123');
  });

  it('so does one that exits with code 2', async () => {
    const run = await runWithHooks(sandbox, gemini('AfterTool', DENY_BY_CODE), show);
    expect(JSON.stringify(run.toolResponse)).toContain('Not allowed.');
    expect(JSON.stringify(run.toolResponse)).not.toContain('abc123');
  });

  it('a guard of writes denies by an expression', async () => {
    const output = { decision: 'deny', reason: 'Read only.' };
    const hooks = gemini('BeforeTool', saying(output), 'write_.*|replace');
    expect((await runWithHooks(sandbox, hooks, write)).toolResponse).toEqual({
      error: 'Read only.',
    });
    expect((await runWithHooks(sandbox, hooks, edit)).toolResponse).toEqual({
      error: 'Read only.',
    });
  });

  it('a search has the names of today, and the names of yesterday match', async () => {
    const hooks = {
      BeforeTool: [
        ...(gemini('x', 'cat >new', '^grep_search$')['x'] ?? []),
        ...(gemini('x', 'cat >old', '^search_file_content$')['x'] ?? []),
      ],
    };
    await runWithHooks(sandbox, hooks, search);
    const expected = {
      tool_name: 'grep_search',
      tool_input: { pattern: 'token', include_pattern: '*.env' },
    };
    expect(JSON.parse(sandbox.read('new') ?? '')).toMatchObject(expected);
    expect(JSON.parse(sandbox.read('old') ?? '')).toMatchObject(expected);
  });

  it('a hook that logs before its answer speaks to the user, who learns that its decision is lost', async () => {
    const command = `cat >/dev/null; echo Loading…; echo '{"decision":"deny","reason":"No."}'`;
    const run = await runWithHooks(sandbox, gemini('BeforeTool', command), write);
    expect(run.logger.warnings.join('\n')).toContain('its decision does not count');
    expect(run.logger.warnings.join('\n')).toContain('says: Loading…');
    expect(JSON.stringify(run.toolResponse)).not.toContain('[System]');
  });

  it('an AfterAgent hook that denies sends the agent back', async () => {
    put(
      '.gemini/hooks/again.sh',
      '#!/bin/sh',
      'cat >/dev/null; [ -e asked ] && { echo "{}"; exit 0; }; touch asked',
      `echo '{"decision":"deny","reason":"Write a summary."}'`,
    );
    const hooks = gemini('AfterAgent', '"$GEMINI_PROJECT_DIR"/.gemini/hooks/again.sh');
    const run = await runWithHooks(sandbox, hooks, write);
    expect(textsOf(run.sent[2]?.contents).at(-1)).toContain('Write a summary.');
    expect(run.result.response).toBe('Tested.');
  });

  it('a filter of tools restricts what the model may call', async () => {
    const output = {
      hookSpecificOutput: {
        hookEventName: 'BeforeToolSelection',
        toolConfig: { mode: 'ANY', allowedFunctionNames: ['read_file', 'grep_search'] },
      },
    };
    const run = await runWithHooks(sandbox, gemini('BeforeToolSelection', saying(output)), write);
    expect(run.sent[0]?.toolConfig).toMatchObject({
      functionCallingConfig: {
        mode: 'ANY',
        allowedFunctionNames: ['read_file', 'search_file_content'],
      },
    });
    expect(sandbox.read('note.js')).toBeUndefined();
  });
});
