import { describe, expect, it, vi } from 'vitest';
import { compose, type Middleware } from '../src/compose.js';

type Trace = string[];

function named(name: string): Middleware<Trace> {
  return async (trace, next) => {
    trace.push(`> ${name}`);
    await next();
    trace.push(`< ${name}`);
  };
}

const logging: Middleware<Trace> = (log, next) =>
  next().catch((caught: unknown) => void log.push(String(caught)));

const twice: Middleware<Trace> = async (_, next) => {
  await next();
  await next();
};

const forgetful: Middleware<Trace> = async (_, next) => {
  void next();
};

const slow: Middleware<Trace> = async (trace) => {
  await new Promise((resolve) => setImmediate(resolve));
  trace.push('slow');
};

const patient: Middleware<Trace> = async (_, next) => {
  let done = false;
  void next().finally(() => {
    done = true;
  });
  await vi.waitFor(() => expect(done).toBe(true));
};

describe('compose', () => {
  it('runs the layers from the outside in, and out again', async () => {
    const trace: Trace = [];
    await compose([named('a'), named('b')])(trace);
    expect(trace).toEqual(['> a', '> b', '< b', '< a']);
  });

  it('calls the given next after the innermost layer', async () => {
    const trace: Trace = [];
    await compose([named('a')])(trace, async () => void trace.push('operation'));
    expect(trace).toEqual(['> a', 'operation', '< a']);
  });

  it('does nothing for an empty stack', async () => {
    await expect(compose<Trace>([])([])).resolves.toBeUndefined();
  });

  it('leaves the rest out when a layer does not call next', async () => {
    const trace: Trace = [];
    await compose<Trace>([named('a'), async () => undefined, named('c')])(trace);
    expect(trace).toEqual(['> a', '< a']);
  });

  it('lets a layer return next instead of awaiting it', async () => {
    const trace: Trace = [];
    await compose<Trace>([(_, next) => next(), named('b')])(trace);
    expect(trace).toEqual(['> b', '< b']);
  });

  it('passes an error on as it is', async () => {
    const error = new Error('inside');
    const stack = compose<Trace>([named('a'), () => Promise.reject(error)]);
    await expect(stack([])).rejects.toBe(error);
  });

  it('lets a layer handle an error from further down', async () => {
    const trace: Trace = [];
    const error = new Error('inside');
    await compose<Trace>([logging, () => Promise.reject(error)])(trace);
    expect(trace).toEqual(['Error: inside']);
  });

  it('can be run again, and by several at once', async () => {
    const stack = compose([named('a')]);
    const traces: Trace[] = [[], []];
    await Promise.all(traces.map((trace) => stack(trace)));
    await stack(traces[0]!);
    expect(traces.map(({ length }) => length)).toEqual([4, 2]);
  });

  it('refuses a second next', async () => {
    await expect(compose([twice])([])).rejects.toThrow('next() called multiple times');
  });

  it('refuses what is not a function when the stack is made', () => {
    const entry = JSON.parse('{}') as Middleware<Trace>;
    expect(() => compose([named('a'), entry])).toThrow(TypeError);
  });
});

describe('the guard against a next that nobody awaits', () => {
  it('names the layer, once the rest has come to its end', async () => {
    const trace: Trace = [];
    await expect(compose([forgetful, slow])(trace)).rejects.toThrow(
      'forgetful returned before next() had settled: await or return next()',
    );
    expect(trace).toEqual(['slow']);
  });

  it('keeps a rejection from further down from ending the host', async () => {
    const unhandled = vi.fn<() => void>();
    process.on('unhandledRejection', unhandled);
    try {
      const late: Middleware<Trace> = async (trace, next) => {
        await slow(trace, next);
        throw new Error('late');
      };
      await expect(compose([forgetful, late])([])).rejects.toThrow('forgetful returned');
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it('accepts a next that has settled before the layer returns, awaited or not', async () => {
    const trace: Trace = [];
    await compose([patient, slow])(trace);
    expect(trace).toEqual(['slow']);
  });
});
