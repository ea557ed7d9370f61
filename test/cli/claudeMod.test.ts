import { access, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { receivableEvents } from '../../src/dialects/reverse.js';
import { Cli, CLIENT, group, MAIN, saying } from './helpers.js';

const cli = new Cli();
const FOLDER_OF_MOD = new URL('claude-mod/', pathToFileURL(CLIENT));
const DENY = group('if grep -q forbidden; then echo no >&2; exit 2; fi', { onFailure: 'deny' });

type Fields = Record<string, unknown>;
type Next = (e: Fields) => unknown;
type Handler = ($: object, e: Fields, next: Next) => unknown;

/** Claude Code, as far as the mod sees it: who it is, programs, and sockets. */
class Host {
  readonly hooks = new Map<string, { run: Handler; fail: Handler }>();
  readonly env: NodeJS.ProcessEnv = {
    ...cli.env,
    PATH: `${join(cli.home, 'bin')}:${cli.env['PATH']}`,
  };
  readonly asked: string[] = [];
  readonly told: string[] = [];

  readonly $ = {
    session: {
      id: () => Promise.resolve('s1'),
      cwd: () => Promise.resolve(cli.project),
      root: () => Promise.resolve(cli.project),
      messages: () =>
        Promise.resolve([{ role: 'user', content: [{ type: 'text', text: 'a prompt' }] }]),
    },
    env: {
      set: (name: string, value: string) => Promise.resolve(void (this.env[name] = value)),
    },
    ui: { log: (line: string) => void this.told.push(line) },
    process: {
      run: async (
        [program = '', ...args]: string[],
        { env, stdin = '' }: { env: NodeJS.ProcessEnv; stdin?: string },
      ) => {
        this.asked.push(args.join(' '));
        const { failed, exitCode, stdout, stderr } = await execa(program, args, {
          env: { ...this.env, ...env },
          extendEnv: false,
          cwd: cli.project,
          input: stdin,
          reject: false,
        });
        if (failed && exitCode === undefined) throw new Error('failed to start');
        return { exitCode, stdout, stderr };
      },
    },
    http: {
      fetch: async (url: string, { socketPath, body }: { socketPath: string; body: string }) => {
        this.asked.push('http');
        const asking = request(url, { method: 'POST', socketPath });
        const response = await new Promise<Parameters<typeof text>[0] & { statusCode?: number }>(
          (resolve, reject) => {
            asking.once('response', resolve).once('error', reject).end(body);
          },
        );
        return { status: response.statusCode, text: await text(response) };
      },
    },
  };

  static async load(): Promise<Host> {
    const host = new Host();
    const module = new URL(`hooks/register.mjs?${performance.now()}`, FOLDER_OF_MOD).href;
    const { register } = (await import(/* @vite-ignore */ module)) as {
      register: (on: (event: string, run: Handler) => { catch: (fail: Handler) => void }) => void;
    };
    register((event, run) => ({ catch: (fail) => void host.hooks.set(event, { run, fail }) }));
    return host;
  }

  async raise(event: string, e: Fields, next: Next = () => ({})): Promise<unknown> {
    const { run, fail } = this.hooks.get(event) ?? {};
    try {
      return await run?.(this.$, e, next);
    } catch {
      return fail?.(this.$, e, next);
    }
  }

  call(command: string, next: Next = () => RESULT) {
    return this.raise('tool.call', { tool: 'Bash', tool_use_id: 't1', command }, next);
  }

  /** @returns what is shown of a step of the model, and what it gives */
  async step(chunks: readonly Fields[], result: Fields) {
    const steps = (await this.raise('turn.step', { model: 'm', turnId: 'u', index: 0 }, () =>
      Object.assign(yielding(chunks), { result: Promise.resolve(result) }),
    )) as AsyncGenerator<Fields, Fields>;
    const shown: Fields[] = [];
    for (let step = await steps.next(); ; step = await steps.next()) {
      if (step.done) return { shown, result: step.value };
      shown.push(step.value);
    }
  }
}

async function* yielding(chunks: readonly Fields[]) {
  yield* chunks;
}

const RESULT = { ref: 1, result: { stdout: 'secret', stderr: '', interrupted: false } };
const ANSWER = [
  { kind: 'text', index: 0, text: 'a secret' },
  { kind: 'tool', index: 1, id: 't1', name: 'Bash' },
  { kind: 'input', index: 1, json: '{}' },
  { kind: 'stop', stopReason: 'tool_use', usage: null },
];

interface Status {
  readonly pid: number;
  readonly socket: string;
}

async function haveResident(host: Host): Promise<Status> {
  return vi.waitFor(async () => {
    await host.$.process.run(['hookstack-hook', 'claude'], { env: {}, stdin: '{}' });
    const { exitCode, stdout } = await host.$.process.run(['hookstack-hook', 'status'], {
      env: {},
    });
    if (exitCode !== 0) throw new Error('not yet');
    host.asked.length = 0;
    return JSON.parse(stdout) as Status;
  }, 10_000);
}

beforeEach(async () => {
  await mkdir(join(cli.home, 'bin'));
  await symlink(process.execPath, join(cli.home, 'bin/node'));
  await symlink(MAIN, join(cli.home, 'bin/hookstack'));
  await symlink(CLIENT, join(cli.home, 'bin/hookstack-hook'));
});

afterEach(async () => {
  await cli.runProgram(['resident', 'stop']);
});

const anEvent = (session_id: string) =>
  JSON.stringify({ session_id, hook_event_name: 'PreToolUse', tool_name: 'Bash' }).replace(
    /\}$/u,
    ',"tool_input":{"command":"forbidden"}}',
  );
const send = (input: string, HOOKSTACK_MOD: string) =>
  execa(join(cli.home, 'bin/hookstack-hook'), ['claude'], {
    env: { ...cli.env, HOOKSTACK_MOD },
    extendEnv: false,
    cwd: cli.project,
    input,
    reject: false,
  });

const file = () => join(cli.home, '.claude/settings.json');
const install = (...args: string[]) => cli.run(['install', '--into', 'claude', '--mod', ...args]);

async function haveClaude(version: string, exitCode = 0): Promise<void> {
  const program = join(cli.home, 'bin/claude');
  await writeFile(
    program,
    `#!/bin/sh\n[ "$1" = --version ] && { echo '${version} (Claude Code)'; exit; }\necho refused; exit ${exitCode}\n`,
  );
  await chmod(program, 0o755);
}

const withClaude = (...args: string[]) =>
  cli.run(['install', '--into', 'claude', '--mod', ...args], {
    env: { PATH: `${join(cli.home, 'bin')}:${cli.env['PATH']}` },
  });

describe('the mod', () => {
  it('puts a call to the process that stays, and starts none of its own', async () => {
    await cli.userSettings({ BeforeTool: DENY });
    const host = await Host.load();
    await haveResident(host);
    const next = vi.fn(() => RESULT);
    expect(await host.call('forbidden', next)).toEqual({ deny: 'no' });
    expect(next).not.toHaveBeenCalled();
    expect(await host.call('fine', next)).toEqual(RESULT);
    expect(host.asked).toEqual(['mod', 'http', 'http', 'http']);
  });

  it('asks a process of its own where that one is killed while a guard is asked', async () => {
    const command = `[ -e "$HOME/killed" ] && { echo no >&2; exit 2; }; touch "$HOME/killed"; kill -9 "$(cat "$HOME/pid")"; sleep 5`;
    await cli.userSettings({ BeforeTool: group(command, { onFailure: 'deny' }) });
    const host = await Host.load();
    const { pid } = await haveResident(host);
    await writeFile(join(cli.home, 'pid'), String(pid));
    expect(await host.call('x')).toEqual({ deny: 'no' });
    expect(host.asked).toEqual(['mod', 'http', 'claude']);
  });

  it('denies calls and prompts where nobody can be asked', async () => {
    const host = await Host.load();
    await rm(join(cli.home, 'bin/hookstack-hook'));
    const unasked = expect.stringContaining('could not be asked') as string;
    const next = vi.fn(() => RESULT);
    expect(await host.call('x', next)).toEqual({ deny: unasked });
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'x' };
    expect(await host.raise('classic.UserPromptSubmit', prompt, next)).toEqual({ block: unasked });
    expect(next).not.toHaveBeenCalled();
  });

  it('changes arguments, also those that are called as Claude Code calls its own', async () => {
    const tool_input = { tool: 'Read', command: 'other' };
    await cli.userSettings({ BeforeTool: group(saying({ hookSpecificOutput: { tool_input } })) });
    const host = await Host.load();
    const next = vi.fn(() => RESULT);
    await host.call('x', next);
    const changed = { command: 'other', $shadowed: { tool: 'Read' } };
    expect(next).toHaveBeenCalledWith({ tool: 'Bash', tool_use_id: 't1', ...changed });
  });

  it('replaces what a command gave, and the text of one that failed', async () => {
    const said = saying({ hookSpecificOutput: { tool_response: '***' } });
    await cli.userSettings({ AfterTool: group(said) });
    const host = await Host.load();
    expect(await host.call('x')).toMatchObject({ result: { stdout: '***' } });
    const failed = await host.call('x', async () => {
      const e = { tool_use_id: 't1', error: 'Exit code 3\nsecret' };
      await host.raise('classic.PostToolUseFailure', e);
      return { isError: true, result: 'secret', text: 'Exit code 3\nsecret' };
    });
    expect(failed).toEqual({ deny: '***' });
  });

  it('has the person asked where settings hooks would be, and ends after a stop', async () => {
    await cli.userSettings({
      BeforeTool: group(
        `if grep -q ends; then echo '{"continue":false,"stopReason":"end"}'; else echo '{"decision":"ask","reason":"sure?"}'; fi`,
      ),
    });
    const host = await Host.load();
    let question: unknown;
    await host.call('x', async () => {
      question = await host.raise('classic.PreToolUse', { tool_use_id: 't1' });
      return RESULT;
    });
    expect(question).toEqual({ ask: 'sure?' });
    expect(await host.call('ends')).toEqual({ deny: 'end' });
    const batch = await host.raise('classic.PostToolBatch', { hook_event_name: 'PostToolBatch' });
    expect(batch).toEqual({ preventContinuation: true, stopReason: 'end' });
  });

  it('tells hooks of sub-agents and batches, and what they say', async () => {
    const said = saying({ hookSpecificOutput: { additionalContext: 'Mind it.' } });
    await cli.userSettings({ SubagentStart: group(said), ToolBatchEnd: group(said) });
    const host = await Host.load();
    const inside = { agent_id: 'a1', agent_type: 'Explore' };
    for (const event of ['SubagentStart', 'PostToolBatch']) {
      const answer = await host.raise(`classic.${event}`, { hook_event_name: event, ...inside });
      expect(answer).toMatchObject({ additionalContext: ['Mind it.'] });
    }
  });

  it('holds an answer of the model until hooks have read it', async () => {
    const said = saying({ hookSpecificOutput: { llm_response: { text: 'a ***' } } });
    await cli.userSettings({ AfterModel: group(said) });
    const host = await Host.load();
    const { shown, result } = await host.step(ANSWER, { answer: 'a secret', toolUses: [1] });
    expect(shown).toEqual([{ ...ANSWER[0], text: 'a ***' }, ...ANSWER.slice(1)]);
    expect(result).toEqual({ answer: 'a ***', toolUses: [1] });
  });

  it('drops an answer that hooks refuse, with its calls', async () => {
    await cli.userSettings({
      AfterModel: group(saying({ continue: false, stopReason: 'refused' })),
    });
    const host = await Host.load();
    const { shown, result } = await host.step(ANSWER, { usage: null });
    expect(JSON.stringify([shown, result])).not.toContain('secret');
    expect(result).toMatchObject({ answer: 'refused', toolUses: [], stopReason: 'end_turn' });
  });

  it('is answered at no path but that which was given to its process', async () => {
    const host = await Host.load();
    const { socket } = await haveResident(host);
    const { run } = host.$.process;
    const { stdout } = await run(['hookstack-hook', 'mod'], { env: {} });
    const { path } = JSON.parse(stdout) as { path: string };
    const post = (at: string) =>
      host.$.http.fetch(`http://x${at}`, { socketPath: socket, body: '{}' });
    expect([(await post(path)).status, (await post(`${path}0`)).status]).toEqual([200, 404]);
  });

  it('lets the model speak at once where no hook waits for that', async () => {
    await cli.userSettings({ BeforeTool: DENY });
    const host = await Host.load();
    await haveResident(host);
    await host.call('x');
    host.asked.length = 0;
    expect((await host.step(ANSWER, {})).shown).toEqual(ANSWER);
    expect(host.asked).toEqual([]);
  });
});

describe('settings hooks beside the mod', () => {
  it('say nothing in the session in which the mod asks, and in no other one', async () => {
    await cli.userSettings({ BeforeTool: DENY });
    expect(await send(anEvent('s1'), 's1')).toMatchObject({ exitCode: 0, stdout: '' });
    for (const other of ['s2', '', '*', '?1', 's1","x']) {
      const { stdout } = await send(anEvent('s1'), other);
      expect(stdout, other).toContain('"deny"');
    }
  });

  it('stand behind it at each event that Claude Code sends', async () => {
    const behind = new URL('hooks/hooks.json', FOLDER_OF_MOD);
    const { hooks } = JSON.parse(await readFile(behind, 'utf8')) as { hooks: object };
    expect(Object.keys(hooks).toSorted()).toEqual([...receivableEvents('claude')].toSorted());
  });
});

describe('install --mod', () => {
  const BEFORE = `{
  // mine
  "enabledPlugins": { "other@place": true },
  "theme": "dark" // keep
}
`;
  it('writes a folder and two keys, twice the same, and takes all back byte for byte', async () => {
    await cli.write(file(), BEFORE);
    expect(await install()).toMatchObject({ exitCode: 0 });
    const after = await readFile(file(), 'utf8');
    expect(after).toContain('// mine');
    const folder = join(cli.home, '.llxprt/claude-mod');
    expect(after).toContain(JSON.stringify(folder));
    expect(after).toContain('"hookstack@hookstack": true');
    await install();
    expect(await readFile(file(), 'utf8')).toBe(after);
    const module = await readFile(join(folder, 'hooks/register.mjs'), 'utf8');
    expect(module).toContain(`const PROGRAM = "${CLIENT}"`);
    expect(await install('--undo')).toMatchObject({ exitCode: 0 });
    expect(await readFile(file(), 'utf8')).toBe(BEFORE);
    await expect(access(folder)).rejects.toThrow('ENOENT');
  });

  it('leaves an empty object of the user as it was, and writes nothing with --dry-run', async () => {
    const before = '{ "enabledPlugins": {}, "extraKnownMarketplaces": {} }\n';
    await cli.write(file(), before);
    const { stdout } = await install('--dry-run');
    expect(stdout).toContain('+');
    expect(await readFile(file(), 'utf8')).toBe(before);
    await install();
    await install('--undo');
    expect(await readFile(file(), 'utf8')).toBe(before);
  });

  it('refuses a Claude Code in which a mod can be passed by, and one that does not take it', async () => {
    await haveClaude('2.1.289');
    const old = await withClaude();
    expect(old).toMatchObject({ exitCode: 2 });
    expect(old.stderr).toContain('update it to 2.1.290');
    await haveClaude('2.1.331', 1);
    const other = await withClaude();
    expect(other).toMatchObject({ exitCode: 2 });
    expect(other.stderr).toContain('does not take the mod');
    await expect(access(file())).rejects.toThrow('ENOENT');
    await haveClaude('2.1.331');
    expect(await withClaude()).toMatchObject({ exitCode: 0 });
  });

  it('is for Claude Code alone', async () => {
    const { exitCode, stderr } = await cli.run(['install', '--into', 'gemini', '--mod']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--into claude')]);
  });
});
