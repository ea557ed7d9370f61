import { readdirSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startModel } from '../helpers/modelServer.js';
import { Cli } from './helpers.js';
import { send, sendToProgram } from './hookHelpers.js';

const cli = new Cli();
const env = { JUDGE_KEY: 'k' };
const DENY = '{"decision": "deny", "reason": "Not here."}';
const DENIED = expect.objectContaining({
  hookSpecificOutput: expect.objectContaining({ permissionDecisionReason: 'Not here.' }) as object,
}) as object;
const folder = () => join(cli.home, '.llxprt/sessions');

const call = (command: string, session_id = 's1') => ({
  session_id,
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: command,
});

async function haveJudge(baseUrl: string, tokens = 200_000): Promise<void> {
  const hooks = [{ type: 'prompt', name: 'judge', prompt: 'Safe?' }];
  const promptModel = { model: 'gemini-test', baseUrl, apiKeyEnv: 'JUDGE_KEY' };
  const others = { promptModel, promptBudget: { tokens } };
  await cli.userSettings({ BeforeTool: [{ hooks }] } as never, others);
}

describe('a model that judges events of which each has a process', () => {
  it('is asked once about the same in a session, until that ends', async () => {
    const { baseUrl, seen } = await startModel(DENY);
    await haveJudge(baseUrl);
    for (const session of ['s1', 's1', 's2']) {
      expect((await send(cli, 'claude', call('ls', session), {}, env)).json).toEqual(DENIED);
    }
    expect(seen).toHaveLength(2);
    await send(cli, 'claude', { hook_event_name: 'SessionEnd', reason: 'other' }, {}, env);
    expect(readdirSync(folder())).toHaveLength(1);
    await send(cli, 'claude', call('ls'), {}, env);
    expect(seen).toHaveLength(3);
  });

  it('has one budget for the session', async () => {
    const { baseUrl, seen } = await startModel(DENY, 6_000);
    await haveJudge(baseUrl, 10_000);
    expect((await send(cli, 'claude', call('a'), {}, env)).json).toEqual(DENIED);
    const second = await send(cli, 'claude', call('b'), {}, env);
    expect(JSON.stringify(second)).toContain('4000 of 10000 are left for this session');
    expect(seen).toHaveLength(1);
  });

  it('has it for processes side by side', async () => {
    const { baseUrl, seen } = await startModel(DENY, 5_000);
    await haveJudge(baseUrl, 10_000);
    const commands = ['a', 'b', 'c', 'd', 'e', 'f'];
    const answers = await Promise.all(
      commands.map((each) => sendToProgram(cli, 'claude', call(each), {}, env)),
    );
    const denied = answers.filter(({ stdout }) => stdout.includes('Not here.'));
    expect(denied.length).toBeLessThanOrEqual(2);
    expect(seen).toHaveLength(denied.length);
    expect(answers.every(({ exitCode }) => exitCode === 0)).toBe(true);
  });

  it('is not asked where nothing can be kept, and says so', async () => {
    const { baseUrl, seen } = await startModel(DENY);
    await haveJudge(baseUrl);
    await mkdir(folder(), { recursive: true });
    await chmod(folder(), 0o777);
    const { exitCode, stderr } = await send(cli, 'claude', call('ls'), {}, env);
    expect(stderr.match(/it was not asked, as what it uses/gu), stderr).toHaveLength(1);
    expect(exitCode).toBe(0);
    expect(seen).toEqual([]);
  });
});

describe('a project that names a model', () => {
  const trusting = { ...env, HOOKSTACK_TRUST_WORKSPACE: 'true', OTHER_KEY: 'other' };

  it.each([
    ['that trusts it', trusting],
    ['that does not', { ...env, OTHER_KEY: 'other' }],
  ])('does not send prompts and keys elsewhere, of a user %s', async (_who, given) => {
    const mine = await startModel(DENY);
    const theirs = await startModel('{"decision": "allow"}');
    await haveJudge(mine.baseUrl);
    const promptModel = { model: 'other', baseUrl: theirs.baseUrl, apiKeyEnv: 'JUDGE_KEY' };
    await cli.projectSettings({}, { promptModel, promptBudget: { tokens: 1 } });
    expect((await send(cli, 'claude', call('ls'), {}, given)).json).toEqual(DENIED);
    expect(mine.seen).toMatchObject([{ key: 'k' }]);
    expect(theirs.seen).toEqual([]);
  });

  it('gives no model to prompts of the user, who has none', async () => {
    const theirs = await startModel(DENY);
    const hooks = [{ type: 'prompt', name: 'judge', prompt: 'Safe?' }];
    await cli.userSettings({ BeforeTool: [{ hooks }] } as never);
    const promptModel = { model: 'other', baseUrl: theirs.baseUrl, apiKeyEnv: 'JUDGE_KEY' };
    await cli.projectSettings({}, { promptModel });
    const { stderr } = await send(cli, 'claude', call('ls'), {}, trusting);
    expect(stderr).toContain('there is none: name one as "promptModel"');
    expect(theirs.seen).toEqual([]);
  });

  it('has its own prompts judged once they are allowed, and not before', async () => {
    const { baseUrl, seen } = await startModel(DENY);
    const others = { promptModel: { model: 'gemini-test', baseUrl, apiKeyEnv: 'JUDGE_KEY' } };
    await cli.userSettings({}, others);
    const hooks = [{ type: 'prompt', name: 'judge', prompt: 'Safe?' }];
    await cli.projectSettings({ BeforeTool: [{ hooks }] } as never);
    await send(cli, 'claude', call('ls'), {}, env);
    expect(seen).toEqual([]);
    expect((await send(cli, 'claude', call('ls'), {}, trusting)).json).toEqual(DENIED);
  });
});
