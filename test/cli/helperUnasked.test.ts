import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { DialectName } from '../../src/protocol/types.js';
import { Cli } from './helpers.js';
import { common, haveHook, SAID, send, sendToProgram } from './hookHelpers.js';

const cli = new Cli();

const GUARD = { onFailure: 'deny' };
const start = (fields: object) => ({ hook_event_name: 'SubagentStart', ...fields });
const PROMPT = { hook_event_name: 'UserPromptSubmit', prompt: 'Go.' };
const inside = { agent_id: 'a1', agent_type: 'Explore' };
const call = (fields: object = {}) => ({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'ls' },
  tool_use_id: 'c1',
  ...fields,
});
const denied = (reason: RegExp) => ({
  hookSpecificOutput: {
    permissionDecision: 'deny',
    permissionDecisionReason: expect.stringMatching(reason) as string,
  },
});

/** What a call is answered. */
const ask = async (fields: object = {}, agent: DialectName = 'claude') =>
  (await send(cli, agent, call(fields))).json;

const BLOCKED = denied(/^no$/u);

describe('a start that guards could not be asked about', () => {
  it.each<[DialectName, object]>([
    ['claude', {}],
    ['codex', { turn_id: 't1' }],
    ['qwen', {}],
    ['copilot', {}],
  ])('denies the tools of that sub-agent: %s', async (agent, fields) => {
    await haveHook(cli, GUARD);
    const within = { HOOKSTACK_RUNNING: 's1' };
    await send(cli, agent, start({ ...fields, ...inside }), {}, within);
    const reason = /hooks could not be asked \("hook"\): HOOKSTACK_RUNNING/u;
    expect(await ask({ ...fields, ...inside }, agent)).toMatchObject(denied(reason));
    expect(await ask({ ...fields, ...inside, agent_id: 'a2' }, agent)).toEqual({});
    expect(await ask(fields, agent)).toEqual({});
  });

  it('goes on where no guard is', async () => {
    await haveHook(cli);
    await send(cli, 'claude', start(inside), {}, { HOOKSTACK_RUNNING: 's1' });
    expect(await ask(inside)).toEqual({});
  });
});

describe('a process that ends before hooks have answered at a start', () => {
  it.each([
    ['ends', 'process.exit(0)', /the process ended before the hooks had answered/u],
    ['does not come back', 'for (;;);', /their process does not go on/u],
  ])('denies the tools of the sub-agent: code that %s', async (_what, code, reason) => {
    const middleware = [{ module: './guard.mjs', stack: 'hook' }];
    const text = `export default async (ctx, next) => { ${code}; };`;
    await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': text });
    await haveHook(cli);
    await sendToProgram(cli, 'claude', start(inside), {}, { HOOKSTACK_TIMEOUT: '2000' });
    rmSync(join(cli.home, '.llxprt', 'extensions'), { recursive: true });
    expect(await ask(inside)).toMatchObject(denied(reason));
    expect(await ask({ ...inside, agent_id: 'a2' })).toEqual({});

    // Something else is remembered of the session already.
    const name = createHash('sha256').update('claude\ns1').digest('hex');
    await cli.write(join(folder(), name), '{"tools":["Bash"]}');
    const unknown = start({ agent_type: 'Explore', agent_id: '' });
    await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': text });
    await sendToProgram(cli, 'claude', unknown, {}, { HOOKSTACK_TIMEOUT: '2000' });
    rmSync(join(cli.home, '.llxprt', 'extensions'), { recursive: true });
    expect(await ask()).toMatchObject({
      continue: false,
      stopReason: expect.stringMatching(reason),
    });
  });
});

const folder = () => join(cli.home, '.llxprt', 'sessions');

describe('where denials cannot be kept', () => {
  const UNKNOWN = /sessions.*so it is not known whether this sub-agent may work/u;
  const spoil = {
    'others may write there': () => {
      mkdirSync(folder(), { recursive: true });
      chmodSync(folder(), 0o777);
    },
    'it is a link': () => {
      mkdirSync(join(cli.home, '.llxprt'), { recursive: true });
      symlinkSync(cli.project, folder());
    },
  };

  it.each(Object.keys(spoil) as (keyof typeof spoil)[])(
    'sub-agents may run no tool if a guard is asked about them: %s',
    async (how) => {
      spoil[how]();
      await haveHook(cli, GUARD);
      await send(cli, 'claude', start(inside), SAID.block);
      expect(await ask(inside)).toMatchObject(denied(UNKNOWN));
      expect(await ask()).toEqual({});
      await haveHook(cli);
      expect(await ask(inside)).toEqual({});
    },
  );
});

describe('a sub-agent that was not to start', () => {
  it.each([
    ['a path', '../../x', 's1'],
    ['long', 'a'.repeat(10_000), '../'.repeat(4000)],
    ['with a line', 'a\nb', 's'],
  ])('is the one of this id, in this session alone: %s', async (_what, id, session) => {
    await haveHook(cli);
    const own = { agent_id: id, agent_type: 'Explore', session_id: session };
    await send(cli, 'claude', start(own), SAID.block);
    expect(await ask(own)).toMatchObject(BLOCKED);
    expect(await ask({ ...own, session_id: 's2' })).toEqual({});
    expect(await ask({ session_id: `${session}\n${id}` })).toEqual({});
  });

  it('has all tools denied where nobody knows which one it is, until the next prompt', async () => {
    await haveHook(cli);
    await send(cli, 'claude', start({ agent_id: '', agent_type: 'Explore' }), SAID.block);
    expect(await ask()).toMatchObject(BLOCKED);
    expect(await ask(inside)).toMatchObject(BLOCKED);
    const elsewhere = { ...inside, session_id: 's2', parent_session_id: 's1' };
    expect(await ask({ ...inside, session_id: 's2' })).toEqual({});
    await send(cli, 'claude', PROMPT);
    expect(await ask()).toEqual({});
    expect(await ask(inside)).toEqual({});
    expect(await ask(elsewhere)).toEqual({});
  });

  it('has all tools denied where calls do not tell whose they are', async () => {
    await haveHook(cli);
    const { hook_event_name: hookEventName, ...fields } = start(inside);
    await send(cli, 'vscode', { hookEventName, sessionId: 's1', ...fields }, SAID.block);
    const { hook_event_name: _name, ...own } = call();
    const { json } = await send(cli, 'vscode', {
      hookEventName: 'PreToolUse',
      sessionId: 's1',
      ...own,
    });
    expect(json).toMatchObject(BLOCKED);
  });

  it('is kept from its tools after a stop, also once the user has the word', async () => {
    await haveHook(cli);
    await send(cli, 'claude', start(inside), SAID.stop);
    await send(cli, 'claude', PROMPT);
    expect(await ask(inside)).toMatchObject(denied(/^end$/u));
    expect(await ask()).toEqual({});
  });

  it('is also one whose agent tells no session', async () => {
    await haveHook(cli);
    const { session_id: _session, ...others } = common(cli);
    await send(cli, 'claude', JSON.stringify({ ...others, ...start(inside) }), SAID.block);
    const { json } = await send(cli, 'claude', JSON.stringify({ ...others, ...call(inside) }));
    expect(json).toMatchObject(BLOCKED);
  });
});
