import { expect, it } from 'vitest';
import { Cli, group, saying } from './helpers.js';
import { send } from './hookHelpers.js';

const cli = new Cli();

it('a result that cannot be replaced at its event ends the session at the next one', async () => {
  const replaced = saying({ hookSpecificOutput: { tool_response: 'Hidden.' } });
  await cli.userSettings({ AfterTool: group(replaced) });
  await send(cli, 'claude', {
    hook_event_name: 'PostToolUseFailure',
    tool_name: 'Bash',
    tool_input: { command: 'cat key; false' },
    error: 'Exit code 1\nsecret',
  });
  const { json } = await send(cli, 'claude', { hook_event_name: 'PostToolBatch' });
  expect(json).toMatchObject({ continue: false });
});
