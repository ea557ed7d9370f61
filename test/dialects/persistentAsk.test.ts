import { describe, expect, it } from 'vitest';
import { useSandbox } from '../core/helpers/sandbox.js';
import { callTools, reply } from '../core/helpers/modelAnswers.js';
import { person } from '../helpers/person.js';
import { runAnswers } from './claudeHooks.js';

const sandbox = useSandbox();

/** A hook that stays: for all of these events one process, which notes whom it has answered. */
function staying(answers: Readonly<Record<string, object>>, dialect?: 'claude') {
  const script = `
    const { appendFileSync } = require('node:fs');
    const answers = ${JSON.stringify(answers)};
    console.log('{"hookstack":1}');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, input } = JSON.parse(line);
      appendFileSync('ran', process.pid + ' ' + input.hook_event_name + '\\n');
      console.log(JSON.stringify({ id, output: answers[input.hook_event_name] }));
    });`;
  const hook = {
    type: 'command',
    command: process.execPath,
    args: ['-e', script],
    persistent: true,
  };
  const group = [{ ...(dialect && { dialect }), hooks: [hook] }];
  return Object.fromEntries(Object.keys(answers).map((event) => [event, group]));
}

const asks = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: 'It is production.',
  },
};
const decides = (decision: object) => ({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision },
});

const write = (name: string) =>
  callTools({ id: name, name: 'write_file', args: { file_path: name, content: 'text' } });

/** Runs an agent whose model writes two files. */
async function run(hooks: object, answer: Parameters<typeof person>[0]) {
  const { approver, asked } = person(answer);
  const calls = [write('a.txt'), write('b.txt'), reply('Done.')];
  const { result, logger } = await runAnswers(sandbox, hooks, calls, {}, { approver });
  const lines = sandbox.read('ran')?.trim().split('\n') ?? [];
  const ran = lines.map((line) => line.split(' '));
  return {
    asked,
    warnings: logger.warnings,
    statuses: result.toolCalls.map(({ status }) => status),
    events: ran.map(([, event]) => event),
    processes: new Set(ran.map(([pid]) => pid)).size,
    written: ['a.txt', 'b.txt'].filter((name) => sandbox.read(name) !== undefined),
  };
}

const BOTH = ['PreToolUse', 'PermissionRequest', 'PreToolUse', 'PermissionRequest'];

describe('a persistent hook of PermissionRequest', () => {
  it('allows in place of the person, what a persistent hook of PreToolUse asks about', async () => {
    const hooks = { PreToolUse: asks, PermissionRequest: decides({ behavior: 'allow' }) };
    expect(await run(staying(hooks, 'claude'), { decision: 'deny' })).toEqual({
      asked: [],
      warnings: [],
      statuses: ['success', 'success'],
      events: BOTH,
      processes: 1,
      written: ['a.txt', 'b.txt'],
    });
  });

  it('denies in place of the person', async () => {
    const deny = decides({ behavior: 'deny', message: 'Not now.' });
    const hooks = staying({ PreToolUse: asks, PermissionRequest: deny }, 'claude');
    expect(await run(hooks, { decision: 'allow' })).toMatchObject({
      asked: [],
      events: BOTH,
      processes: 1,
      written: [],
    });
  });

  it.each(['allow', 'deny'] as const)('leaves it to the person, who says %s', async (decision) => {
    const hooks = staying({ PreToolUse: asks, PermissionRequest: {} }, 'claude');
    const { asked, events, processes, written } = await run(hooks, { decision });
    expect(asked).toMatchObject([
      { event: 'BeforeTool', toolName: 'write_file', reason: 'It is production.' },
      { event: 'BeforeTool', toolName: 'write_file', reason: 'It is production.' },
    ]);
    expect({ events, processes }).toEqual({ events: BOTH, processes: 1 });
    expect(written).toEqual(decision === 'allow' ? ['a.txt', 'b.txt'] : []);
  });
});

describe('a persistent hook of our own format that asks', () => {
  it.each(['allow', 'deny'] as const)('is put to the person, who says %s', async (decision) => {
    const hooks = staying({ BeforeTool: { decision: 'ask', reason: 'It is production.' } });
    const { asked, events, processes, written } = await run(hooks, { decision });
    expect(asked.map(({ reason }) => reason)).toEqual(['It is production.', 'It is production.']);
    expect({ events, processes }).toEqual({ events: ['BeforeTool', 'BeforeTool'], processes: 1 });
    expect(written).toEqual(decision === 'allow' ? ['a.txt', 'b.txt'] : []);
  });
});
