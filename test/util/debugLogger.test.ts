import { inspect } from 'node:util';
import createDebug from 'debug';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { keepWritten } from '../helpers/keepWritten.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { ThrowingLogger } from '../helpers/throwingLogger.js';

/** What reached stderr, one text a record. */
let written: string[] = [];

beforeEach(() => {
  written = keepWritten();
});

/** A host's logger that keeps its warnings where nobody else can reach them. */
class Keeping extends DebugLogger {
  readonly #warnings: string[] = [];

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  override warn(message: string): void {
    this.#warnings.push(message);
  }
}

const LEVELS = ['debug', 'log', 'warn', 'error'] as const;

describe.each([
  ['a logger', (logger: DebugLogger) => logger],
  ['a safe logger', (logger: DebugLogger) => DebugLogger.safe(logger)],
])('a part of %s', (_, prepare) => {
  it('writes under a namespace of its own', () => {
    const part = prepare(new DebugLogger('a')).extend('b').extend('c');
    expect(part.namespace).toBe('a:b:c');
    part.warn('careful');
    expect(written).toEqual([expect.stringMatching(/\ba:b:c:warn careful/)]);
  });

  it('tells the methods that a host overrides, which reach their private fields', () => {
    const host = new Keeping('a');
    const part = prepare(host).extend('b');
    part.warn('of the part');
    part.extend('c').warn('of its part');
    expect(host.warnings).toEqual(['of the part', 'of its part']);
    part.error('as ever');
    expect(written).toEqual([expect.stringMatching(/\ba:b:error as ever/)]);
  });

  it('is made by the host where that makes its own', () => {
    const host = new RecordingLogger('a');
    prepare(host).extend('b').extend('c').warn('careful');
    expect(host.records).toMatchObject([{ namespace: 'a:b:c', message: 'careful' }]);
  });

  it('knows whether anybody reads its details', () => {
    const before = createDebug.disable();
    onTestFinished(() => createDebug.enable(before));
    const part = prepare(new DebugLogger('a')).extend('b');
    expect(part.isDebugOn).toBe(false);
    expect(prepare(new Keeping('a')).extend('b').isDebugOn).toBe(false);
    expect(prepare(new RecordingLogger('a')).extend('b').isDebugOn).toBe(true);
    createDebug.enable('a:b');
    expect(part.isDebugOn).toBe(true);
    expect(part.extend('c').isDebugOn).toBe(false);
  });
});

describe('a logger of a host that throws in every method', () => {
  const safe = DebugLogger.safe(new ThrowingLogger('a'));

  it.each(LEVELS)('does not throw in %s when it is made safe, nor do its parts', (level) => {
    safe[level]('message');
    safe.extend('b')[level]('message');
    safe.extend('b').extend('c')[level]('message');
    expect(safe.extend('b').namespace).toBe('a:b');
  });

  it('is made safe once', () => {
    expect(DebugLogger.safe(safe)).toBe(safe);
  });
});

it('a logger does not throw over details that cannot be shown', () => {
  const unreadable = {
    [inspect.custom]: () => {
      throw new Error('unreadable');
    },
  };
  expect(() => new DebugLogger('a').warn('message', unreadable)).not.toThrow();
});
