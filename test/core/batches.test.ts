import { expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { Batches } from '../../src/hosts/batch.js';
import { saying } from '../helpers/hooks.js';

it('tells the end of a batch once, and again where that was aborted', async () => {
  const told = saying({ hookSpecificOutput: { additionalContext: 'ended' } });
  const hooks = { ToolBatchEnd: [{ hooks: [told] }] };
  const config = new Config({ enableHooks: true, hooks });
  const batches = new Batches(config);
  const last = {};
  const call = { name: 'x', input: {}, output: 'ran', hasFailed: false, id: '1' };
  const end = (options: { signal?: AbortSignal } = {}) => batches.end(last, () => [call], options);
  const reason = new Error('aborted');
  await expect(end({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const ending = end();
  expect(JSON.stringify(await ending)).toContain('ended');
  expect(end()).toBe(ending);
  await config.dispose();
});
