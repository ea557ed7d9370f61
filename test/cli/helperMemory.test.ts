import { expect, it } from 'vitest';
import { Cli } from './helpers.js';
import { haveHook, SAID, send } from './hookHelpers.js';

const cli = new Cli();

const bash = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c1' };
const inside = { agent_id: 'a1', agent_type: 'Explore' };
const call = (fields: object) => ({ hook_event_name: 'PreToolUse', ...bash, ...fields });

it('a sub-agent that was not to start may run no tool, and others may', async () => {
  await haveHook(cli);
  const start = { hook_event_name: 'SubagentStart', ...inside };
  expect((await send(cli, 'claude', start, SAID.block)).json).toEqual({});
  expect((await send(cli, 'claude', call(inside))).json).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' },
  });
  expect((await send(cli, 'claude', call({}))).json).toEqual({});
  expect((await send(cli, 'claude', call({ ...inside, agent_id: 'a2' }))).json).toEqual({});
});

it('a guard that fails when a sub-agent starts keeps it from its tools', async () => {
  await haveHook(cli, { command: 'cat >/dev/null; exit 7', onFailure: 'deny' });
  await send(cli, 'claude', { hook_event_name: 'SubagentStart', ...inside });
  await haveHook(cli);
  expect((await send(cli, 'claude', call(inside))).json).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
});

it('a sub-agent may work once its start was allowed', async () => {
  const start = { hook_event_name: 'SubagentStart', ...inside };
  await haveHook(cli);
  await send(cli, 'claude', start, SAID.block);
  expect((await send(cli, 'claude', call(inside))).json).not.toEqual({});
  await send(cli, 'claude', start);
  expect((await send(cli, 'claude', call(inside))).json).toEqual({});
});

it('a denial told by one agent counts in the words of another', async () => {
  await haveHook(cli);
  await send(cli, 'claude', { hook_event_name: 'SubagentStart', ...inside }, SAID.block);
  const { json } = await send(cli, 'codex', { ...call(inside), turn_id: 't1' });
  expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

it('a prompt of a sub-agent is no word of the user after a stop', async () => {
  await haveHook(cli);
  await send(
    cli,
    'codex',
    { hook_event_name: 'PostToolUse', turn_id: 't1', ...bash, tool_response: 'x' },
    SAID.stop,
  );
  const prompt = { hook_event_name: 'UserPromptSubmit', turn_id: 't2', prompt: 'Go.' };
  await send(cli, 'codex', { ...prompt, ...inside });
  const next = { ...call({}), turn_id: 't1' };
  expect((await send(cli, 'codex', next)).json).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'deny' },
  });
  await send(cli, 'codex', prompt);
  expect((await send(cli, 'codex', next)).json).toEqual({});
});
