import { FunctionCallingConfigMode, type GenerateContentParameters } from '@google/genai';
import { expect, it } from 'vitest';
import { AllowedCalls } from '../../src/hosts/allowedCalls.js';

function allowing(...allowedFunctionNames: string[]): { request: GenerateContentParameters } {
  const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames };
  return {
    request: { model: 'm', contents: '', config: { toolConfig: { functionCallingConfig } } },
  };
}
const ALL = { request: { model: 'm', contents: '' } };

const mayRun = (calls: AllowedCalls, id: string | undefined, name: string) =>
  calls.begin(id, name) === undefined;

it('lets run what was allowed, each time', () => {
  const calls = new AllowedCalls();
  calls.note(allowing('look'), ['1']);
  expect([mayRun(calls, '1', 'look'), mayRun(calls, '1', 'del')]).toEqual([true, false]);
  expect([mayRun(calls, '1', 'look'), mayRun(calls, '1', 'del')]).toEqual([true, false]);
});

it('takes an id that comes again for another call, once the first has begun', () => {
  const calls = new AllowedCalls();
  calls.note(allowing('look'), ['1']);
  calls.begin('1', 'look');
  calls.note(ALL, ['1']);
  expect(mayRun(calls, '1', 'del')).toBe(true);
});

it('holds a call of two conversations to what both of them allow', () => {
  const calls = new AllowedCalls();
  calls.note(allowing('look'), ['1']);
  calls.note(ALL, ['1']);
  expect(mayRun(calls, '1', 'del')).toBe(false);
});

it('holds a call that it does not know to each answer that is open', () => {
  const calls = new AllowedCalls();
  expect(mayRun(calls, 'x', 'del')).toBe(true);
  calls.note(allowing('look', 'list'), ['1']);
  calls.note(allowing('look'), ['2']);
  for (const id of ['x', undefined]) {
    expect(['look', 'list', 'del'].map((name) => mayRun(calls, id, name))).toEqual([
      true,
      false,
      false,
    ]);
  }
  calls.begin('1', 'look');
  calls.begin('2', 'look');
  expect(mayRun(calls, 'x', 'del')).toBe(true);
});

it('forgets answers, and not what they have forbidden', () => {
  const calls = new AllowedCalls();
  calls.note(allowing('look'), ['old']);
  for (let at = 0; at < 2000; at++) calls.note(ALL, [String(at)]);
  expect([mayRun(calls, 'old', 'look'), mayRun(calls, 'old', 'del')]).toEqual([true, false]);
});

it('believes what a call carries, and what is remembered of it as well', () => {
  const calls = new AllowedCalls();
  expect(calls.begin('1', 'del', ['look'])).toBeDefined();
  calls.note(allowing('look'), ['1']);
  expect(calls.begin('1', 'del', ['look', 'del'])).toBeDefined();
  expect(calls.begin('1', 'look', ['look', 'del'])).toBeUndefined();
});
