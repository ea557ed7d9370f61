import { describe, expect, it } from 'vitest';
import { AgentError, Config, executeToolWithHooks, runAgent } from '../../src/index.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const hooks = { BeforeTool: [{ hooks: [{ type: 'command', command: 'exit 2' } as const] }] };
const unknown = (options: object) => options as never;
const guard = async () => undefined;
const execute = async () => ({ llmContent: '', returnDisplay: '' });

describe('an option that does not exist', () => {
  it.each([
    [
      { enabelHooks: true, hooks },
      'Config has no option "enabelHooks": did you mean "enableHooks"?',
    ],
    [{ wibble: 1 }, 'Config has no option "wibble": its options are sessionId, workingDir'],
  ])('is refused by Config: %j', (options, message) => {
    expect(() => new Config(unknown(options))).toThrow(TypeError);
    expect(() => new Config(unknown(options))).toThrow(message);
  });

  it('is refused by use(), which would make an observer of a policy', () => {
    const config = new Config();
    expect(() => config.use('tool', guard, unknown({ polcy: true }))).toThrow(
      'config.use() has no option "polcy": did you mean "policy"?',
    );
  });

  it('is refused by runAgent and by executeToolWithHooks', async () => {
    const config = new Config();
    const given = unknown({ config, model: 'm', prompt: 'p', models: {}, maxTurn: 1 });
    await expect(runAgent(given)).rejects.toThrow('did you mean "maxTurns"?');
    const calling = executeToolWithHooks(config, 'x', {}, execute, unknown({ singal: 1 }));
    await expect(calling).rejects.toThrow('did you mean "signal"?');
  });

  it.each([
    [null, 'Config takes an object with options, not null'],
    ['./settings.json', "Config takes an object with options, not './settings.json'"],
    [[], 'Config takes an object with options, not an array'],
  ])('is not looked for in %j', (options, message) => {
    expect(() => new Config(unknown(options as object))).toThrow(message);
  });

  it('is no matter where it is undefined', () => {
    expect(() => new Config(unknown({ wibble: undefined }))).not.toThrow();
  });
});

it('an agent without a prompt does not begin', async () => {
  const given = unknown({ config: new Config(), model: 'm', models: {} });
  const running = runAgent(given);
  await expect(running).rejects.toThrow('runAgent() needs a prompt');
  await expect(running).rejects.not.toBeInstanceOf(AgentError);
});

const warningsOf = (options: object) => {
  const debugLogger = new RecordingLogger();
  void new Config({ hooks, debugLogger, ...options });
  return debugLogger.warnings;
};

describe('hooks without the switch', () => {
  it('are warned of once', () => {
    expect(warningsOf({})).toEqual([expect.stringContaining('enableHooks: true')]);
  });

  it.each([{ enableHooks: true }, { enableHooks: false }, { hooks: {} }])(
    'are nothing to warn of with %j',
    (options) => expect(warningsOf(options)).toEqual([]),
  );
});

describe('an option of another kind', () => {
  it.each([
    ['enableHooks', 'true', 'expected true or false'],
    ['enableHooks', 1, 'expected true or false'],
    ['trustedFolder', 'false', 'expected true or false'],
    ['keepHooks', 'no', 'expected true or false'],
    ['disabledHooks', 'one', 'expected an array of strings'],
    ['afterModelDisplay', 'Hold', "expected 'stream' or 'hold'"],
  ])('is refused by Config: %s %j', (name, value, message) => {
    const options = unknown({ hooks, [name]: value });
    expect(() => new Config(options)).toThrow(TypeError);
    expect(() => new Config(options)).toThrow(`Config: ${name}: ${message}`);
  });

  it('is no matter where it is undefined', () => {
    expect(() => new Config(unknown({ enableHooks: undefined }))).not.toThrow();
  });
});
