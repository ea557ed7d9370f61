import { expect, it } from 'vitest';
import { HookEventName } from '../../src/protocol/types.js';
import { reportFailure } from '../../src/run/hookFailure.js';
import { DebugLogger } from '../../src/util/debugLogger.js';

class Log extends DebugLogger {
  readonly lines: string[] = [];

  override warn(message: string): void {
    this.lines.push(message);
  }
}

it('the warning about a hook is one line without what a terminal obeys, whoever has said it', () => {
  const logger = new Log('test');
  const what = 'got an error: \u001B]0;title\u0007 no\u009B2J\r\nhookstack: all is well';
  const result = {
    success: false,
    hookConfig: { type: 'command', command: 'guard' },
    eventName: HookEventName.BeforeTool,
  } as Parameters<typeof reportFailure>[0];
  reportFailure(result, { kind: 'protocol', what }, undefined, { logger, environment: {} });
  expect(logger.lines).toHaveLength(1);
  expect(logger.lines[0]).toContain('no hookstack: all is well;');
  expect(logger.lines[0]).not.toMatch(/\p{Cc}/u);
});
