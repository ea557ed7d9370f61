import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isOwnHook } from '../../src/cli/shared/ownHook.js';
import { Cli, group, MAIN } from './helpers.js';
import { common, haveHook, SAID, sendToProgram } from './hookHelpers.js';

const cli = new Cli();

const call = {
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
};

describe('what cannot be read of an event', () => {
  it.each([
    ['no JSON', 'junk'],
    ['nothing', ''],
    ['half of it', '{"hook_event_name": "PreToolUse"'],
    ['no object', '[1]'],
    ['no name of an event', '{}'],
    ['an event that nobody knows', '{"hook_event_name": "PreThought"}'],
    ['a call without a tool', '{"hook_event_name": "PreToolUse", "tool_input": {}}'],
  ])('blocks where a guard had to be asked: %s', async (_what, text) => {
    await haveHook(cli, { onFailure: 'deny', name: 'guard' });
    const { exitCode, stdout, stderr } = await sendToProgram(cli, 'claude', text);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^Blocked, as hooks could not be asked \("guard"\): .*$/u);
  });

  it.each(['junk', '{"hook_event_name": "PreThought"}'])(
    'passes with a note where no guard is there: %s',
    async (text) => {
      await haveHook(cli);
      const { exitCode, json, stderr } = await sendToProgram(cli, 'claude', text);
      expect({ exitCode, json }).toEqual({ exitCode: 0, json: {} });
      expect(stderr).toMatch(/^note: .*no guard is there, so it goes on/su);
    },
  );

  it('passes at an event that nothing can block', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    const text = '{"hook_event_name": "BeforeToolSelection"}';
    const { exitCode, json } = await sendToProgram(cli, 'gemini', text);
    expect({ exitCode, json }).toEqual({ exitCode: 0, json: undefined });
  });

  it('is withheld after a tool, where a guard had to see it', async () => {
    await haveHook(cli, { onFailure: 'deny', name: 'guard' });
    const nested = '['.repeat(5000) + '"secret"' + ']'.repeat(5000);
    const text = `{"hook_event_name": "PostToolUse", "tool_name": "mcp__x__y", "tool_input": {}, "tool_response": ${nested}}`;
    const { exitCode, json } = await sendToProgram(cli, 'claude', text);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      hookSpecificOutput: {
        updatedToolOutput: [
          { text: expect.stringContaining('hooks could not be asked ("guard")') as string },
        ],
      },
    });
    await haveHook(cli);
    expect((await sendToProgram(cli, 'claude', text)).json).toEqual({});
  });

  it('ends the agent where a result has no form that is known', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    const text = '{"hook_event_name": "PostToolUse", "tool_input": {}}';
    expect((await sendToProgram(cli, 'claude', text)).json).toMatchObject({ continue: false });
    const after = '{"hook_event_name": "AfterTool", "tool_input": {}}';
    expect((await sendToProgram(cli, 'gemini', after)).json).toMatchObject({ decision: 'deny' });
  });

  it('passes with a note at an event that is none of ours', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    const { exitCode, json, stderr } = await sendToProgram(cli, 'claude', {
      hook_event_name: 'TeammateIdle',
    });
    expect({ exitCode, json }).toEqual({ exitCode: 0, json: {} });
    expect(stderr).toContain('hooks have no such event here');
  });

  it('is what is larger than any event', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    const { exitCode, stderr } = await sendToProgram(cli, 'claude', ' '.repeat(65 * 1024 * 1024));
    expect(exitCode).toBe(2);
    expect(stderr).toContain('larger than 64 MiB');
  });

  it('is not a large one: 10 MB pass', async () => {
    await haveHook(cli);
    const content = 'x'.repeat(10_000_000);
    const { exitCode, json } = await sendToProgram(cli, 'claude', {
      ...call,
      tool_input: { content },
    });
    expect({ exitCode, json }).toEqual({ exitCode: 0, json: {} });
  });
});

describe('a fault', () => {
  it('of a guard denies', async () => {
    await haveHook(cli, { command: 'cat > /dev/null; exit 7', onFailure: 'deny' });
    const { exitCode, json } = await sendToProgram(cli, 'claude', call);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it('of any other hook is told to the user, and the call goes on', async () => {
    await haveHook(cli, { command: 'cat > /dev/null; exit 7' });
    const { json } = await sendToProgram(cli, 'claude', call);
    expect(json).toEqual({
      systemMessage: expect.stringContaining('exited with code 7') as string,
    });
  });

  it('of the settings blocks what can be blocked, as guards may be in there', async () => {
    await cli.write(
      `${cli.home}/.llxprt/settings.json`,
      '{ "hooks": { "BeforeTool": [ }, "AfterTool": [] }',
    );
    const { exitCode, json } = await sendToProgram(cli, 'claude', call);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringContaining('settings.json:1:') as string,
      },
    });
    const after = { ...call, hook_event_name: 'PostToolUse', tool_response: 'secret' };
    const withheld = { updatedToolOutput: expect.stringContaining('withheld') as string };
    const { json: afterwards } = await sendToProgram(cli, 'claude', after);
    expect(afterwards).toMatchObject({ hookSpecificOutput: withheld });
    const end = { hook_event_name: 'SessionEnd', reason: 'other' };
    expect((await sendToProgram(cli, 'claude', end)).json).toEqual({});
  });

  it('of settings that the tool itself has broken withholds what it gave', async () => {
    await haveHook(cli, { onFailure: 'deny' });
    await cli.write('.llxprt/settings.json', { disabledHooks: ['none'] });
    await cli.run(['trust', '--yes']);
    expect((await sendToProgram(cli, 'claude', call)).json).toEqual({});
    await cli.write('.llxprt/settings.json', '{');
    const after = { tool_name: 'run_shell_command', tool_input: {}, tool_response: {} };
    const { json } = await sendToProgram(cli, 'gemini', { ...after, hook_event_name: 'AfterTool' });
    expect(json).toMatchObject({ decision: 'deny' });
    const model = { llm_request: { messages: [] }, llm_response: { text: 'secret' } };
    const said = await sendToProgram(cli, 'gemini', { ...model, hook_event_name: 'AfterModel' });
    expect(JSON.stringify(said.json)).toContain('withheld');
  });

  it('of the command line blocks, too', async () => {
    const { exitCode, stderr } = await cli.runProgram(['hook', '--from', 'nobody'], {
      input: '{}',
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('There is no agent "nobody"; known are claude, gemini, codex');
  });
});

describe('an answer that cannot be written', () => {
  it.skipIf(!existsSync('/dev/full')).each([
    ['blocks, for the reason of the hooks', SAID.block, 2, /^Blocked, .*no$/su],
    ['is none where there was nothing to say', {}, 0, /^$/u],
  ])('%s', async (_what, said, status, text) => {
    await haveHook(cli);
    await cli.write('said.json', said);
    const input = JSON.stringify({ ...common(cli), ...call });
    const command = `exec '${process.execPath}' '${MAIN}' hook --from claude > /dev/full`;
    const env = { ...process.env, HOME: cli.home, NO_COLOR: '1' };
    const ended = spawnSync(command, { shell: true, cwd: cli.project, env, input });
    expect(ended.stderr.toString().trim()).toMatch(text);
    expect(ended.status).toBe(status);
  });

  it.skipIf(!existsSync('/dev/full'))('is not one where only stderr is full', async () => {
    await haveHook(cli, { onFailure: 'deny', command: 'cat > /dev/null; exit 7' });
    const input = JSON.stringify({ ...common(cli), ...call });
    const command = `exec '${process.execPath}' '${MAIN}' hook --from claude 2> /dev/full`;
    const env = { ...process.env, HOME: cli.home };
    const ended = spawnSync(command, { shell: true, cwd: cli.project, env, input });
    expect(ended.status).toBe(0);
    expect(ended.stdout.toString()).toContain('"permissionDecision":"deny"');
  });
});

describe('a denial at an event that nothing can block', () => {
  const request = { llm_request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] } };
  const candidates = [{ content: { role: 'model', parts: ['t'] } }];
  it.each([
    ['gemini', 'AfterModel', { ...request, llm_response: { text: 't', candidates } }],
    ['gemini', 'BeforeToolSelection', request],
    ['claude', 'PreCompact', { trigger: 'auto' }],
    ['claude', 'SessionStart', { source: 'startup' }],
  ] as const)('is told on stderr: %s, %s', async (agent, name, fields) => {
    await haveHook(cli);
    const event = { hook_event_name: name, ...fields };
    const { json, stderr } = await sendToProgram(cli, agent, event, SAID.block);
    // To Gemini CLI, an empty object is a choice of no tool; Claude Code tells whoever sums up what it reads.
    expect(json).toEqual(agent === 'gemini' || name === 'PreCompact' ? undefined : {});
    expect(stderr).toContain(`${name}: a hook blocks, which blocks nothing here: no`);
  });

  it('is told on one line, and shortened', async () => {
    await haveHook(cli);
    const event = { hook_event_name: 'SessionStart', source: 'startup' };
    const reason = `no\n\u001b[31m${'x'.repeat(5000)}`;
    const { stderr } = await sendToProgram(cli, 'claude', event, { ...SAID.block, reason });
    expect(stderr).toMatch(/^note: Claude Code, SessionStart: a hook blocks, .*: no x+…$/u);
    expect(stderr.length).toBeLessThan(1100);
  });

  it('is told once, where its exit code said it', async () => {
    await haveHook(cli, { command: 'cat > /dev/null; echo no >&2; exit 2' });
    const event = { hook_event_name: 'PreCompact', trigger: 'auto' };
    const { stderr } = await sendToProgram(cli, 'claude', event);
    expect(stderr.match(/blocks nothing/gu)).toHaveLength(1);
  });
});

describe('a hook that runs all hooks', () => {
  it('is run by no other one', async () => {
    const own = `'${process.execPath}' '${MAIN}' hook --from claude`;
    const asGuard = `cat > /dev/null; echo no >&2; exit 2`;
    await cli.userSettings({
      PreToolUse: [{ dialect: 'claude', hooks: [{ type: 'command', command: own }] }],
      BeforeTool: group(asGuard),
    });
    const { json, stderr } = await sendToProgram(cli, 'claude', call);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(stderr).toContain('one of the hooks runs all hooks of the project again');
  });

  it('does nothing within itself, also where its command hides what it is', async () => {
    const again = `p='${MAIN}'; '${process.execPath}' "$p" 'hook' --from claude`;
    await cli.userSettings({
      PreToolUse: [{ dialect: 'claude', hooks: [{ type: 'command', command: again }] }],
    });
    expect((await sendToProgram(cli, 'claude', call)).json).toEqual({});
  });
});

describe('a mark of a running event', () => {
  it('that the environment has is no way past hooks where no session is named', async () => {
    await haveHook(cli, { command: 'cat > /dev/null; echo no >&2; exit 2' });
    const env = { HOOKSTACK_RUNNING: ' BeforeTool' };
    const { stdout } = await cli.runProgram(['hook', '--from', 'claude'], {
      input: JSON.stringify({ cwd: cli.project, ...call }),
      env,
    });
    expect(stdout).toContain('"permissionDecision":"deny"');
  });

  it.each([
    ['claude', 'PreToolUse'],
    ['gemini', 'BeforeTool'],
  ] as const)(
    'that the environment has is no way past a guard where it names the session: %s',
    async (agent, name) => {
      await haveHook(cli, { command: 'cat > /dev/null', name: 'guard', onFailure: 'deny' });
      const env = { HOOKSTACK_RUNNING: 's1' };
      const event = { ...call, hook_event_name: name };
      expect(await sendToProgram(cli, agent, event, '', env)).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringMatching(
          /^Blocked, as hooks could not be asked \("guard"\): .*HOOKSTACK_RUNNING/u,
        ) as string,
      });
      const others = { ...event, session_id: 's2' };
      expect(await sendToProgram(cli, agent, others, '', env)).toMatchObject({
        exitCode: 0,
        json: {},
      });
    },
  );

  it('is none where hooks are started: a guard that must not be started denies', async () => {
    const env = { HOOKSTACK_DEPTH: '3' };
    await haveHook(cli, { command: 'exit 0', name: 'guard', onFailure: 'deny' });
    for (const [agent, name] of Object.entries({ claude: 'PreToolUse', gemini: 'BeforeTool' })) {
      const event = { ...call, hook_event_name: name };
      const { stdout } = await sendToProgram(cli, agent as 'claude' | 'gemini', event, '', env);
      expect(stdout).toMatch(/"(?:permissionDecision|decision)":"deny".*3 deep already/u);
    }
    await haveHook(cli, { command: 'exit 0' });
    const { json } = await sendToProgram(cli, 'claude', call, '', env);
    expect(json).toEqual({
      systemMessage: expect.stringContaining('3 deep already') as string,
    });
  });

  it('ends what runs itself without a session, too', async () => {
    const again = `echo >> runs; p='${MAIN}'; '${process.execPath}' "$p" 'hook' --from claude`;
    await cli.userSettings({
      PreToolUse: [{ dialect: 'claude', hooks: [{ type: 'command', command: again }] }],
    });
    const input = JSON.stringify({ cwd: cli.project, ...call });
    const { stdout } = await cli.runProgram(['hook', '--from', 'claude'], { input });
    expect(stdout).toBe('{}');
    expect((await cli.read('runs')).length).toBeLessThanOrEqual(2);
  });
});

describe('a guard that mentions what runs all hooks', () => {
  it.each([
    'cat > /dev/null; echo no >&2; exit 2 # instead of: hookstack hook --from claude',
    'cat > /dev/null; echo no >&2; exit 2; hookstack hook --from claude',
    '(cat > /dev/null; echo no >&2; exit 2) && hookstack hook --from claude',
    '$(cat > /dev/null; echo no >&2; kill -9 $$) hookstack hook --from claude',
  ])('is a guard like all others: %s', async (command) => {
    await haveHook(cli, { command, onFailure: 'deny', name: 'guard' });
    const { json } = await sendToProgram(cli, 'claude', call);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
    expect(JSON.stringify(json)).not.toContain('runs all hooks');
  });

  it('is not switched off with what has its name and runs all hooks', async () => {
    const own = { type: 'command', name: 'guard', command: 'hookstack hook --from claude' };
    const guard = { type: 'command', name: 'guard', command: 'cat > /dev/null; exit 2' };
    await cli.userSettings({ BeforeTool: [{ hooks: [own, guard] }] } as never);
    const { json } = await sendToProgram(cli, 'claude', call);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it('is one also where it is nothing else, and denies where that fails', async () => {
    const command = 'not-there/hookstack hook --from claude || exit 2';
    await haveHook(cli, { command, onFailure: 'deny' });
    const { json } = await sendToProgram(cli, 'claude', call);
    expect(json).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
      systemMessage: expect.stringContaining('runs all hooks of the project again') as string,
    });
  });
});

describe('what runs all hooks, and nothing else', () => {
  it.each([
    ['hookstack hook --from claude', true],
    ['hookstack-hook claude', true],
    ['hookstack-hook claude --trust || exit 2', true],
    ['"$CLAUDE_PROJECT_DIR"/node_modules/.bin/hookstack-hook gemini', true],
    ['hookstack-hook', false],
    ['hookstack-hook nobody', false],
    ['hookstack-hook claude; guard', false],
    ['my-hookstack-hook claude', false],
    ['npx -y hookstack hook --from gemini', true],
    ['"$CLAUDE_PROJECT_DIR"/node_modules/.bin/hookstack hook --from claude', true],
    ["'/usr/bin/node' '/a b/dist/cli.cjs' hook --from=claude --trace '/a b/t' --trust", true],
    ['HOOKSTACK_TRACE=/tmp/t hookstack hook --from claude || exit 2', true],
    ['hookstack hook --from claude || true', false],
    ['hookstack hook --from claude | tee log', false],
    ['hookstack hook --from claude `guard`', false],
    ['hookstack hook --from claude --cwd "$(guard)"', false],
    ['hookstack hook --from claude\nguard', false],
    ['hookstack hook --from nobody', false],
    ['hookstack hook', false],
    ['node --import=guard /cli.js hook --from claude', false],
    ['NODE_OPTIONS=--import=guard hookstack hook --from claude', false],
    ['guard hookstack hook --from claude', false],
    ['guard-hookstack hook --from claude', false],
    [`"${'$a'.repeat(50_000)}`, false],
  ])('is told from other commands: %.80s', (command, isOwn) => {
    expect(isOwnHook({ command })).toBe(isOwn);
  });
});

describe('the project of an event', () => {
  it('is what the agent says, wherever it is by now', async () => {
    await cli.projectSettings({ BeforeTool: group('cat > /dev/null; echo no >&2; exit 2') });
    const env = { HOOKSTACK_TRUST_WORKSPACE: 'true', CLAUDE_PROJECT_DIR: cli.project };
    const { json } = await sendToProgram(cli, 'claude', { ...call, cwd: cli.home }, '', env);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  });

  it('is the nearest folder that exists, where the agent names one that does not', async () => {
    const gone = { ...call, cwd: `${cli.project}/gone/further` };
    expect(await sendToProgram(cli, 'claude', gone)).toMatchObject({ json: {}, stderr: '' });
    await cli.projectSettings({ BeforeTool: group('cat > /dev/null; echo no >&2; exit 2') });
    const env = { HOOKSTACK_TRUST_WORKSPACE: 'true' };
    const { json } = await sendToProgram(cli, 'claude', gone, '', env);
    expect(json).toMatchObject({ hookSpecificOutput: { permissionDecisionReason: 'no' } });
    const moved = { ...env, CLAUDE_PROJECT_DIR: `${cli.project}/gone` };
    const again = await sendToProgram(cli, 'claude', { ...call, cwd: cli.home }, '', moved);
    expect(again.json).toMatchObject({ hookSpecificOutput: { permissionDecisionReason: 'no' } });
  });

  it('has hooks that are not allowed: they are skipped, and the user reads so at the start', async () => {
    await cli.projectSettings({ SessionStart: group('true'), BeforeTool: group('exit 2') });
    expect((await sendToProgram(cli, 'claude', call)).json).toEqual({
      systemMessage: expect.stringContaining('"exit 2"') as string,
    });
    const start = { hook_event_name: 'SessionStart', source: 'startup' };
    expect((await sendToProgram(cli, 'claude', start)).json).toMatchObject({
      systemMessage: expect.stringContaining('hookstack trust') as string,
    });
  });
});

async function haveAround(stack: 'tool' | 'model', text: string): Promise<void> {
  const middleware = [{ module: './guard.mjs', stack }];
  await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': text });
}

describe('middleware of an extension', () => {
  it('runs in the hook stack, and blocks', async () => {
    const guard = `export default async (ctx, next) => {
      await next();
      if (ctx.event === 'BeforeTool') ctx.block('not this one');
    };`;
    await cli.extension(
      'user',
      'guard',
      { middleware: [{ module: './guard.mjs', stack: 'hook' }] },
      { 'guard.mjs': guard },
    );
    await haveHook(cli);
    expect((await sendToProgram(cli, 'claude', call)).json).toMatchObject({
      hookSpecificOutput: { permissionDecisionReason: 'not this one' },
    });
  });

  it.each([
    ['claude', 'PreToolUse', { hookSpecificOutput: { permissionDecision: 'deny' } }],
    ['gemini', 'BeforeTool', { decision: 'deny', reason: 'never' }],
  ] as const)(
    'blocks a tool from the tool stack, also without hooks: %s',
    async (agent, name, expected) => {
      await haveAround('tool', 'export default async (call) => call.block("never");');
      const event = { ...call, hook_event_name: name };
      expect((await sendToProgram(cli, agent, event)).json).toMatchObject(expected);
    },
  );

  it('changes arguments from the tool stack, and sees that nobody tells what became of the call', async () => {
    await haveAround(
      'tool',
      `import { writeFileSync } from 'node:fs';
      export default async (call, next) => {
        call.input = { ...call.input, command: 'ls -l' };
        try { await next(); } catch (error) { writeFileSync('seen', error.code); throw error; }
      };`,
    );
    await haveHook(cli);
    const { json } = await sendToProgram(cli, 'claude', call, SAID.ask);
    expect(json).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'ask', updatedInput: { command: 'ls -l' } },
    });
    expect(await cli.read('seen')).toBe('TOOL_CALL_ABANDONED');
  });

  it.each([
    ['tool', 'Middleware of the tool stack runs before a tool only'],
    ['model', 'Middleware of the model stack does not run here'],
  ] as const)('has no other effect around calls, as the user reads: %s', async (stack, text) => {
    await haveAround(stack, 'export default async (call, next) => { await next(); };');
    await haveHook(cli);
    expect(await sendToProgram(cli, 'claude', call)).toMatchObject({
      json: {},
      stderr: expect.stringContaining(text) as string,
    });
    const start = { hook_event_name: 'SessionStart', source: 'startup' };
    expect((await sendToProgram(cli, 'claude', start)).json).toMatchObject({
      systemMessage: expect.stringContaining(text) as string,
    });
  });
});

describe('an answer where nothing is configured', () => {
  it('is an empty object, and nothing else', async () => {
    const input = JSON.stringify({ ...common(cli), ...call });
    expect(await cli.runProgram(['hook', '--from', 'claude'], { input })).toEqual({
      exitCode: 0,
      stdout: '{}',
      stderr: '',
    });
  });

  it('is the same where there are hooks of other events, and one counts that is written with escapes', async () => {
    await cli.userSettings({ SessionEnd: group('exit 2') });
    expect((await sendToProgram(cli, 'claude', call)).json).toEqual({});
    const escaped = String.raw`{"enableHooks": true, "hooks": {"\u0042eforeTool": [{"hooks": [
      {"type": "command", "command": "cat > /dev/null; echo no >&2; exit 2"}]}]}}`;
    await cli.write(`${cli.home}/.llxprt/settings.json`, escaped);
    expect((await sendToProgram(cli, 'claude', call)).json).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
  });

  it('is traced by HOOKSTACK_TRACE where hooks run', async () => {
    await haveHook(cli);
    const env = { HOOKSTACK_TRACE: `${cli.project}/trace.jsonl` };
    await sendToProgram(cli, 'claude', call, SAID.block, env);
    expect(await cli.read('trace.jsonl')).toContain('"event":"BeforeTool"');
  });
});
