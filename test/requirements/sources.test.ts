import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The places, as `file:line: text`, at which files of this repository match. */
function find(pattern: RegExp, ...globs: string[]): string[] {
  const files = globSync(globs, { cwd: ROOT });
  if (files.length === 0) throw new Error(`No file matches ${globs.join(', ')}: name others`);
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? `${file}:${index + 1}: ${line.trim()}` : [])),
  );
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

const everything = ['src/**/*.ts', 'middleware/*.ts'];

describe('the sources', () => {
  it('hold no id of a requirement and no marker of a plan', () => {
    const pattern = /\b(?:HOOK-\d|DELTA-H)|@(?:plan|requirement)\b/;
    expect(find(pattern, ...everything, 'examples/**/*.mjs')).toEqual([]);
  });

  it('fire no event without looking at what came of it', () => {
    const pattern =
      /\bvoid\s[^=]*\b(?:fire\w*|trigger\w*|ask(?:Before|After)\w*|executeToolWithHooks)\(/;
    expect(find(pattern, ...everything, 'examples/**/*.mjs')).toEqual([]);
  });

  it('ask nowhere for a terminal where hooks are concerned', () => {
    const concerned = ['src/hooks/*.ts', 'src/core/*.ts', 'src/process/*.ts', 'middleware/*.ts'];
    expect(find(/isTTY|isatty|node:tty|node:readline/, ...concerned)).toEqual([]);
  });

  it('make the parts of the hook system in one place', () => {
    const places = find(/\bnew Hook(?:Planner|Runner|Aggregator|EventHandler)\(/, ...everything);
    expect(new Set(places.map((place) => place.split(':')[0]))).toEqual(
      new Set(['src/hooks/hookSystem.ts']),
    );
    expect(find(/\bnew HookRegistry\(/, 'src/core/*.ts', 'middleware/*.ts')).toEqual([]);
  });

  it("keep the hooks' own format of requests and responses from the callers", () => {
    const callers = ['src/core/*.ts', 'middleware/callerEffects.ts'];
    expect(find(/\bLLM(?:Request|Response)\b|\b(?:to|from)HookLLM/, ...callers)).toEqual([]);
  });

  it('take names of events as the enum, except where they come from outside', () => {
    const internal = [
      'src/hooks/hookEventHandler.ts',
      'src/hooks/hookRunner.ts',
      'middleware/*.ts',
    ];
    expect(find(/\bevent(?:Name)?\??: string\b/, ...internal)).toEqual([]);
  });
});

describe('the types', () => {
  it.each(['BeforeModelHookResult', 'AfterModelHookResult', 'BeforeToolSelectionHookResult'])(
    '%s is exported beside its trigger',
    (name) => {
      const pattern = new RegExp(`^export interface ${name} `);
      expect(find(pattern, 'src/core/geminiChatHookTriggers.ts')).toHaveLength(1);
    },
  );

  it('of the messages on the bus are those of the contract', () => {
    const contract = read('src/hooks/hookBusContracts.ts').replaceAll(/\/\*\*[^]*?\*\//g, '');
    const fields = Array.from(contract.matchAll(/^ {2}(\w+\??): (.+?);?$/gm), ([, name, type]) =>
      [name, type].join(': '),
    );
    expect(fields).toEqual([
      'type: MessageBusType.HOOK_EXECUTION_REQUEST',
      'eventName: HookEventName',
      'input: Record<string, unknown>',
      'correlationId: string',
      'type: MessageBusType.HOOK_EXECUTION_RESPONSE',
      'correlationId: string',
      'success: boolean',
      'output?: AggregatedHookResult',
      'error?: {',
    ]);
    expect(read('src/confirmation-bus/types.ts')).toContain(
      'type MessageBusMessage = HookExecutionRequest | HookExecutionResponse;',
    );
  });
});
