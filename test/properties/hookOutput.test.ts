import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import { HookEventName, type HookOutput } from '../../src/protocol/types.js';
import { beforeToolInput, healthy, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';
import * as any from './arbitraries.js';

const { BeforeTool } = HookEventName;
const temp = useTempDir();

const noise = fc.constantFrom('', ' ', '\n', '\u{feff}', 'debug: ', '\u001B[31m', '}', '{');
const json = fc.oneof(
  any.output.map((output) => JSON.stringify(output)),
  any.output.map((output) => JSON.stringify(JSON.stringify(output))),
  any.output.map((output) => JSON.stringify([output])),
  fc.json(),
  fc
    .dictionary(
      fc.constantFrom('decision', 'continue', 'reason', 'hookSpecificOutput', '__proto__', 'x'),
      fc.oneof(fc.constantFrom('deny', 'DENY', 'block', 'allow', 'false'), fc.jsonValue()),
    )
    .map((fields) => JSON.stringify(fields)),
);

/** Anything that a script may print: bytes, text, JSON, half of it, or JSON with something around it. */
const stdout = fc.oneof(
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString()),
  fc.string({ unit: 'binary' }),
  json,
  fc.tuple(json, fc.nat({ max: 30 })).map(([whole, length]) => whole.slice(0, length)),
  fc.tuple(noise, json, noise).map((pieces) => pieces.join('')),
);

/** Whether a script decided to block, as its author would say. */
function decidesToBlock(printed: string, isForTool = false): boolean {
  const said = parse(printed.trim());
  const value = (typeof said === 'string' ? parse(said) : said) as HookOutput | null | undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const permission = isForTool ? value.hookSpecificOutput?.['permissionDecision'] : undefined;
  return [value.decision, permission].some((each) => each === 'deny' || each === 'block');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe('anything at all on stdout', () => {
  it('can be read, and blocks by an explicit decision alone', () => {
    fc.assert(
      fc.property(any.event, stdout, (event, printed) => {
        const { output, problems } = readHookOutput(printed);
        const { finalOutput } = aggregateResults([healthy(output)], event);
        expect(finalOutput?.isBlockingDecision() ?? false).toBe(
          decidesToBlock(printed, event === BeforeTool),
        );
        expect(output === undefined).toBe(printed.trim() === '');
        expect(problems.every((problem) => typeof problem === 'string')).toBe(true);
      }),
      { numRuns: 5_000 },
    );
  });

  it('stays the same when it is read, written and read again', () => {
    fc.assert(
      fc.property(stdout, (printed) => {
        const { output } = readHookOutput(printed);
        fc.pre(output !== undefined);
        expect(readHookOutput(JSON.stringify(output)).output).toEqual(output);
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('a process that prints anything and exits with any code', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 64 }),
    stdout.map((text) => Buffer.from(text)),
  );
  const exitCode = fc.oneof(fc.constantFrom(0, 1, 2), fc.nat({ max: 255 }));

  it('never makes its runner throw, and blocks by exit code 2 or an explicit decision alone', async () => {
    const hooks = new HookRunner(new RecordingLogger());
    await fc.assert(
      fc.asyncProperty(bytes, bytes, exitCode, async (out, err, code) => {
        await writeFile(path.join(temp.path, 'out'), out);
        await writeFile(path.join(temp.path, 'err'), err);
        const result = await hooks.executeHook(
          hook(`cat out; cat err >&2; exit ${code}`),
          BeforeTool,
          beforeToolInput(temp.path),
        );
        expect(result).toMatchObject({ success: code === 0, exitCode: code });
        const { finalOutput } = aggregateResults([result], BeforeTool);
        const printed = Buffer.from(out).toString();
        expect(finalOutput?.isBlockingDecision() ?? false).toBe(
          code === 2 || (code === 0 && decidesToBlock(printed, true)),
        );
      }),
      { numRuns: 50 },
    );
  });
});
