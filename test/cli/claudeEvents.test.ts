import { describe, expect, it } from 'vitest';
import { claude } from '../../src/dialects/claude.js';
import { PAYLOADS } from '../dialects/agentPayloads.js';
import { Cli } from './helpers.js';
import { common, haveHook, SAID, send } from './hookHelpers.js';

const cli = new Cli();

const BASH = { tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'c9' };
const NEXT = { hook_event_name: 'PreToolUse', ...BASH };
const STOPPED = { continue: false, stopReason: 'end' };
const cases = Object.entries(PAYLOADS.claude).filter(([title]) => !title.includes(' '));
/** When the agent, or its session, has ended, nothing is to be stopped any more; a permission is asked for after PreToolUse. */
const ENDED = new Set(['Stop', 'SubagentStop', 'SessionEnd', 'PermissionRequest', 'StopFailure']);

it('knows the 33 events of Claude Code', () => {
  const names = [...claude.events.map(({ name }) => name), ...claude.otherEvents];
  expect(new Set(names).size).toBe(33);
});

describe.each(cases)('a stop at %s', (event, fields) => {
  it.skipIf(ENDED.has(event))('is one at the next event as well', async () => {
    await haveHook(cli);
    await send(cli, 'claude', { ...fields, ...common(cli) }, SAID.stop);
    expect((await send(cli, 'claude', NEXT)).json).toMatchObject({
      ...STOPPED,
      hookSpecificOutput: { permissionDecision: 'deny' },
    });
    const batch = { hook_event_name: 'PostToolBatch', tool_calls: [] };
    expect((await send(cli, 'claude', batch)).json).toEqual(STOPPED);
    const end = { hook_event_name: 'Stop', stop_hook_active: false };
    expect((await send(cli, 'claude', end, SAID.block)).json).toEqual({});
  });
});

describe.each(cases)('at %s', (event, fields) => {
  it.each(['block', 'ask'] as const)('%s is heard, or the person is told', async (saying) => {
    await haveHook(cli, { onFailure: 'deny' });
    const said = await send(cli, 'claude', { ...fields, ...common(cli) }, SAID[saying]);
    const { canAsk, canBlock } = CAN[event] ?? {};
    const mustSay = saying === 'block' ? canBlock : canAsk;
    const text = JSON.stringify(said.json) + said.stderr;
    if (mustSay) expect(text).toMatch(/no|sure\?/);
    else expect(said.exitCode).toBe(0);
  });
});

const CAN: Readonly<Record<string, { canBlock?: boolean; canAsk?: boolean }>> = {
  PreToolUse: { canBlock: true, canAsk: true },
  PostToolUse: { canBlock: true },
  PostToolUseFailure: { canBlock: true },
  UserPromptSubmit: { canBlock: true, canAsk: true },
  Stop: { canBlock: true },
  SubagentStart: { canBlock: true },
  SubagentStop: { canBlock: true },
  PostToolBatch: { canBlock: true },
  PreCompact: { canBlock: true },
  SessionStart: { canBlock: true },
  SessionEnd: { canBlock: true },
  Notification: { canBlock: true },
};

it.each(claude.otherEvents)('answers nothing at %s, which hooks here do not have', async (name) => {
  await haveHook(cli);
  const { exitCode, json } = await send(cli, 'claude', { hook_event_name: name }, SAID.block);
  expect({ exitCode, json }).toEqual({ exitCode: 0, json: {} });
});
