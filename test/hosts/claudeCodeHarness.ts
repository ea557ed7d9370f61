import {
  modelScenarioNames,
  type Difference,
  type Harness,
  type Turn,
} from '../conformance/conformance.js';
import { claudeLoop, type Answer } from './claudeLoop.js';
import { CLAUDE_MOMENTS } from './claudeMoments.js';
import { hookCommand } from './hookCommand.js';

const NO_MODEL_EVENTS: Difference = {
  instead: 'no model events',
  isSeen: ({ read, sent }) => read.length === 0 && sent.length > 0,
};

/** Claude Code with `hookstack hook` in its settings. It cannot run offline: a loop does what its documentation says. */
export const claudeCodeHarness: Harness = {
  host: 'Claude Code',
  run,
  differences: {
    ...Object.fromEntries(modelScenarioNames.map((name) => [name, NO_MODEL_EVENTS])),
    ...CLAUDE_MOMENTS,
  },
};

async function run(turn: Turn) {
  const send = await hookCommand(turn, 'claude');
  const ended = await claudeLoop(turn, {
    prompt: turn.prompt,
    systemPrompt: turn.systemInstruction,
    signal: turn.signal,
    show: turn.show,
    async fire(event, fields): Promise<Answer> {
      const { blocked, json } = await send(event, {
        agent_type: turn.session.agent,
        ...asMcp(fields),
      });
      if (blocked === undefined) return json;
      const hookSpecificOutput = { permissionDecision: 'deny', permissionDecisionReason: blocked };
      return event === 'PreToolUse' ? { hookSpecificOutput } : { reason: blocked };
    },
    async ask(toolName, input) {
      const request = { toolName, input: { ...input } };
      const { decision, reason } = await turn.approver(request, { signal: turn.signal });
      return { behavior: decision, ...(reason && { message: reason }) };
    },
  });
  turn.signal.throwIfAborted();
  return 'text' in ended ? ended : { text: '', stopped: ended.stopReason };
}

/** Claude Code has no tools of others but those of MCP servers, and a bare name would be that of another agent's tool. */
function asMcp(fields: object): object {
  return 'tool_name' in fields
    ? { ...fields, tool_name: `mcp__stage__${String(fields.tool_name)}` }
    : fields;
}
