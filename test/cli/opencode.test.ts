import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cli, CLIENT, group, keepingInput, MAIN, saying } from './helpers.js';

const cli = new Cli();
const PLUGIN = '.opencode/plugins/hookstack.js';

interface Result {
  output?: string;
  content?: object[];
  structuredContent?: object;
  attachments?: object[];
  metadata?: Record<string, unknown>;
}
interface Part {
  type: string;
  text?: string;
  synthetic?: boolean;
  id?: string;
}
interface ToolPart {
  type: 'tool';
  tool: string;
  sessionID: string;
  callID: string;
  state: { status: string; input: object; error: string };
}

/** What opencode calls of a plugin. */
interface Hooks {
  'chat.message': (input: object, output: { message: object; parts: Part[] }) => Promise<void>;
  'tool.execute.before': (call: object, output: { args: object }) => Promise<void>;
  'tool.execute.after': (call: object, output: Result | undefined) => Promise<void>;
  'experimental.chat.messages.transform': (
    input: object,
    output: { messages: { parts: ToolPart[] }[] },
  ) => Promise<void>;
  event: (input: { event: { type: string; properties: object } }) => Promise<void>;
  dispose: () => Promise<void>;
}

/** What a plugin asks opencode: the session `child` is that of a subagent. */
class Opencode {
  readonly aborted: string[] = [];
  readonly prompts: object[] = [];
  readonly told: string[] = [];
  last: { info: object; parts: Part[] } = {
    info: { id: 'm1', role: 'assistant', time: { completed: 1 } },
    parts: [{ type: 'text', text: 'Done.' }],
  };

  readonly client = {
    app: { log: () => Promise.reject(new Error('nobody listens')) },
    tui: {
      showToast: async ({ body }: { body: { message: string } }) => this.told.push(body.message),
    },
    session: {
      get: async ({ path: { id } }: { path: { id: string } }) => ({
        data: { id, ...(id === 'child' && { parentID: 'root', agent: 'general' }) },
      }),
      abort: async ({ path: { id } }: { path: { id: string } }) => this.aborted.push(id),
      messages: async () => ({ data: [this.last] }),
      promptAsync: async ({ body }: { body: object }) => this.prompts.push(body),
    },
    mcp: { status: async () => ({ data: { git: {}, 'git.log': {} } }) },
  };

  /** Loads what `install` has written, as opencode does. */
  async load(): Promise<Hooks> {
    const file = pathToFileURL(join(cli.project, PLUGIN)).href;
    const exported = Object.values((await import(file)) as Record<string, unknown>);
    expect(exported).toHaveLength(1);
    const [plugin] = exported as ((input: object) => Promise<Hooks>)[];
    return plugin!({ client: this.client, directory: cli.project });
  }
}

let opencode: Opencode;

beforeEach(async () => {
  const bin = join(cli.home, 'bin');
  await mkdir(bin);
  await symlink(MAIN, join(bin, 'hookstack'));
  await symlink(CLIENT, join(bin, 'hookstack-hook'));
  // The program inherits it from opencode.
  vi.stubEnv('HOME', cli.home);
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  vi.stubEnv('HOOKSTACK_RESIDENT', '0');
  opencode = new Opencode();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

async function installed(hooks: Parameters<Cli['userSettings']>[0] = {}): Promise<Hooks> {
  await cli.userSettings(hooks);
  expect(await cli.run(['install', '--into', 'opencode'])).toMatchObject({ exitCode: 0 });
  return opencode.load();
}

const call = (tool: string, more = {}) => ({ tool, sessionID: 'root', callID: 'c1', ...more });
const seen = async () => JSON.parse(await cli.read('seen.json')) as object;
const prompt = (text: string) => ({
  message: { id: 'm1' },
  parts: [{ type: 'text', id: 'p1', text }] as Part[],
});

describe('install --into opencode', () => {
  it('writes a plugin without a path of this machine, once, and takes it back', async () => {
    const install = (...args: string[]) => cli.run(['install', '--into', 'opencode', ...args]);
    expect((await install('--dry-run')).stdout).toContain('opencode would run all hooks');
    expect(await readdir(cli.project)).toEqual([]);
    expect((await install()).stdout).toContain('opencode runs all hooks of the project');
    const text = await cli.read(PLUGIN);
    expect(text).toContain("FOLDER = ''");
    expect(text).not.toContain(cli.home);
    expect((await install()).stdout).toContain('nothing to do');
    expect((await install('--undo')).stdout).toContain('no more');
    expect(existsSync(join(cli.project, '.opencode'))).toBe(false);
  });

  it('leaves a file of somebody else as it is', async () => {
    await cli.write(PLUGIN, 'export const Mine = async () => ({});');
    const { stderr } = await cli.run(['install', '--into', 'opencode']);
    expect(stderr).toContain('is left as it is');
    expect(await cli.read(PLUGIN)).toContain('Mine');
  });

  it('is done by --into all where opencode has a folder of its own', async () => {
    const all = (...args: string[]) => cli.run(['install', '--into', 'all', '--dry-run', ...args]);
    await mkdir(join(cli.home, '.config/other'), { recursive: true });
    await mkdir(join(cli.home, '.codex'));
    expect((await all('--scope', 'user')).stdout).not.toContain('opencode');
    await mkdir(join(cli.home, '.config/opencode'));
    expect((await all('--scope', 'user')).stdout).toContain(
      join(cli.home, '.config/opencode/plugins/hookstack.js'),
    );
    expect((await all()).stdout).toContain(join(cli.project, PLUGIN));
  });

  it('starts the program of the project where that has one', async () => {
    const bin = join(cli.project, 'node_modules/.bin');
    await mkdir(bin, { recursive: true });
    await symlink(MAIN, join(bin, 'hookstack'));
    await symlink(CLIENT, join(bin, 'hookstack-hook'));
    await rm(join(cli.home, 'bin/hookstack-hook'));
    const hooks = await installed({
      BeforeTool: group(saying({ decision: 'block', reason: 'no' })),
    });
    expect(await cli.read(PLUGIN)).toContain("FOLDER = 'node_modules/.bin/'");
    await expect(hooks['tool.execute.before'](call('bash'), { args: {} })).rejects.toThrow(/^no$/);
  });

  it('is nothing that migrate takes over', async () => {
    await installed();
    const { exitCode, stdout } = await cli.run(['migrate', '--from', 'opencode']);
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    expect(stdout).toContain('plugins, which are functions of opencode');
  });
});

describe('a tool', () => {
  it('runs as the model wants it where no hook says anything', async () => {
    const hooks = await installed({ BeforeTool: group(keepingInput('seen.json')) });
    const args = { filePath: 'a', oldString: 'b', newString: 'c', replaceAll: true };
    const output = { args: { ...args } };
    await hooks['tool.execute.before'](call('edit', { sessionID: 'child' }), output);
    expect(output.args).toEqual(args);
    expect(await seen()).toMatchObject({
      hook_event_name: 'BeforeTool',
      session_id: 'root',
      agent: 'general',
      tool_name: 'replace',
      tool_input: { file_path: 'a', old_string: 'b', new_string: 'c', replace_all: true },
    });
  });

  it.each([
    ['a block', { decision: 'block', reason: 'Not this.' }],
    ['a question, which opencode cannot ask', { decision: 'ask', reason: 'Not this.' }],
  ])('does not run at %s, and the model reads why', async (_title, said) => {
    const matcher = '^run_shell_command$';
    const hooks = await installed({ BeforeTool: group(saying(said), { matcher }) });
    const output = { args: { command: 'git push' } };
    await expect(hooks['tool.execute.before'](call('bash'), output)).rejects.toThrow(
      /^Not this\.$/,
    );
    await hooks['tool.execute.before'](call('read'), { args: { filePath: 'a' } });
    expect(opencode.aborted).toEqual([]);
  });

  it('runs with changed arguments, in the object that opencode looks at', async () => {
    const changed = { hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { b: 2 } } };
    const hook = { type: 'command' as const, command: saying(changed) };
    const hooks = await installed({ BeforeTool: [{ dialect: 'claude', hooks: [hook] }] as never });
    const args = { a: 1, b: 1 };
    await hooks['tool.execute.before'](call('odd'), { args });
    expect(args).toEqual({ b: 2 });
  });

  it('of an MCP server has its name, whatever else begins like it', async () => {
    const hooks = await installed({ BeforeTool: group(keepingInput('seen.json')) });
    const nameOf = async (tool: string) => {
      await hooks['tool.execute.before'](call(tool), { args: { patchText: PATCH } });
      return ((await seen()) as { tool_name: string }).tool_name;
    };
    expect(await nameOf('git_push')).toBe('mcp__git__push');
    expect(await nameOf('git_log_show')).toBe('mcp__git_log__show');
    expect(await nameOf('odd_tool')).toBe('odd_tool');
    expect(await nameOf('apply_patch')).toBe('write_file');
  });
});

const PATCH = '*** Begin Patch\n*** Add File: a\n+one\n*** End Patch';

function adding(text: string) {
  return group(saying({ hookSpecificOutput: { additionalContext: text } }));
}

function failed(callID: string, error: string): ToolPart {
  const state = { status: 'error', input: { command: 'x' }, error };
  return { type: 'tool', tool: 'bash', sessionID: 'root', callID, state };
}

describe('the result of a tool', () => {
  const replacing = { hookSpecificOutput: { tool_response: '***' } };

  it('is what a hook gives in its place, and nothing else is left of it', async () => {
    const command = `tee "$LLXPRT_PROJECT_DIR/seen.json" | ${saying(replacing)}`;
    const hooks = await installed({ AfterTool: group(command) });
    const output: Result = {
      output: 'secret',
      attachments: [{}],
      metadata: { output: 'secret', exit: 3 },
    };
    await hooks['tool.execute.after'](call('bash', { args: { command: 'env' } }), output);
    expect(output).toEqual({ output: '***', metadata: { output: '***', exit: 3 } });
    expect(await seen()).toMatchObject({
      tool_input: { command: 'env' },
      tool_response: { llmContent: 'secret', metadata: { exitCode: 3 } },
    });
    const blocks: Result = {
      content: [{ type: 'text', text: 'secret' }, { type: 'image' }],
      structuredContent: { a: 'hidden' },
    };
    await hooks['tool.execute.after'](call('git_log', { args: {} }), blocks);
    expect(blocks).toEqual({ content: [{ type: 'text', text: '***' }] });
    expect(JSON.stringify(await seen())).toContain('hidden');
  });

  it('is followed by what hooks have to say of it', async () => {
    const hooks = await installed({ AfterTool: adding('Mind it.') });
    const output: Result = { output: 'said' };
    await hooks['tool.execute.after'](call('bash', { args: {} }), output);
    expect(output.output).toBe('said\n\nMind it.');
    await hooks['tool.execute.after'](call('task', { args: {} }), undefined);
  });

  it('is replaced where the tool failed, each time that the model reads it', async () => {
    const hooks = await installed({
      BeforeTool: group(saying({ decision: 'block', reason: 'Not this.' }), { matcher: 'read' }),
      AfterTool: group(`${keepingInput('seen.json')}; ${saying(replacing)}`),
    });
    const transform = hooks['experimental.chat.messages.transform'];
    for (let times = 0; times < 2; times += 1) {
      const part = failed('c2', 'a secret');
      await transform({}, { messages: [{ parts: [part] }] });
      expect(part.state.error).toBe('***');
      expect(await seen()).toMatchObject({ tool_response: { error: { message: 'a secret' } } });
    }
    await rm(join(cli.project, 'seen.json'));
    await expect(hooks['tool.execute.before'](call('read'), { args: {} })).rejects.toThrow('Not');
    const refused = failed('c1', 'Not this.');
    await transform({}, { messages: [{ parts: [refused] }] });
    expect(refused.state.error).toBe('Not this.');
    await expect(seen()).rejects.toThrow('ENOENT');
  });
});

describe('a prompt', () => {
  it('is refused, and the person is told why', async () => {
    const said = { decision: 'block', reason: 'Not a word.' };
    const hooks = await installed({ BeforeAgent: group(saying(said)) });
    const message = hooks['chat.message'];
    await expect(message({ sessionID: 'root' }, prompt('Go.'))).rejects.toThrow('Not a word.');
    expect(opencode.told).toEqual(['Not a word.']);
    await message({ sessionID: 'child' }, prompt('That of a model.'));
  });

  it('is followed by what hooks have to say, of the session once', async () => {
    const hooks = await installed({
      SessionStart: adding('It begins.'),
      BeforeAgent: adding('Mind it.'),
    });
    const first = prompt('Go.');
    await hooks['chat.message']({ sessionID: 'root' }, first);
    const added = { messageID: 'm1', sessionID: 'root', type: 'text', synthetic: true };
    expect(first.parts[1]).toEqual({ ...added, id: 'p1x', text: 'It begins.\n\nMind it.' });
    const second = prompt('On.');
    await hooks['chat.message']({ sessionID: 'root' }, second);
    expect(second.parts[1]).toMatchObject({ text: 'Mind it.' });
  });
});

describe('a stop', () => {
  it('of a subagent ends all of the session, and no tool runs until the next prompt', async () => {
    const stop = saying({ continue: false, stopReason: 'Enough.' });
    const hooks = await installed({ BeforeTool: group(stop, { matcher: '^odd$' }) });
    const before = hooks['tool.execute.before'];
    await before(call('bash'), { args: {} });
    const ofChild = call('odd', { sessionID: 'child' });
    await expect(before(ofChild, { args: {} })).rejects.toThrow('Enough.');
    expect(opencode.aborted).toEqual(['root']);
    await expect(before(call('bash'), { args: {} })).rejects.toThrow('Enough.');
    await hooks['chat.message']({ sessionID: 'root' }, prompt('Go on.'));
    await before(call('bash'), { args: {} });
  });
});

describe('an answer', () => {
  const idle = { event: { type: 'session.idle', properties: { sessionID: 'root' } } };

  it('is sent back once, and the person who ended it is not contradicted', async () => {
    const said = saying({ decision: 'block', reason: 'Go on.' });
    const hooks = await installed({ AfterAgent: group(`${keepingInput('seen.json')}; ${said}`) });
    await hooks.event(idle);
    await hooks.event(idle);
    await vi.waitFor(() => expect(opencode.prompts).toHaveLength(1), { timeout: 10_000 });
    expect(await seen()).toMatchObject({ prompt_response: 'Done.', stop_hook_active: false });
    await rm(join(cli.project, 'seen.json'));
    const own = prompt('Go on.');
    await hooks['chat.message']({ sessionID: 'root' }, own);
    opencode.last = {
      info: { id: 'm2', role: 'assistant', time: { completed: 1 }, error: {} },
      parts: [],
    };
    await hooks.event(idle);
    await hooks.dispose();
    await expect(seen()).rejects.toThrow('ENOENT');
    expect(opencode.prompts).toHaveLength(1);
  });

  it('is waited for at the end of opencode, as is the end of the session', async () => {
    const hooks = await installed({
      AfterAgent: group(keepingInput('ended.json')),
      SessionEnd: group(keepingInput('seen.json')),
    });
    await hooks.event(idle);
    await hooks.dispose();
    expect(await cli.read('ended.json')).toContain('AfterAgent');
    await hooks['chat.message']({ sessionID: 'root' }, prompt('Go.'));
    await hooks.dispose();
    expect(await seen()).toMatchObject({ hook_event_name: 'SessionEnd', session_id: 'root' });
  });
});

const program = () => join(cli.home, 'bin/hookstack-hook');

describe('a program', () => {
  it.each([
    ['is missing', undefined, 'ENOENT'],
    ['fails', '#!/bin/sh\necho odd >&2\nexit 1\n', 'ended with 1 odd'],
    ['says nothing that can be read', '#!/bin/sh\necho well\n', 'ended with 0'],
  ])('that %s lets no tool run, and that is said once', async (_title, text, why) => {
    const hooks = await installed();
    await rm(program());
    if (text !== undefined) await chmod(await cli.write(program(), text), 0o755);
    for (let times = 0; times < 2; times += 1) {
      await expect(hooks['tool.execute.before'](call('bash'), { args: {} })).rejects.toThrow(why);
    }
    const output: Result = { output: 'said' };
    await expect(hooks['tool.execute.after'](call('bash'), output)).rejects.toThrow(why);
    const part = failed('c2', 'a secret');
    await hooks['experimental.chat.messages.transform']({}, { messages: [{ parts: [part] }] });
    expect(part.state.error).toContain(why);
    await hooks['chat.message']({ sessionID: 'root' }, prompt('Go.'));
    expect(opencode.told).toHaveLength(1);
  });

  it('that cannot ask a guard refuses a prompt as well', async () => {
    const hooks = await installed();
    await rm(program());
    await chmod(await cli.write(program(), '#!/bin/sh\necho "A guard." >&2\nexit 2\n'), 0o755);
    const refused = hooks['chat.message']({ sessionID: 'root' }, prompt('Go.'));
    await expect(refused).rejects.toThrow('A guard.');
  });

  it('is not asked about a tool whose server is not known', async () => {
    const hooks = await installed();
    opencode.client.mcp.status = async () => ({ error: {} }) as never;
    const before = hooks['tool.execute.before'](call('git_log'), { args: {} });
    await expect(before).rejects.toThrow('whose tool git_log is');
  });
});
