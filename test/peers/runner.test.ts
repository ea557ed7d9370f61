import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  DefaultHookOutput,
  HookEventName,
  HookRunner,
  type CommandHookConfig,
} from '../../src/index.js';
import { beforeToolInput, commonInput, hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';
import { isRunning } from '../process/helpers.js';

// What the runners of Gemini CLI and LLxprt are tested for, with real processes. Where ours differs, see
// differences.test.ts.

const { BeforeTool, BeforeAgent, BeforeModel } = HookEventName;
const temp = useTempDir();

/** Runs one hook for BeforeTool. */
function run(command: string, settings: Partial<CommandHookConfig> = {}, cwd = temp.path) {
  const logger = new RecordingLogger();
  const input = beforeToolInput(cwd);
  const config = { ...hook(command), ...settings };
  return Object.assign(new HookRunner(logger).executeHook(config, BeforeTool, input), { logger });
}

async function runChain(event: HookEventName, fields: object, ...hooks: CommandHookConfig[]) {
  const input = { ...commonInput(event, temp.path), ...fields };
  const results = await new HookRunner(new RecordingLogger()).executeHooksSequential(
    hooks,
    event,
    input,
  );
  return results.map(({ success }) => success);
}

/** A hook that leaves a file, and waits for that of another. */
function meet(own: string, other: string): CommandHookConfig {
  return hook(`touch ${own}; until [ -e ${other} ]; do sleep 0.02; done`);
}

function writing(text: string): CommandHookConfig {
  return hook(`sleep 0.05; echo ${text} >>order`);
}

function changing(request: object): CommandHookConfig {
  return saying({ hookSpecificOutput: { llm_request: request } });
}

describe('what a hook says', () => {
  it.each<[what: string, script: string, exitCode: number, output: object | undefined]>([
    [
      'an object on stdout',
      `echo '{"decision":"allow","reason":"fine"}'`,
      0,
      { decision: 'allow', reason: 'fine' },
    ],
    [
      'an object that was encoded twice',
      `printf %s '"{\\"decision\\":\\"allow\\",\\"reason\\":\\"fine\\"}"'`,
      0,
      { decision: 'allow', reason: 'fine' },
    ],
    [
      'broken JSON',
      `printf %s '{ "decision": "allow", and then'`,
      0,
      { decision: 'allow', systemMessage: '{ "decision": "allow", and then' },
    ],
    [
      'plain text',
      'printf %s "all is well 雪"',
      0,
      { decision: 'allow', systemMessage: 'all is well 雪' },
    ],
    ['nothing', 'true', 0, undefined],
    [
      'stderr and exit code 2',
      'echo "not today 雪" >&2; exit 2',
      2,
      { decision: 'deny', reason: 'not today 雪' },
    ],
    [
      'broken JSON on stderr and exit code 2',
      `echo '{ "e": x' >&2; exit 2`,
      2,
      { decision: 'deny', reason: '{ "e": x' },
    ],
    ['exit code 2 alone', 'exit 2', 2, { decision: 'deny', reason: 'Blocked by hook' }],
    [
      'stderr and exit code 1',
      'echo "{ broke" >&2; exit 1',
      1,
      { decision: 'allow', systemMessage: 'Warning: { broke' },
    ],
    ['exit code 1 alone', 'exit 1', 1, undefined],
  ])('by %s', async (_what, script, exitCode, output) => {
    const result = await run(script);
    expect(result).toMatchObject({ success: exitCode === 0, exitCode });
    expect(result.output).toEqual(output);
    const verdict = new DefaultHookOutput(result.output);
    expect(verdict.isBlockingDecision()).toBe(exitCode === 2);
  });

  it('is kept as it was, beside what was read of it', async () => {
    const result = await run(`echo '{"suppressOutput":true}'; echo diagnostic >&2`);
    expect(result).toMatchObject({
      success: true,
      stdout: '{"suppressOutput":true}\n',
      stderr: 'diagnostic\n',
      output: { suppressOutput: true },
    });
  });
});

describe('what a hook reads', () => {
  it('is the input, as JSON on stdin', async () => {
    await run(keepInput('input.json'));
    expect(await temp.readJson('input.json')).toEqual(beforeToolInput(temp.path));
  });

  it.each(['LLXPRT_PROJECT_DIR', 'GEMINI_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'])(
    '%s names the project, in the command and in the environment',
    async (variable) => {
      const result = await run(`printf '%s ' "$${variable}"; sh -c 'printf %s "$${variable}"'`);
      expect(result.output?.systemMessage).toBe(`${temp.path} ${temp.path}`);
    },
  );

  it('is no code, whatever the name of the project', async () => {
    const cwd = path.join(temp.path, 'a; touch pwned; $(touch pwned) "');
    mkdirSync(cwd);
    const result = await run('ls -d $GEMINI_PROJECT_DIR', {}, cwd);
    expect(result.output?.systemMessage).toBe(cwd);
    expect([cwd, temp.path].filter((each) => existsSync(path.join(each, 'pwned')))).toEqual([]);
  });
});

describe('a hook that fails', () => {
  it('is called by its name in the warning', async () => {
    const running = run('true', { name: 'my-friendly-hook' }, path.join(temp.path, 'gone'));
    expect(await running).toMatchObject({ success: false, error: expect.any(Error) });
    expect(running.logger.warnings).toEqual([expect.stringContaining('"my-friendly-hook"')]);
  });

  it('by a command that is missing has the code of the shell (LLxprt)', async () => {
    expect(await run('./no-such-program')).toMatchObject({ success: false, exitCode: 127 });
  });

  it('by its timeout is asked to end first, and keeps what it said', async () => {
    const stubborn = `trap 'echo ended >asked; exit' TERM; echo unfinished >&2; sleep 30 & wait`;
    const result = await run(stubborn, { timeout: 400 });
    expect(result).toMatchObject({ success: false, stderr: 'unfinished\n' });
    expect(result.error?.message).toContain('timed out after 400 ms');
    expect(await temp.readLines('asked')).toEqual(['ended']);
  });

  it.each(['an abort', 'a timeout'])(
    'by %s takes with it what ignores the signal to end (LLxprt)',
    async (how) => {
      const controller = new AbortController();
      const deaf = `trap '' TERM; sh -c 'trap "" TERM; echo $$ >pid; sleep 30; touch late' & wait`;
      const running = new HookRunner(new RecordingLogger()).executeHook(
        hook(deaf, { timeout: how === 'a timeout' ? 500 : 30_000 }),
        BeforeTool,
        beforeToolInput(temp.path),
        controller.signal,
      );
      await vi.waitFor(async () => expect(await temp.readLines('pid')).toHaveLength(1));
      if (how === 'an abort') controller.abort(new Error('the turn was cancelled'));
      expect(await running).toMatchObject({ success: false, error: expect.any(Error) });
      const [pid] = await temp.readLines('pid');
      expect(isRunning(Number(pid))).toBe(false);
      expect(existsSync(path.join(temp.path, 'late'))).toBe(false);
    },
  );

  it('by an abort before its start does not start (LLxprt)', async () => {
    const result = await new HookRunner(new RecordingLogger()).executeHook(
      hook('touch started'),
      BeforeTool,
      beforeToolInput(temp.path),
      AbortSignal.abort(),
    );
    expect(result).toMatchObject({ success: false, error: expect.any(Error) });
    expect(existsSync(path.join(temp.path, 'started'))).toBe(false);
  });
});

describe('hooks at the same time', () => {
  it('all run at once, each with a result of its own', async () => {
    const results = await new HookRunner(new RecordingLogger()).executeHooksParallel(
      [meet('a', 'b'), meet('b', 'a'), hook('exit 1')],
      BeforeTool,
      beforeToolInput(temp.path),
    );
    expect(results.map(({ success }) => success)).toEqual([true, true, false]);
  });
});

describe('a chain', () => {
  it('runs one after the other', async () => {
    expect(await runChain(BeforeTool, {}, writing('one'), writing('two'))).toEqual([true, true]);
    expect(await temp.readLines('order')).toEqual(['one', 'two']);
  });

  it('goes on after a hook that failed, and the others read what was there before', async () => {
    const input = beforeToolInput(temp.path, { a: 1 });
    const keep = [hook(keepInput('first.json')), hook(keepInput('last.json'))] as const;
    const broken = hook(`echo '{"hookSpecificOutput":{"tool_input":{"a":2}}}'; exit 1`);
    expect(await runChain(BeforeTool, input, keep[0], broken, keep[1])).toEqual([
      true,
      false,
      true,
    ]);
    expect(await temp.readJson('last.json')).toEqual(await temp.readJson('first.json'));
  });

  it('hands on what a hook adds to the prompt', async () => {
    const adding = saying({
      decision: 'allow',
      hookSpecificOutput: { additionalContext: 'Added.' },
    });
    await runChain(BeforeAgent, { prompt: 'Original.' }, adding, hook(keepInput('second.json')));
    expect(await temp.readJson('second.json')).toMatchObject({
      prompt: expect.stringMatching(/^Original\.[^]*Added\.$/),
    });
  });

  it.each([
    ['', { config: { temperature: 0.7 } }],
    [', also what nobody knows', { temperature: 0.7 }],
  ])('hands on what a hook changes of the request%s', async (_what, change) => {
    const llmRequest = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] };
    const second = hook(keepInput('second.json'));
    await runChain(BeforeModel, { llm_request: llmRequest }, changing(change), second);
    expect(await temp.readJson('second.json')).toMatchObject({
      llm_request: { ...llmRequest, ...change },
    });
  });

  it('hands on each change, and keeps the rest of the request (LLxprt)', async () => {
    const messages = [
      { role: 'user', content: 'one' },
      { role: 'model', content: 'two' },
    ];
    await runChain(
      BeforeModel,
      { llm_request: { model: 'm', messages, config: { temperature: 0.1 } } },
      changing({ model: 'other', messages: messages.toReversed(), config: { temperature: 0.2 } }),
      changing({ model: 'third', config: { topP: 0.8 } }),
      hook(keepInput('third.json')),
    );
    expect(await temp.readJson('third.json')).toMatchObject({
      llm_request: {
        model: 'third',
        messages: messages.toReversed(),
        config: { temperature: 0.2, topP: 0.8 },
      },
    });
  });
});
