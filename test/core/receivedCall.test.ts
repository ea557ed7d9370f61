import { expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { receive } from '../../src/dialects/reverse.js';
import type { Received } from '../../src/protocol/received.js';
import { ToolCalls } from '../../src/hosts/claude/toolCalls.js';
import { aiHooks, ToolRefusedError } from '../../src/hosts/ai.js';
import type { ToolMiddleware } from '../../src/stack.js';

type Hooks = NonNullable<ConfigOptions['hooks']>;

const COMMON = { session_id: 'one', tool_name: 'Bash', tool_use_id: 'call_1' };

function event(hook_event_name: string, fields: object): Received {
  const received = receive('claude', { ...COMMON, hook_event_name, ...fields });
  if (!received) throw new Error('no event of ours');
  return received;
}

function callsOf(hooks: Hooks, rename?: (command: unknown) => string) {
  const config = new Config({ enableHooks: true, hooks });
  config.use('tool', async (call, next) => {
    if (rename) call.input = { command: rename(call.input['command']) };
    await next();
  });
  return new ToolCalls(config);
}

function command(text: string, dialect?: 'claude') {
  return { ...(dialect && { dialect }), hooks: [{ type: 'command' as const, command: text }] };
}

const toPwd: ToolMiddleware = async (call, next) => {
  call.input = { command: 'pwd' };
  await next();
};

const refuse = async () => ({ decision: 'deny' }) as const;

it('shows hooks the arguments with which the agent has run the tool', async () => {
  const calls = callsOf({ AfterTool: [command('jq -c "{systemMessage: .tool_input.command}"')] });
  await calls.decide(event('PreToolUse', { tool_input: { command: 'ls' } }), {});
  const ran = { tool_input: { command: 'ls -a' }, tool_response: 'out' };
  const verdict = await calls.decide(event('PostToolUse', ran), {});
  expect(verdict.context?.join()).toContain('ls -a');
});

it('blocks where hooks ask about arguments that middleware made of those of another hook', async () => {
  const allow = JSON.stringify({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: { behavior: 'allow', updatedInput: { command: 'pwd' } },
    },
  });
  const ask = `grep -q whoami && printf '%s' '{"decision":"ask","reason":"Sure?"}' || true`;
  const hooks = {
    PermissionRequest: [command(`printf '%s' '${allow}'`, 'claude')],
    BeforeTool: [command(ask)],
  } as Hooks;
  const calls = callsOf(hooks, () => 'whoami');
  const asked = event('PermissionRequest', { tool_input: { command: 'ls' } });
  expect((await calls.decide(asked, {})).kind).toBe('block');
});

it('asks the user of the agent about arguments that middleware changed after hooks had seen others', async () => {
  const ask = `jq -c '{decision: "ask", reason: .tool_input.command}'`;
  const hooks = { BeforeTool: [command(ask)] };
  const config = new Config({ enableHooks: true, hooks, approver: refuse });
  config.use('tool', toPwd, { before: 'execute' });
  const asked = event('PreToolUse', { tool_input: { command: 'ls' } });
  const verdict = await new ToolCalls(config).decide(asked, {});
  expect(verdict).toMatchObject({ kind: 'ask', input: { command: 'pwd' } });
});

it('takes no question back where hooks have none about what middleware made of the arguments', async () => {
  const ask = `grep -q ls && printf '%s' '{"decision":"ask","reason":"Sure?"}' || true`;
  const config = new Config({ enableHooks: true, hooks: { BeforeTool: [command(ask)] } });
  config.use('tool', toPwd, { before: 'execute' });
  const asked = event('PreToolUse', { tool_input: { command: 'ls' } });
  const verdict = await new ToolCalls(config).decide(asked, {});
  expect(verdict).toMatchObject({ kind: 'ask', reason: 'Sure?' });
});

it('keeps what hooks said of the arguments of the model where middleware changed them', async () => {
  const note = `jq -c 'if .tool_input.command == "ls" then {systemMessage: "prefer rg", suppressOutput: true} else {} end'`;
  const failing = 'grep -q ls && exit 1 || true';
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool: [command(note), command(failing)] },
  });
  config.use('tool', toPwd, { after: 'beforeTool' });
  const asked = event('PreToolUse', { tool_input: { command: 'ls' } });
  const verdict = await new ToolCalls(config).decide(asked, {});
  expect(verdict).toMatchObject({
    kind: 'none',
    input: { command: 'pwd' },
    context: [expect.stringContaining('prefer rg')],
    isHidden: true,
    hasFailed: true,
  });
});

it('says once what hooks say of both arguments', async () => {
  const config = new Config({
    enableHooks: true,
    hooks: { BeforeTool: [command(`printf '{"systemMessage":"careful"}'`)] },
  });
  config.use('tool', toPwd, { after: 'beforeTool' });
  const asked = event('PreToolUse', { tool_input: { command: 'ls' } });
  const { context } = await new ToolCalls(config).decide(asked, {});
  expect(context).toHaveLength(1);
});

it('takes a result without a text for a refusal where no tool has run', async () => {
  const config = new Config();
  config.use('tool', async (call) => {
    call.result = { returnDisplay: 'no' } as never;
  });
  const { look } = aiHooks(config).wrapTools({ look: { execute: async () => 'Seen.' } });
  await expect(look.execute()).rejects.toThrow(ToolRefusedError);
});
