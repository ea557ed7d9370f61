import { describe, expect, it } from 'vitest';
import type { Runner } from '../../middleware/runner.js';
import type { MessageBus } from '../../src/confirmation-bus/types.js';
import type { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { blocking, healthy, hook } from '../helpers/hooks.js';
import type { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';
import { ask, directCalls, startHandler, startHost } from './helpers.js';

const temp = useTempDir();

type Way = 'direct' | 'mediated';

/** What the log says of an event. */
function readLog(logger: RecordingLogger) {
  const records = logger.records.filter(({ namespace }) => !namespace.endsWith('registry'));
  const detailsOf = (text: string) =>
    records.flatMap(({ message, details }) => (message === text ? [details] : []));
  return {
    hooks: detailsOf('BeforeTool: hook finished'),
    summaries: detailsOf('BeforeTool: finished'),
    diagnoses: records.filter(({ level }) => level === 'warn'),
  };
}

const runTimed: Runner['executeHooksParallel'] = async () => [
  healthy({}, { duration: 1234.4 }),
  healthy({}, { duration: 20 }),
];

describe.each<Way>(['direct', 'mediated'])('the log of a %s event', (way) => {
  const fireOn = (bus: MessageBus, handler: HookEventHandler) =>
    way === 'mediated' ? ask(bus) : directCalls.BeforeTool(handler);

  async function fire(hooks: HookDefinitions) {
    const { bus, logger, system } = startHost({ hooks, workingDir: temp.path });
    await system.initialize();
    await fireOn(bus, system.getEventHandler());
    return readLog(logger);
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
        succeeded: 2,
        failed: 3,
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

  it('counts a block as the work of its hook, and not as a failure', async () => {
    const log = await fire({ BeforeTool: [{ hooks: [blocking('no'), hook('true')] }] });
    expect(log.summaries).toEqual([
      expect.objectContaining({ hooks: 2, succeeded: 2, failed: 0, success: true }),
    ]);
    expect(log.diagnoses).toEqual([]);
  });

  it('says of each hook how long it took, and of the event how long all of them did', async () => {
    const hooks = { BeforeTool: [{ hooks: [hook('a'), hook('b')] }] };
    const { bus, handler, logger } = startHandler(
      { hooks },
      { hooks: { executeHooksParallel: runTimed, executeHooksSequential: runTimed } },
    );
    await fireOn(bus, handler);
    const log = readLog(logger);
    expect(log.hooks).toEqual([
      expect.objectContaining({ durationMs: 1234 }),
      expect.objectContaining({ durationMs: 20 }),
    ]);
    expect(log.summaries).toEqual([expect.objectContaining({ durationMs: 1254 })]);
  });

  it('measures how long the process of a hook lives', async () => {
    const hooks = [hook('sleep 60', { timeout: 200 }), hook('sleep 0.2')];
    const log = await fire({ BeforeTool: [{ hooks }] });
    // Timers may be early by a little.
    const measured = { durationMs: expect.toSatisfy((ms: number) => ms >= 190) };
    expect(log.hooks).toEqual(hooks.map(() => expect.objectContaining(measured)));
    expect(log.summaries).toEqual([expect.objectContaining(measured)]);
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
