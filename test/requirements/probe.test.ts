import { it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { createModelCall } from '../../src/context.js';
import { textResponse } from '../../src/core/response.js';
it('probe', async () => {
  class B extends Config {
    override getHookSystem(): undefined {
      throw new Error('no hook system');
    }
  }
  const call = createModelCall(
    new B({ enableHooks: true }),
    { model: 'm', contents: 'hi' },
    async () =>
      (async function* () {
        yield textResponse('x');
      })(),
  );
  await call.config.getModelStack().run(call);
  for await (const c of call.stream ?? []) console.log(c.text);
});
