import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  copyFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { dialects } from '../../src/dialects/dialects.js';
import { Cli, CLIENT, group, MAIN, saying } from './helpers.js';

const cli = new Cli();
const OWN_PROCESS = { HOOKSTACK_RESIDENT: '0' };
const DENIED = { exitCode: 0, stdout: expect.stringContaining('"deny"') as string };
const GUARD = group('if grep -q forbidden; then echo no >&2; exit 2; fi', { onFailure: 'deny' });

beforeEach(async () => {
  await mkdir(join(cli.home, 'bin'));
  await symlink(MAIN, join(cli.home, 'bin/hookstack'));
  await symlink(CLIENT, join(cli.home, 'bin/hookstack-hook'));
});

afterEach(async () => {
  const status = await ask('status', '');
  if (status.exitCode === 0) end((JSON.parse(status.stdout) as { pid: number }).pid);
});

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function event(command = 'true', more: object = {}): string {
  return JSON.stringify({
    session_id: 's1',
    cwd: cli.project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
    ...more,
  });
}

function start(
  agent: string,
  input: string | Buffer,
  env: NodeJS.ProcessEnv = {},
  cwd = cli.project,
) {
  return execa(join(cli.home, 'bin/hookstack-hook'), [agent], {
    cwd,
    env: { ...cli.env, ...env },
    extendEnv: false,
    input,
    reject: false,
    stripFinalNewline: false,
  });
}

async function ask(
  agent: string,
  input: string | Buffer,
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
) {
  const { exitCode, stdout, stderr, signal } = await start(agent, input, env, cwd);
  return { exitCode, stdout, stderr, signal };
}

function saysInput(input: object): object {
  return { hookSpecificOutput: { tool_input: input } };
}

/** A client that reads nothing for longer than the time between three signs, and then all. */
const SLOW_READER = `
  const { readFileSync, readlinkSync } = require('node:fs');
  const link = require('node:net').connect(process.argv[1]);
  link.pause();
  link.end('claude ' + process.pid + ' ' + readlinkSync('/proc/self/ns/pid') + '\\n' + readFileSync(0));
  setTimeout(() => link.pipe(process.stdout), 2000);
`;

interface Status {
  readonly pid: number;
  readonly events: number;
  readonly socket: string;
}

async function look(env?: NodeJS.ProcessEnv): Promise<Status | undefined> {
  const { exitCode, stdout } = await ask('status', '', env);
  return exitCode === 0 ? (JSON.parse(stdout) as Status) : undefined;
}

/** Starts it by an event, and waits until it answers. */
async function haveResident(env?: NodeJS.ProcessEnv): Promise<Status> {
  await ask('claude', event('true', { hook_event_name: 'Unknown' }), env);
  return vi.waitFor(async () => {
    const status = await look(env);
    if (!status) throw new Error('not yet');
    return status;
  }, 10_000);
}

/** An answer, which the resident must have given. */
async function askResident(input: string | Buffer, env?: NodeJS.ProcessEnv, agent = 'claude') {
  const before = await look();
  const answer = await ask(agent, input, env);
  expect((await look())?.events).toBe((before?.events ?? 0) + 1);
  return answer;
}

function run(): string {
  return join(cli.home, '.llxprt/run');
}

describe('the resident answers as a process of its own does', () => {
  const call = { tool_input: { command: 'ls' }, tool_response: { stdout: 'x', stderr: '' } };
  it.each<[string, Parameters<Cli['userSettings']>[0], object?, string?]>([
    ['where no hook is', {}],
    ['a silent hook', { BeforeTool: group('cat >/dev/null') }],
    ['a denial', { BeforeTool: group('cat >/dev/null; echo no >&2; exit 2') }],
    ['a question', { BeforeTool: group(saying({ decision: 'ask', reason: 'sure?' })) }],
    ['a message', { BeforeTool: group(saying({ systemMessage: 'hello' })) }],
    ['a hook that fails', { BeforeTool: group('cat >/dev/null; echo oh >&2; exit 1') }],
    ['a guard that fails', { BeforeTool: group('exit 1', { onFailure: 'deny' }) }],
    ['a guard with a text for an answer', { BeforeTool: group('echo x', { onFailure: 'deny' }) }],
    [
      'arguments',
      { BeforeTool: group(saying({ hookSpecificOutput: { tool_input: { command: 'pwd' } } })) },
    ],
    ['a stop', { BeforeTool: group(saying({ continue: false, stopReason: 'enough' })) }],
    [
      'context',
      { AfterTool: group(saying({ hookSpecificOutput: { additionalContext: 'c' } })) },
      { hook_event_name: 'PostToolUse', ...call },
    ],
    [
      'the start of a session',
      { SessionStart: group(saying({ hookSpecificOutput: { additionalContext: 'c' } })) },
      { hook_event_name: 'SessionStart', source: 'startup' },
    ],
    [
      'the end of a session',
      { SessionEnd: group('cat >/dev/null') },
      { hook_event_name: 'SessionEnd', reason: 'exit' },
    ],
    ['an event of its own', {}, { hook_event_name: 'Elsewhere' }],
    ['an event with a field of a wrong kind', { BeforeTool: GUARD }, { tool_input: 7 }],
    [
      'a tool of Gemini CLI',
      { BeforeTool: group('echo no >&2; exit 2') },
      { hook_event_name: 'BeforeTool', tool_name: 'write_file' },
      'gemini',
    ],
    [
      'tools of Gemini CLI',
      {
        BeforeToolSelection: group(
          saying({ hookSpecificOutput: { toolConfig: { mode: 'NONE' } } }),
        ),
      },
      { hook_event_name: 'BeforeToolSelection', llm_request: { model: 'm', messages: [] } },
      'gemini',
    ],
  ])('%s', async (_title, hooks, more = {}, agent = 'claude') => {
    await cli.userSettings(hooks);
    await haveResident();
    const alone = await ask(agent, event('ls', more), OWN_PROCESS);
    const staying = await askResident(event('ls', more), {}, agent);
    expect(staying).toEqual(alone);
    expect(await askResident(event('ls', more), {}, agent)).toEqual(alone);
  });

  it.each([
    ['no JSON', 'forbidden'],
    ['nothing', ''],
    ['a number', '7'],
    ['what is no UTF-8', Buffer.from([0x7b, 0xff, 0, 0, 0x7d])],
  ])('what is no event: %s', async (_title, input) => {
    await cli.userSettings({ BeforeTool: GUARD });
    await haveResident();
    expect(await askResident(input)).toEqual(await ask('claude', input, OWN_PROCESS));
  });

  it('hooks of a project that nobody has allowed', async () => {
    await cli.projectSettings({ BeforeTool: group('echo no >&2; exit 2', { name: 'p' }) });
    await haveResident();
    const { stdout } = await askResident(event());
    expect(stdout).toContain('hookstack trust');
    expect(JSON.parse(stdout)).not.toHaveProperty('hookSpecificOutput');
  });
});

it('a hook cannot tell by whom it is run', async () => {
  const see = [
    'cat > "$SEEN"',
    '{ env | grep -v "^SEEN=\\|^HOOKSTACK_RUN_ID=\\|^HOOKSTACK_RESIDENT=" | sort; pwd; umask; ulimit -a; ulimit -Ha',
    'readlink /proc/$$/fd/[012] > "$SEEN.fd"; sed "s/\\[.*//" "$SEEN.fd"',
    // The columns are as wide as the number of the process is long.
    'ps -o pgid=,sid=,tty=,ni= -p $$ | sed "s/\\b$$\\b/own/g; s/  */ /g; s/^ //"',
    // By bash itself, as what it catches and blocks differs while it waits for a program. SigQ counts for all processes of the user.
    'while read -r line; do [[ ! $line =~ ^(Sig[A-PR-Z]|ShdPnd|Cap|Groups|NoNewPrivs|Seccomp) ]] || echo "$line"; done < /proc/$$/status; } >> "$SEEN"',
  ].join('; ');
  await cli.userSettings({ BeforeTool: group(see) });
  await haveResident();
  const seen = async (name: string, env: NodeJS.ProcessEnv = {}) => {
    const file = join(cli.home, name);
    const odd = { EMPTY: '', 'WITH SPACE': 'a\nb', UMLAUT: 'ä€', _X: '=' };
    await ask('claude', event(), { ...odd, ...env, SEEN: file });
    return (await readFile(file, 'utf8')).replace(/"timestamp":"[^"]*"/u, '').replaceAll(file, '');
  };
  const alone = await seen('alone', OWN_PROCESS);
  for (const name of ['first', 'second']) expect(await seen(name)).toBe(alone);
  expect((await look())?.events).toBe(2);
});

describe('what has changed counts at the next event', () => {
  it('settings, and the switch', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    await haveResident();
    expect(await askResident(event('forbidden'))).toMatchObject(DENIED);
    await cli.userSettings({ BeforeTool: GUARD }, { enableHooks: false });
    expect((await askResident(event('forbidden'))).stdout).not.toContain('deny');
    await cli.userSettings({});
    expect(await askResident(event('forbidden'))).toMatchObject({ stdout: '{}\n' });
    await cli.userSettings({ BeforeTool: GUARD });
    expect(await askResident(event('forbidden'))).toMatchObject(DENIED);
  });

  it('settings that were not read anew before, though size and time are the same', async () => {
    const file = await cli.userSettings({ BeforeTool: GUARD }, { enableHooks: null });
    await haveResident();
    const { atime, mtime } = await stat(file);
    for (let round = 0; round < 2; round += 1) {
      expect((await askResident(event('forbidden'))).stdout).not.toContain('deny');
    }
    await cli.userSettings({ BeforeTool: GUARD }, { enableHooks: true });
    await utimes(file, atime, mtime);
    expect(await askResident(event('forbidden'))).toMatchObject(DENIED);
  });

  it('consent, and a script that the user has not seen', async () => {
    const script = await cli.write('.llxprt/hooks/guard.sh', 'echo no >&2; exit 2\n');
    await cli.projectSettings({
      BeforeTool: group('sh $LLXPRT_PROJECT_DIR/.llxprt/hooks/guard.sh'),
    });
    await haveResident();
    expect((await askResident(event())).stdout).not.toContain('deny');
    await cli.run(['trust', '--yes', '--open']);
    expect(await askResident(event())).toMatchObject(DENIED);
    await writeFile(script, 'echo other >&2; exit 2\n');
    expect((await askResident(event())).stdout).not.toContain('"deny"');
    await cli.run(['untrust']);
    expect((await askResident(event())).stdout).not.toContain('"deny"');
  });
});

it('knows an agent that runs the file of another one by its environment', async () => {
  const context = saying({ hookSpecificOutput: { additionalContext: 'c' } });
  await cli.userSettings({ AfterTool: group(context) });
  await haveResident();
  const sent = event('ls', { hook_event_name: 'PostToolUse', tool_result: 'x' });
  const { stdout } = await askResident(sent, { COPILOT_CLI: '1' });
  expect(JSON.parse(stdout)).toEqual({ additionalContext: 'c' });
});

describe('what cannot be answered there is answered by a process of its own', () => {
  const perl = ['PERL5OPT', 'PERL5LIB', 'PERLLIB', 'PERL5DB', 'PERLIO', 'PERL_UNICODE'];
  it.each([
    ...perl.map((name) => [name, { [name]: '-Mevil' }] as const),
    ['HOOKSTACK_TIMEOUT', { HOOKSTACK_TIMEOUT: '5000' }],
    ['NODE_OPTIONS', { NODE_OPTIONS: '--no-warnings' }],
    ['NODE_EXTRA_CA_CERTS', { NODE_EXTRA_CA_CERTS: '/etc/hostname' }],
  ] as const)('where the environment has %s', async (_name, env) => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { events } = await haveResident();
    expect(await ask('claude', event('forbidden'), env)).toMatchObject(DENIED);
    expect((await look())?.events).toBe(events);
  });

  it.each(['umask 000', 'ulimit -n 512', 'nice -n 3'])('where %s is another', async (change) => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { events } = await haveResident();
    const client = join(cli.home, 'bin/hookstack-hook');
    const command = change.startsWith('nice')
      ? `exec ${change} ${client} claude`
      : `${change}; exec ${client} claude`;
    const options = { cwd: cli.project, env: cli.env, extendEnv: false, input: event('forbidden') };
    const { stdout } = await execa('/bin/sh', ['-c', command], options);
    expect(stdout).toContain('"deny"');
    expect((await look())?.events).toBe(events);
  });

  it('where an extension brings code of its own', async () => {
    const middleware = [{ module: './guard.mjs', stack: 'hook' }];
    const text = `export default async () => { throw new Error('by the module'); }`;
    await cli.userSettings({ BeforeTool: group('cat >/dev/null', { onFailure: 'deny' }) });
    await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': text });
    await haveResident();
    const alone = await ask('claude', event(), OWN_PROCESS);
    expect(await ask('claude', event())).toEqual(alone);
  });

  it('and what that process allows at the start of a sub-agent is not denied', async () => {
    const middleware = [{ module: './guard.mjs', stack: 'hook' }];
    const files = { 'guard.mjs': 'export default (ctx, next) => next();' };
    await cli.userSettings({ BeforeTool: GUARD, SubagentStart: GUARD });
    await cli.extension('user', 'guard', { middleware }, files);
    await haveResident();
    const inside = { agent_id: 'a1', agent_type: 'Explore' };
    await ask('claude', event('true', { ...inside, hook_event_name: 'SubagentStart' }));
    expect((await ask('claude', event('true', inside))).stdout).toBe('{}\n');
  });

  it('where more is sent than is held twice', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { events } = await haveResident();
    const input = event(`forbidden ${'x'.repeat(9 * 1024 * 1024)}`);
    expect(await ask('claude', input)).toMatchObject(DENIED);
    expect((await look())?.events).toBe(events);
  });

  it('where it is switched off, without one', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    expect(await ask('claude', event('forbidden'), OWN_PROCESS)).toMatchObject(DENIED);
    expect(await look()).toBeUndefined();
    await expect(stat(run())).rejects.toThrow('ENOENT');
  });
});

/** Stands in the place of the resident, and does something else. */
async function standIn(behave: (client: Socket) => void): Promise<() => void> {
  const { pid, socket } = await haveResident();
  end(pid);
  await rm(socket);
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    client.resume();
    behave(client);
  });
  server.listen(socket);
  await once(server, 'listening');
  return () => server.close();
}

describe('a socket that is not to be believed', () => {
  it.each<[string, (client: Socket) => void]>([
    ['says nothing', () => undefined],
    ['hangs up', (client) => client.destroy()],
    ['hears, and hangs up', (client) => client.end('.')],
    ['answers without lengths', (client) => client.end('={}')],
    ['answers too little', (client) => client.end('.=0 10 0\n{}')],
    ['answers too much', (client) => client.end('.=0 2 0\n{}{}')],
    ['answers with another exit code', (client) => client.end('.=1 3 0\n{}\n')],
    ['answers what is none', (client) => client.end('{"decision":"allow"}')],
  ])('as it %s', async (_title, behave) => {
    await cli.userSettings({ BeforeTool: GUARD });
    const close = await standIn(behave);
    expect(await ask('claude', event('forbidden'))).toMatchObject(DENIED);
    close();
  });

  it.each<[string, (socket: string) => Promise<unknown>]>([
    [
      'a link',
      async (socket) => {
        await rename(socket, `${socket}.x`);
        await symlink(`${socket}.x`, socket);
      },
    ],
    [
      'a file',
      async (socket) => {
        await rm(socket);
        await writeFile(socket, '');
      },
    ],
    ['a folder that others can read', (socket) => chmod(join(socket, '..'), 0o755)],
  ])('as it is %s', async (_title, change) => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { socket, pid } = await haveResident();
    await change(socket);
    expect(await ask('claude', event('forbidden'))).toMatchObject(DENIED);
    end(pid);
  });

  it.runIf(process.getuid?.() === 0)('as it belongs to somebody else', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { socket, pid } = await haveResident();
    spawnSync('chown', ['65534', socket]);
    expect(await ask('claude', event('forbidden'))).toMatchObject(DENIED);
    end(pid);
  });
});

describe('a resident that cannot answer', () => {
  it.each(['SIGKILL', 'SIGTERM', 'SIGSTOP'] as const)(
    'after %s, the next event is answered, and the one after that by another one',
    async (signal) => {
      await cli.userSettings({ BeforeTool: GUARD });
      const { pid } = await haveResident();
      process.kill(pid, signal);
      expect(await ask('claude', event('forbidden'))).toMatchObject(DENIED);
      await rm(join(run(), (await readdir(run())).find((name) => name.endsWith('.starts')) ?? ''), {
        force: true,
      });
      const next = await haveResident();
      expect(next.pid).not.toBe(pid);
      expect(await askResident(event('forbidden'))).toMatchObject(DENIED);
      end(pid);
    },
  );

  it('killed while a guard runs, has that guard asked anew', async () => {
    const started = join(cli.home, 'started');
    const command = `echo x >> '${started}'; if [ "$(wc -l < '${started}')" = 1 ]; then sleep 60; fi; echo no >&2; exit 2`;
    await cli.userSettings({ BeforeTool: group(command, { onFailure: 'deny' }) });
    const { pid } = await haveResident();
    const asked = ask('claude', event());
    await vi.waitFor(() => readFile(started), 5000);
    process.kill(pid, 'SIGKILL');
    expect(await asked).toMatchObject(DENIED);
  });

  it('ends once its socket is gone', async () => {
    const { pid, socket } = await haveResident();
    await rm(socket);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 20_000);
  });

  it('is told to stop, and answers what it has heard', async () => {
    await cli.userSettings({ BeforeTool: group('cat >/dev/null; sleep 1; echo no >&2; exit 2') });
    const { pid, events } = await haveResident();
    const asked = ask('claude', event());
    await vi.waitFor(async () => expect(Number((await look())?.events)).toBe(events), 1000);
    expect(await cli.run(['--version'])).toMatchObject({ exitCode: 0 });
    await ask('stop', '');
    expect(await asked).toMatchObject(DENIED);
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
    expect(await look()).toBeUndefined();
  });
});

it('stays after an event', async () => {
  await cli.userSettings({ BeforeTool: GUARD });
  const { pid } = await haveResident();
  await askResident(event());
  // Longer than anything that an event starts may take.
  for (const over = performance.now() + 6000; performance.now() < over; await sleep(500)) {
    expect((await look())?.pid).toBe(pid);
  }
});

it('is found in a home whose path is as long as that of a socket may be', async () => {
  const { socket } = await haveResident();
  const HOME = join(cli.home, 'x'.repeat(105 - socket.length));
  await mkdir(HOME);
  const { pid, socket: longest } = await haveResident({ HOME });
  end(pid);
  expect(longest).toHaveLength(106);
});

describe('many at once', () => {
  it('have one resident, whoever starts it', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask('claude', event('forbidden'))),
    );
    for (const answer of answers) expect(answer).toMatchObject(DENIED);
    await haveResident();
    // Those that came too late end by themselves.
    await vi.waitFor(() => {
      const found = spawnSync('pgrep', ['-f', `resident serve --socket ${run()}/`]);
      expect(String(found.stdout).trim().split('\n')).toHaveLength(1);
    }, 10_000);
  });

  it('have a long answer to its end, however slowly it is read', async () => {
    const input = { command: 'x'.repeat(3_000_000) };
    await writeFile(join(cli.home, 'said.json'), JSON.stringify(saysInput(input)));
    await cli.userSettings({ BeforeTool: group('cat >/dev/null; cat "$HOME/said.json"') });
    const { socket } = await haveResident();
    const { stdout } = await execa(process.execPath, ['-e', SLOW_READER, socket], {
      cwd: cli.project,
      env: cli.env,
      extendEnv: false,
      input: event(),
    });
    const [, code, out] = /^\.*=(\d+) (\d+) \d+$/m.exec(stdout) ?? [];
    expect(code).toBe('0');
    expect(Number(out)).toBeGreaterThan(3_000_000);
    expect(stdout.slice(stdout.indexOf('\n') + 1).trimEnd().length).toBe(Number(out) - 1);
  });

  it('have each its own answer, of sixteen sessions', async () => {
    await cli.userSettings({
      BeforeTool: group(`cat >/dev/null; echo "$WHO" >&2; exit 2`),
    });
    await haveResident();
    const sessions = Array.from({ length: 16 }, (_, index) => String(index));
    for (let round = 0; round < 3; round += 1) {
      const said = await Promise.all(
        sessions.map((who) =>
          ask('claude', event('true', { session_id: `s${who}` }), { WHO: who }),
        ),
      );
      for (const [index, { stdout }] of said.entries()) {
        expect(stdout).toContain(`"permissionDecisionReason":"${index}"`);
      }
    }
  });
});

it('an agent that gives up has its hooks ended', async () => {
  const file = join(cli.home, 'pid');
  await cli.userSettings({ BeforeTool: group(`echo $$ > '${file}'; sleep 60; true`) });
  await haveResident();
  const asked = start('claude', event());
  const pid = await vi.waitFor(
    async () => Number(await readFile(file, 'utf8')) || Promise.reject(new Error('not yet')),
    5000,
  );
  asked.kill('SIGKILL');
  await asked;
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 10_000);
});

async function breakProgram(): Promise<void> {
  await rm(join(cli.home, 'bin/hookstack'));
  await writeFile(join(cli.home, 'bin/hookstack'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
}

describe('where no process can be started that would ask', () => {
  it('it is no, where a guard of the user was configured', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { pid } = await haveResident();
    await askResident(event());
    end(pid);
    await breakProgram();
    const { exitCode, stderr } = await ask('claude', event());
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('a guard is configured') as string,
    });
  });

  it('the project is looked for wherever an agent names it', async () => {
    const source = await readFile(CLIENT, 'utf8');
    const named = source.match(/\w+_PROJECT_DIR/gu);
    const variables = Object.values(dialects).flatMap((spoken) => spoken.projectVariable ?? []);
    expect(named?.toSorted()).toEqual(variables.toSorted());
  });

  it('the agent goes on, where none was', async () => {
    await cli.userSettings({ BeforeTool: group('cat >/dev/null') });
    const { pid } = await haveResident();
    await askResident(event());
    end(pid);
    await breakProgram();
    expect(await ask('claude', event())).toMatchObject({ exitCode: 127 });
  });
});

describe('hookstack resident', () => {
  it('says what is there, and stops it', async () => {
    const own = join(cli.home, 'bin/hookstack');
    const client = spawn(own, ['resident'], { cwd: cli.project, env: cli.env });
    const [exitCode] = (await once(client, 'close')) as [number];
    expect(exitCode).toBe(1);
  });

  it('is started by the client only', async () => {
    const { exitCode, stderr } = await cli.runProgram([
      'resident',
      'serve',
      '--socket',
      '/tmp/x.sock',
    ]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('hookstack-hook');
  });
});

describe('what it has of whoever starts it', () => {
  it('is no descriptor, for which others would wait', async () => {
    await cli.userSettings({});
    const lock = join(cli.home, 'lock');
    const command = `exec 9>'${lock}'; flock 9; exec '${join(cli.home, 'bin/hookstack-hook')}' claude`;
    const options = { cwd: cli.project, env: cli.env, extendEnv: false, input: event() };
    await execa('bash', ['-c', command], options);
    await haveResident();
    expect(spawnSync('flock', ['-n', lock, 'true']).status).toBe(0);
  });

  it('is no variable by which Node runs other code', async () => {
    const file = await cli.write(join(cli.home, 'evil.cjs'), `process.exit(3)`);
    await cli.userSettings({ BeforeTool: GUARD });
    await ask('claude', event('forbidden'), { NODE_OPTIONS: `--require=${file}` });
    expect(await look()).toBeUndefined();
    await expect(readdir(run())).rejects.toThrow('ENOENT');
  });

  it('is its Node: one that somebody else finds first has another resident', async () => {
    const { pid } = await haveResident();
    const folder = join(cli.home, 'other');
    const node = await cli.write(
      join(folder, 'node'),
      `#!/bin/sh\nexec '${process.execPath}' "$@"\n`,
    );
    await chmod(node, 0o755);
    const other = { PATH: `${folder}:${cli.env['PATH']}` };
    const { exitCode, stdout } = await ask('status', '', other);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect((await look())?.pid).toBe(pid);
  });

  it('is no soft limit of open files, which Node raises anyway', async () => {
    await cli.userSettings({ BeforeTool: GUARD });
    const { events } = await haveResident();
    const client = join(cli.home, 'bin/hookstack-hook');
    const options = { cwd: cli.project, env: cli.env, extendEnv: false, input: event('forbidden') };
    const { stdout } = await execa(
      'bash',
      ['-c', `ulimit -Sn 256; exec '${client}' claude`],
      options,
    );
    expect(stdout).toContain('"deny"');
    expect((await look())?.events).toBe(events + 1);
  });
});

it('ends once its package is gone, and the next event is answered by the one that is there', async () => {
  await cli.userSettings({ BeforeTool: GUARD });
  const copy = join(cli.home, 'copy');
  await cp(join(CLIENT, '..'), join(copy, 'dist'), { recursive: true });
  await copyFile(join(CLIENT, '../../package.json'), join(copy, 'package.json'));
  await symlink(join(CLIENT, '../../node_modules'), join(copy, 'node_modules'));
  await rm(join(cli.home, 'bin/hookstack-hook'));
  await symlink(join(copy, 'dist/hookstack-hook.sh'), join(cli.home, 'bin/hookstack-hook'));
  const { pid } = await haveResident();
  // As an update does: the same place, and other files.
  await rename(join(copy, 'dist/cli.cjs'), join(copy, 'dist/old.cjs'));
  await copyFile(join(copy, 'dist/old.cjs'), join(copy, 'dist/cli.cjs'));
  expect(await ask('claude', event('forbidden'))).toMatchObject(DENIED);
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), 20_000);
});

/** Runs a script where its first argument is a small drive of its own; not everywhere is that allowed. */
function onSmallDrive(script: string, input = '') {
  const text = `mount -t tmpfs -o size=256k,mode=700 none "$1" && ${script}`;
  const args = ['-rm', 'sh', '-c', text, 'sh', cli.home, cli.project, CLIENT];
  return execa('unshare', args, { env: cli.env, extendEnv: false, input, reject: false });
}

describe('on a full disk', async () => {
  const isAllowed = (await execa('unshare', ['-rm', 'true'], { reject: false })).exitCode === 0;

  it.skipIf(!isAllowed)('each event has its answer, and nothing is left', async () => {
    const settings = JSON.stringify({ enableHooks: true, hooks: { BeforeTool: GUARD } });
    const rounds = ['forbidden', 'true', 'forbidden', 'true', 'forbidden'];
    const asks = rounds.map((each) => `printf %s '${event(each)}' | "$3" claude; echo "= $?"`);
    const script = `mkdir "$1/.llxprt" && cd "$2" && cat > "$1/.llxprt/settings.json" &&
      { cat /dev/zero > "$1/filler" 2>/dev/null; ${asks.join('\n')}
      "$3" stop >/dev/null; ls "$1/.llxprt/run" "$1/.llxprt/compiled" >&2; }`;
    const { stdout, stderr } = await onSmallDrive(script, settings);
    expect(stderr).not.toMatch(/\.tmp|\.code\.|\.sock/u);
    const answers = stdout.split(/^= 0$/mu).map((text) => text.includes('"deny"'));
    expect(answers).toEqual([true, false, true, false, true, false]);
  });
});

it('notes guards of the user while another project has its hooks off', async () => {
  await cli.userSettings({ BeforeTool: GUARD });
  await haveResident();
  await askResident(event());
  const other = join(cli.home, 'other');
  await cli.write(join(other, '.llxprt/settings.json'), { enableHooks: false });
  await askResident(JSON.stringify({ ...(JSON.parse(event()) as object), cwd: other }));
  expect((await readFile(join(run(), 'guards'), 'utf8')).split('\n')).toContain('/');
});
