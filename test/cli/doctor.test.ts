import { access, chmod, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, CLIENT, group, saying } from './helpers.js';

const cli = new Cli();

interface Examined {
  status: string;
  tool: string | null;
  ending: string;
  findings: { severity: string; message: string }[];
}

/** Examines one hook of an event. */
async function examine(
  command: string,
  options: Parameters<typeof group>[1] & { event?: string } = {},
) {
  const { event = 'BeforeTool', ...hook } = options;
  const settings = await cli.settings({ [event]: group(command, { name: 'hook', ...hook }) });
  const ran = await cli.run(['doctor', '--json', '--settings', settings]);
  const report = JSON.parse(ran.stdout) as {
    healthy: boolean;
    hooks: Examined[];
    settings: { rule: string }[];
  };
  const { healthy, hooks, settings: found } = report;
  const [examined] = hooks;
  if (!examined) throw new Error(ran.stderr);
  const said = examined.findings.map(({ severity, message }) => `${severity}: ${message}`);
  return {
    ...examined,
    healthy,
    rules: found.map(({ rule }) => rule),
    exitCode: ran.exitCode,
    stderr: ran.stderr,
    said: said.join('\n'),
  };
}

describe('doctor', () => {
  it.each([
    { what: 'allows in silence', command: 'cat > /dev/null' },
    { what: 'answers in JSON', command: saying({ decision: 'allow', systemMessage: 'hi' }) },
    { what: 'says something to the model', command: 'cat > /dev/null; echo It is Monday.' },
    { what: 'blocks', command: 'cat > /dev/null; echo "Permission denied by policy" >&2; exit 2' },
  ])('finds nothing wrong with a hook that $what', async ({ command }) => {
    expect(await examine(command)).toMatchObject({
      healthy: true,
      exitCode: 0,
      status: 'ok',
      findings: [],
      stderr: '',
    });
  });

  it.each([
    {
      what: 'a missing Python file',
      command: 'python3 "$LLXPRT_PROJECT_DIR/missing.py"',
      says: /error: it blocks by accident, as exit code 2 means block: .*can't open file .*; correct the path of the script/u,
    },
    {
      what: 'a syntax error of bash',
      command: 'if true; then',
      says: /error: it blocks by accident, .*: syntax error.*; correct the shell script there/u,
    },
    {
      what: 'a program that does not find its file',
      command: 'grep -q secret missing.txt',
      says: /error: it blocks by accident, .*; the file is not there: correct its path; it ran in .*\$LLXPRT_PROJECT_DIR/u,
    },
    {
      what: 'an option that is none',
      command: 'cat > /dev/null; ls --nope',
      says: /error: it blocks by accident, .*nope.*; the program does not know the option/u,
    },
  ])('tells a block by accident from one that is meant: $what', async ({ command, says }) => {
    const examined = await examine(command);
    expect(examined.said).toMatch(says);
    expect(examined).toMatchObject({ healthy: false, exitCode: 1, status: 'error' });
  });

  it.each([
    {
      what: 'a command that is not found',
      command: 'hookstack-missing-program',
      says: /error: it exited with code 127: hookstack-missing-program: command not found \(line 1 of the command\); install it, or write its whole path/u,
    },
    {
      what: 'a file that may not be executed',
      command: '"$LLXPRT_PROJECT_DIR/plain.txt"',
      says: /error: it exited with code 126: .*Permission denied .*; it may not be executed: run chmod \+x on it/u,
    },
    {
      what: 'an interpreter that is not there',
      command: '"$LLXPRT_PROJECT_DIR/strange"',
      says: /error: it exited with code 127: .*no-such-language.*; no-such-language, which the first line of the script names, is not there: install it/u,
    },
    {
      what: 'a Node that does not run TypeScript',
      command:
        'echo "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension \\".mts\\" for /x.mts" >&2; exit 1',
      says: /error: it exited with code 1: TypeError .*; Node runs TypeScript as it is from 22\.18 on: update Node/u,
    },
    {
      what: 'line ends of Windows',
      command: '"$LLXPRT_PROJECT_DIR/windows"',
      says: /error: it exited with code 127: .*; the script has line ends of Windows: save it with those of Unix/u,
    },
    {
      what: 'line ends of Windows for a shell',
      command: 'bash "$LLXPRT_PROJECT_DIR/windows"',
      says: /error: it exited with code 127: .*; the script has line ends of Windows: save it with those of Unix/u,
    },
    {
      what: 'the wrong exit code',
      command: 'cat > /dev/null; echo looking >&2; echo forbidden >&2; exit 1',
      says: /error: it exited with code 1 \(forbidden\); only exit code 2 blocks$/u,
    },
    {
      what: 'an exception in Python',
      command: "cat > /dev/null; python3 -c 'raise KeyError'",
      says: /error: it exited with code 1: KeyError \(<string>:1\)$/u,
    },
    {
      what: 'an error of jq',
      command: 'jq -e .a.b.c[0].d.hook_event_name[0] > /dev/null; jq .a <<< 1',
      says: /error: it exited with code 5: jq: error \(at .*\): Cannot index number/u,
    },
    {
      what: 'an event that is handed on as an argument',
      command: '/bin/echo "$(cat)"',
      says: /the event is too long for an argument: hand it on through stdin/u,
    },
    { what: 'a signal', command: 'kill -KILL $$', says: /error: it was ended by SIGKILL/u },
    {
      what: 'a timeout',
      command: 'cat > /dev/null; sleep 60',
      timeout: 200,
      says: /error: it timed out after 200 ms; make it faster, or raise its "timeout"/u,
    },
  ])('says what a failure comes from: $what', async ({ command, says, timeout }) => {
    await cli.write('plain.txt', 'no program');
    await chmod(await cli.write('strange', '#!/usr/bin/env no-such-language\n'), 0o755);
    const windows = '#!/usr/bin/env bash\r\nno-such-program\r\n';
    await chmod(await cli.write('windows', windows), 0o755);
    const examined = await examine(command, { timeout });
    expect(examined.said).toMatch(says);
    expect(examined.ending).toContain('the operation goes on without it');
    expect(examined.exitCode).toBe(1);
  });

  it.each([
    {
      what: 'a comma too many',
      command: `cat > /dev/null; echo '{"decision": "allow",}'`,
      says: 'check it with a JSON parser (line 1, column 22: property name expected at "}")',
    },
    {
      what: 'JSON that ends too early',
      command: `cat > /dev/null; printf '{\\n  "decision": '`,
      says: 'line 2, column 15: value expected',
    },
    {
      what: 'a line before it',
      command: `cat > /dev/null; echo Loading; echo '{"decision": "block"}'`,
      says: 'print nothing else on stdout (found "Loading") (line 1, column 1: invalid symbol at "Loading")',
    },
    {
      what: 'the dictionary of Python',
      command: `cat > /dev/null; echo "{'decision': 'block'}"`,
      says: `line 1, column 2: invalid symbol at "'decision': 'block'}"`,
    },
    {
      what: 'a field of the wrong type',
      command: saying({ decision: 'deny it' }),
      says: "error: decision is ignored: expected 'block' or 'deny'",
    },
    {
      what: 'plain text of a guard',
      command: 'cat > /dev/null; echo fine',
      onFailure: 'deny' as const,
      says: 'error: stdout is not JSON',
    },
  ])('says where an answer is no answer: $what', async ({ command, says, onFailure }) => {
    const examined = await examine(command, { onFailure });
    expect(examined.said).toContain(says);
    expect(examined.exitCode).toBe(1);
  });

  it.each([
    {
      what: 'never reads its input',
      command: 'sleep 0.3; echo \'{"decision": "allow"}\'',
      says: 'it did not read its input',
    },
    {
      what: 'comes near its timeout',
      command: 'cat > /dev/null; sleep 1.1',
      timeout: 2000,
      says: '% of its timeout, after which the operation goes on without it',
    },
    {
      what: 'prints unknown fields',
      command: saying({ decison: 'block' }),
      says: 'decison is not a known field and has no effect',
    },
    {
      what: 'blocks without a reason',
      command: 'cat > /dev/null; exit 2',
      says: 'it blocks without a reason',
    },
  ])('warns of a hook that $what, which is no fault', async ({ command, says, timeout }) => {
    const examined = await examine(command, { timeout });
    expect(examined.said).toMatch(/^warning: /u);
    expect(examined.said).toContain(says);
    expect(examined).toMatchObject({ healthy: true, exitCode: 0, status: 'warning' });
  });

  it('runs hooks where relative paths do not reach the project', async () => {
    await cli.write(
      'tools/hook.mjs',
      'import fs from "node:fs"; fs.writeFileSync("made.txt", "");',
    );
    const examined = await examine(
      'cat > seen.json; node tools/hook.mjs; test -n "$LLXPRT_PROJECT_DIR"',
    );
    expect(examined).toMatchObject({ status: 'ok', findings: [] });
    for (const name of ['made.txt', 'seen.json']) {
      await expect(access(join(cli.project, name))).rejects.toThrow('ENOENT');
    }
    expect((await examine('cat > /dev/null; test "$LLXPRT_PROJECT_DIR" != "$PWD"')).status).toBe(
      'ok',
    );
  });

  it('asks each hook about a tool that it is for', async () => {
    const command = `grep -q '"tool_name":"read_file"'`;
    expect((await examine(command, { matcher: '^read_' })).status).toBe('ok');
  });

  it.each([
    { what: 'of no tool of ours', matcher: '^mcp__(git|hub)__\\w+$', tool: 'mcp__git__x' },
    { what: 'with a class', matcher: 'deploy_[abc]', tool: 'deploy_a' },
    { what: 'with a dot', matcher: 'my\\.tool', tool: 'my.tool' },
  ])('thinks of a name for a matcher $what', async ({ matcher, tool }) => {
    const examined = await examine(`grep -qF '"tool_name":"${tool}"'`, { matcher });
    expect(examined).toMatchObject({ status: 'ok', tool });
  });

  it('says so where it knows of no event that a matcher accepts', async () => {
    const examined = await examine('cat > /dev/null', { matcher: '(?=a)b' });
    expect(examined.said).toContain('no event was found that its matcher "(?=a)b" accepts');
  });

  it.each([
    { event: 'SessionStart', matcher: 'resume', command: `grep -q '"source":"resume"'` },
    {
      event: 'PostToolUseFailure',
      matcher: 'Bash',
      command: `grep -q '"error":"The tool failed"'`,
    },
    { event: 'PermissionRequest', matcher: 'Bash', command: `grep -q PermissionRequest` },
  ])('asks about $event as another agent does', async ({ event, matcher, command }) => {
    const hooks = [{ type: 'command' as const, command }];
    await cli.userSettings({ [event]: [{ dialect: 'claude', matcher, hooks }] });
    const { stdout, exitCode } = await cli.run(['doctor']);
    expect({ stdout, exitCode }).toMatchObject({
      stdout: expect.stringContaining('[ok]') as string,
      exitCode: 0,
    });
  });

  it('says once that a program is missing which several hooks start', async () => {
    const names = ['one', 'two', 'three'];
    const hooks = names.flatMap((name) => group(`nosuchprogram ${name}`, { name }));
    await cli.userSettings({ BeforeTool: hooks });
    const { stdout } = await cli.run(['doctor']);
    expect(stdout.match(/nosuchprogram: command not found/gu)).toHaveLength(1);
    expect(stdout.match(/error: the same as one, above/gu)).toHaveLength(2);
    expect(stdout.match(/'nosuchprogram' is not on the PATH/gu)).toHaveLength(1);
    expect(stdout).toMatch(/\n {2}also at \S+settings\.json:\d+:\d+, \S+settings\.json:\d+:\d+\n/u);
  });

  it('finds what validate finds', async () => {
    const healthy = await examine('cat > /dev/null', { matcher: 'write' });
    expect(healthy).toMatchObject({ exitCode: 0, rules: ['matcher-unanchored'] });
    const matcher = 'write_[';
    const examined = await examine('cat > /dev/null', { matcher });
    expect(examined).toMatchObject({ status: 'ok', tool: matcher, healthy: false, exitCode: 1 });
    expect(examined.rules).toEqual(['matcher-invalid']);
    const unanchored = await cli.settings({
      BeforeTool: group('cat > /dev/null', { matcher: 'write' }),
    });
    expect((await cli.run(['doctor', '--settings', unanchored])).stdout).toMatch(
      /\n\nSettings:\n.*\[matcher-unanchored\]\n\n1 of 1 hooks run, 0 with something wrong; settings: 0 errors, 1 warning$/u,
    );
    const settings = await cli.settings({ BeforeTool: group('cat > /dev/null', { matcher }) });
    const { stdout, stderr } = await cli.run(['doctor', '--settings', settings]);
    expect(stderr).toContain("'write_[' is not a valid regular expression");
    expect(stdout).toMatch(
      /\n\n1 of 1 hooks run, 0 with something wrong; settings: 1 error, 0 warnings$/u,
    );
  });

  it('is not content where there is no hook', async () => {
    expect(await cli.run(['doctor'])).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('hookstack init') as string,
    });
  });

  it('says where a script failed', async () => {
    await cli.write(
      'guard.mjs',
      '// one\nprocess.stdin.on("data", () => { throw new RangeError("far"); });',
    );
    const { said } = await examine('node "$LLXPRT_PROJECT_DIR/guard.mjs"');
    expect(said).toBe(`error: it exited with code 1: RangeError: far (${cli.project}/guard.mjs:2)`);
  });

  it.each(['SessionStart', 'BeforeModel', 'AfterModel', 'Notification', 'PreCompress'])(
    'has a sample of %s',
    async (event) => {
      const command = `grep -q '"hook_event_name":"${event}"'`;
      expect((await examine(command, { event })).status).toBe('ok');
    },
  );

  it('does not run what is not trusted or disabled, and says so', async () => {
    await cli.projectSettings({ BeforeTool: group('touch "$HOME/ran"') });
    const user = await cli.userSettings(
      { BeforeTool: group('touch "$HOME/ran"', { name: 'off' }) },
      { disabledHooks: ['off'] },
    );
    const { stdout, exitCode } = await cli.run(['doctor']);
    expect(stdout).toContain('[not run]\n  BeforeTool of write_file: untrusted');
    expect(stdout).toContain(`[not run]\n  BeforeTool of write_file: disabled by name in ${user}`);
    expect(stdout).toContain('0 of 2 hooks run, so nothing was examined');
    expect(exitCode).toBe(1);
    await expect(access(join(cli.home, 'ran'))).rejects.toThrow('ENOENT');
  });

  it('tells once that a matcher is no regular expression', async () => {
    const matched = group('cat').map((each) => ({ ...each, matcher: '^(write_file' }));
    await cli.userSettings({ BeforeTool: matched });
    const { stdout, stderr } = await cli.run(['doctor']);
    expect(`${stdout}${stderr}`.match(/not a valid regular expression/gu)).toHaveLength(1);
  });

  it('tells a reader all of it', async () => {
    await cli.userSettings({ BeforeTool: group('if true; then', { name: 'broken' }) });
    const { stdout, exitCode } = await cli.run(['doctor']);
    expect(stdout).toMatch(
      /^broken \[error\]\n {2}BeforeTool of write_file: exit code 2: it blocks; \d+ ms of 60000 ms\n {2}error: it blocks by accident, .*\n\nSettings:\n\S+settings\.json:1:\d+: warning: .* \[command-not-understood\]\n\n1 of 1 hooks run, 1 with something wrong; settings: 0 errors, 1 warning$/u,
    );
    expect(exitCode).toBe(1);
  });
});

it('says how long an agent waits for an event, by the process that stays and by one of its own', async () => {
  await cli.run(['install', '--into', 'claude']);
  const { stdout } = await cli.run(['doctor', '--json'], { env: { HOOKSTACK_RESIDENT: '1' } });
  const { agents } = JSON.parse(stdout) as { agents: { residentMs: number; ownMs: number }[] };
  expect(agents).toEqual([
    {
      agent: 'claude',
      residentMs: expect.any(Number) as number,
      ownMs: expect.any(Number) as number,
      missing: 'hookstack-hook',
    },
  ]);
  expect((await cli.run(['doctor'])).stdout).toContain(
    'Claude Code runs no hooks, or is blocked with --strict, as hookstack-hook is not on the search path',
  );
  await symlink(CLIENT, join(cli.home, 'hookstack-hook'));
  const PATH = `${cli.home}:${process.env['PATH'] ?? ''}`;
  const { stdout: text } = await cli.run(['doctor'], { env: { PATH } });
  expect(text).toMatch(
    /Claude Code: an event takes \d+ ms by the process that stays, \d+ ms by one/u,
  );
  const off = await cli.run(['doctor'], { env: { PATH, HOOKSTACK_RESIDENT: '0' } });
  expect(off.stdout).toMatch(/an event takes \d+ ms by one of its own, as no process that stays/u);
  expect((await cli.runProgram(['resident', 'stop'])).exitCode).toBe(0);
});

it('sees agents whose hooks are programs or modules, and what they cannot start', async () => {
  for (const agent of ['cline', 'opencode']) await cli.run(['install', '--into', agent]);
  const { stdout } = await cli.run(['doctor', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({
    agents: ['cline', 'opencode'].map((agent) => ({ agent, missing: 'hookstack-hook' })),
  });
  expect((await cli.run(['doctor'])).stdout).toContain(
    'opencode runs no tools, as hookstack-hook is not on the search path',
  );
  await cli.write('.clinerules/hooks/PreToolUse', '#!/bin/sh\nexec mine\n');
  for (const agent of ['cline', 'opencode']) await cli.run(['install', '--undo', '--into', agent]);
  expect(JSON.parse((await cli.run(['doctor', '--json'])).stdout)).toMatchObject({ agents: [] });
});

describe('doctor --live', () => {
  it.each([
    { agent: 'vscode', says: 'it is an editor' },
    { agent: 'codex', says: 'codex is not on the search path' },
  ])('says why $agent cannot be tried', async ({ agent, says }) => {
    const ran = await cli.run(['doctor', '--live', agent], { env: { PATH: '/nowhere' } });
    expect(ran.exitCode).toBe(2);
    expect(ran.stderr).toContain(says);
  });
});
