import { describe, expect, it } from 'vitest';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { blocking, hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';
import { ask, directCalls, startHost } from './helpers.js';

const temp = useTempDir();

describe.each(['direct', 'mediated'] as const)('the log of a %s event', (way) => {
  async function fire(hooks: HookDefinitions) {
    const { bus, logger, system } = startHost({ hooks, workingDir: temp.path });
    await system.initialize();
    if (way === 'mediated') await ask(bus);
    else await directCalls.BeforeTool(system.getEventHandler());
    const records = logger.records.filter(({ namespace }) => !namespace.endsWith('registry'));
    return {
      hooks: records.flatMap(({ message, details }) =>
        message === 'BeforeTool: hook finished' ? [details] : [],
      ),
      summaries: records.flatMap(({ message, details }) =>
        message === 'BeforeTool: finished' ? [details] : [],
      ),
      diagnoses: records.filter(({ level }) => level === 'warn'),
    };
  }

  it('has one record a hook, one summary, and one diagnosis a failure', async () => {
    const log = await fire({
      BeforeTool: [
        {
          hooks: [
            hook('echo hi', { name: 'good' }),
            hook('echo oh >&2; exit 3', { name: 'bad' }),
            hook('kill -9 $$', { name: 'killed' }),
            hook('sleep 60', { name: 'slow', timeout: 50 }),
            blocking('no'),
          ],
        },
      ],
    });
    const common = { event: 'BeforeTool', type: 'command', durationMs: expect.any(Number) };
    expect(log.hooks).toEqual([
      expect.objectContaining({ ...common, hook: 'good', success: true, stdout: 'hi\n' }),
      expect.objectContaining({
        ...common,
        hook: 'bad',
        success: false,
        exitCode: 3,
        stderr: 'oh\n',
      }),
      expect.objectContaining({ ...common, hook: 'killed', success: false, signal: 'SIGKILL' }),
      expect.objectContaining({
        ...common,
        hook: 'slow',
        success: false,
        error: expect.stringContaining('timed out'),
      }),
      expect.objectContaining({ ...common, success: false, exitCode: 2, stderr: 'no\n' }),
    ]);
    expect(log.summaries).toEqual([
      {
        event: 'BeforeTool',
        hooks: 5,
        succeeded: 1,
        failed: 4,
        durationMs: expect.any(Number),
        success: false,
      },
    ]);
    expect(log.diagnoses.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ hook: 'bad', kind: 'exit' }),
        expect.objectContaining({ hook: 'killed', kind: 'signal' }),
        expect.objectContaining({ hook: 'slow', kind: 'timeout' }),
      ]),
    );
    expect(log.diagnoses).toHaveLength(3);
  });

  it.each<[string, HookDefinitions]>([
    ['is configured', {}],
    ['matches', { BeforeTool: [{ matcher: '^none$', hooks: [hook('true')] }] }],
  ])('has a summary when no hook %s', async (_, hooks) => {
    const summary = { event: 'BeforeTool', hooks: 0, succeeded: 0, failed: 0, durationMs: 0 };
    expect(await fire(hooks)).toEqual({
      hooks: [],
      summaries: [{ ...summary, success: true }],
      diagnoses: [],
    });
  });
});
