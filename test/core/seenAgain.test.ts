import { expect, it } from 'vitest';
import { Config, HookEventName, executeToolWithHooks } from '../../src/index.js';
import { hook } from '../helpers/hooks.js';

it('runs a call whose hooks were switched off before a middleware changed its arguments', async () => {
  const hooks = { [HookEventName.BeforeTool]: [{ hooks: [hook('true', { name: 'guard' })] }] };
  const config = new Config({ enableHooks: true, trustedFolder: true, hooks });
  const change = async (call: { input: object }, next: () => Promise<void>) => {
    config.getHookSystem()?.setHookEnabled('guard', false);
    call.input = { command: 'changed' };
    await next();
  };
  config.use('tool', change, { name: 'change', after: 'beforeTool' });
  const result = await executeToolWithHooks(
    config,
    'tool',
    { command: 'given' },
    async (input) => ({
      llmContent: JSON.stringify(input),
      returnDisplay: '',
    }),
  );
  expect(result.llmContent).toBe('{"command":"changed"}');
});
