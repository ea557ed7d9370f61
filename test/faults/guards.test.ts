import { describe, expect } from 'vitest';
import { runAgent } from '../../src/agent/agent.js';
import { GeminiChat } from '../../src/core/geminiChat.js';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { readToEnd } from '../core/helpers/chats.js';
import { reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { hook } from '../helpers/hooks.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { fault } from './helpers/host.js';

/** A guard that runs this command. */
function guard(command: string, settings: Partial<CommandHookConfig> = {}): CommandHookConfig {
  return { ...hook(command, { name: 'guard', onFailure: 'deny' }), ...settings };
}

describe('onFailure: "deny"', () => {
  const sandbox = useSandbox();

  fault.for<[string, CommandHookConfig, RegExp]>([
    ['exits with another code', guard('exit 1'), /exited with code 1/],
    ['does not exist', guard('no-such-program'), /exited with code 127/],
    ['is killed', guard('kill -KILL $$'), /SIGKILL/],
    ['takes too long', guard('sleep 300', { timeout: 1_000 }), /timed out after 1000 ms/],
    ['cannot be started', guard('exit 0 \0'), /could not be started/],
    ['cannot be run', guard('exit 0', { type: 'plugin' }), /"plugin"/],
    ['prints plain text', guard('echo fine'), /something other than a JSON object/],
    ['prints broken JSON', guard(`echo '{"decision":"allow"'`), /other than a JSON object/],
    ['prints JSON with noise', guard(`echo hi; echo '{"decision":"allow"}'`), /other than a JSON/],
    ['prints a field of a wrong type', guard(`echo '{"decision":"ALLOW"}'`), /decision is ignored/],
    [
      'prints more than is read',
      guard(`printf '{'; head -c 20000000 /dev/zero`),
      /printed more than/,
    ],
  ])('a guard that %s blocks', async ([, hookConfig, cause], { host }) => {
    const { verdict, text } = await host.callTool([hookConfig]);
    expect(verdict).toBe('blocked');
    expect(text).toContain('"guard"');
    expect(text).toMatch(cause);
    expect(host.runWarnings.length).toBeGreaterThanOrEqual(1);
    expect(host.runWarnings.at(-1)?.message).toContain('the operation is blocked');
  });

  fault('a guard whose input is no JSON blocks', async ({ host }) => {
    const { verdict, text } = await host.callTool([guard(': > ran')], { toolInput: { size: 1n } });
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/"guard".*BigInt/);
    expect(host.exists('ran')).toBe(false);
  });

  fault.for([
    ['says nothing', 'exit 0'],
    ['allows', `echo '{"decision":"allow"}'`],
    ['says what nobody knows', `echo '{"colour":"blue"}'`],
  ] as const)('a guard that %s lets the call go on', async ([, command], { host }) => {
    expect(await host.callTool([guard(command)])).toMatchObject({ verdict: 'allowed' });
  });

  fault('a guard of BeforeModel that fails keeps the request from the model', async ({ host }) => {
    const { models, sent } = await sandbox.startModel(reply('hello'));
    const config = host.createConfig({ hooks: { BeforeModel: [{ hooks: [guard('exit 1')] }] } });
    const chat = new GeminiChat({ config, models, model: 'gemini-2.5-flash' });
    const { turn } = await readToEnd(chat.sendMessageStream('hi'));
    expect(turn.verdict).toMatchObject({
      kind: 'block',
      reason: expect.stringContaining('"guard"'),
    });
    expect(sent()).toEqual([]);
  });

  fault('a guard of BeforeAgent that fails discards the prompt', async ({ host }) => {
    const { models, sent } = await sandbox.startModel(reply('hello'));
    const config = host.createConfig({ hooks: { BeforeAgent: [{ hooks: [guard('exit 1')] }] } });
    const result = await runAgent({ config, models, model: 'gemini-2.5-flash', prompt: 'hi' });
    expect(result.stopped?.reason).toMatch(/"guard".*exited with code 1/);
    expect(sent()).toEqual([]);
  });

  fault('withholds what a tool gave, and a warning says so', async ({ host }) => {
    const config = host.createConfig({ hooks: { AfterTool: [{ hooks: [guard('exit 1')] }] } });
    const { text } = await host.callToolOf(config);
    expect(text).toMatch(/withheld.*must not be bypassed.*exited with code 1/);
    expect(host.warnings).toEqual([
      expect.stringMatching(/exited with code 1; its result is withheld \(onFailure: "deny"\)/),
    ]);
  });

  fault(
    'has no effect where there is nothing to withhold, and a warning says so',
    async ({ host }) => {
      const hooks = { SessionStart: [{ hooks: [guard('exit 1')] }] };
      const config = host.createChangingConfig(hooks);
      await config.getHookSystem()?.initialize();
      expect(host.warnings).toEqual([
        expect.stringMatching(/SessionStart\[0\].*onFailure: has no effect.*cannot block/),
      ]);
    },
  );
});

describe('maxConsecutiveFailures', () => {
  const SWITCHED_OFF = expect.stringMatching(/"flaky" failed 2 times in a row and is switched off/);
  const limit = { name: 'flaky', maxConsecutiveFailures: 2 };

  fault(
    'switches a hook off after so many failures in a row, with one warning',
    async ({ host }) => {
      const hooks = { BeforeTool: [{ hooks: [hook('echo >> runs; exit 1', limit)] }] };
      const config = host.createConfig({ hooks });
      for (let call = 0; call < 4; call++) await host.callToolOf(config);
      expect(host.lines('runs')).toHaveLength(2);
      expect(host.warnings.filter((each) => each.includes('switched off'))).toEqual([SWITCHED_OFF]);
      expect(config.getHookSystem()?.getAllHooks()).toMatchObject([
        { enabled: false, skipped: 'failing' },
      ]);
    },
  );

  fault('counts anew after a success', async ({ host }) => {
    // Fails at every run but the second.
    const command = 'echo >> runs; [ $(wc -l < runs) = 2 ]';
    const config = host.createConfig({
      hooks: { BeforeTool: [{ hooks: [hook(command, limit)] }] },
    });
    for (let call = 0; call < 6; call++) await host.callToolOf(config);
    expect(host.lines('runs')).toHaveLength(4);
  });

  fault('does not count a block as a failure', async ({ host }) => {
    const config = host.createConfig({
      hooks: { BeforeTool: [{ hooks: [hook('exit 2', limit)] }] },
    });
    for (let call = 0; call < 4; call++) {
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked' });
    }
    expect(host.warnings).toEqual([]);
  });

  fault('is over when the hooks are read again', async ({ host }) => {
    const config = new ChangingConfig(host.defaults);
    config.hooks = { BeforeTool: [{ hooks: [hook('exit 1', limit)] }] };
    await host.callToolOf(config);
    await host.callToolOf(config);
    expect((await host.callToolOf(config)).hooks).toEqual([]);
    await config.getHookSystem()?.reload();
    expect((await host.callToolOf(config)).hooks).toHaveLength(1);
  });

  fault('never switches a guard off', async ({ host }) => {
    const config = host.createChangingConfig({
      BeforeTool: [{ hooks: [guard('exit 1', { maxConsecutiveFailures: 2 })] }],
    });
    for (let call = 0; call < 4; call++) {
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked' });
    }
    expect(host.warnings[0]).toMatch(/maxConsecutiveFailures: has no effect/);
    expect(host.warnings.filter((each) => each.includes('switched off'))).toEqual([]);
  });
});
