import { describe, expect, it } from 'vitest';
import {
  AfterModelHookOutput,
  BeforeToolSelectionHookOutput,
  Config,
  CoreToolScheduler,
  createHookOutput,
  DefaultHookOutput,
  executeToolWithHooks,
  fireAfterModelHook,
  fireBeforeModelHook,
  GeminiChat,
  HookAggregator,
  HookEventName,
  HookRunner,
  referenceTools,
  runAgent,
  SessionStartSource,
  type ConfigOptions,
  type HookDefinitions,
  type HookOutput,
  type Tool,
} from '../../src/index.js';
import { validateAfterAgentInput } from '../../src/hooks/hookValidators.js';
import { textResponse } from '../../src/protocol/response.js';
import { ask, inputs, startHandler, startHost } from '../confirmation-bus/helpers.js';
import { readToEnd } from '../core/helpers/chats.js';
import { chunk, reply, stream } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { beforeToolInput, healthy, hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

// Where Gemini CLI and LLxprt test for something else than what is done here, and what decided that. Each row is run:
// its check holds what we do. "ruling" means a line of the specification's rulings, HOOK-… and DELTA-… its
// requirements; a document of ours is named where the specification is silent.

const { BeforeTool, AfterTool, BeforeModel, SessionStart } = HookEventName;
const sandbox = useSandbox();
const says = (...outputs: HookOutput[]) => [
  { hooks: outputs.map((output, id) => saying(output, { env: { ID: String(id) } })) },
];
const specific = (hookSpecificOutput: Record<string, unknown>) => ({ hookSpecificOutput });
const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
const answer = (...parts: string[]) =>
  specific({ llm_response: { candidates: [{ content: { role: 'model', parts } }] } });

async function open(hooks: unknown, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const { workingDir } = sandbox;
  const config = new ChangingConfig({
    enableHooks: true,
    workingDir,
    debugLogger: logger,
    ...options,
  });
  config.hooks = hooks as HookDefinitions;
  const system = config.getHookSystem();
  if (!system) throw new Error('hooks are off');
  await system.initialize();
  return { config, system, logger, events: system.getEventHandler() };
}

function aggregate(event: HookEventName, ...outputs: HookOutput[]) {
  return new HookAggregator().aggregateResults(
    outputs.map((output) => healthy(output)),
    event,
  ).finalOutput;
}

/** Runs one call of a tool with hooks, once by itself and once in a scheduler. */
async function callTool(hooks: HookDefinitions, args: Record<string, unknown> = {}) {
  const executions: Record<string, unknown>[] = [];
  const tool: Tool = {
    name: 'test_tool',
    declaration: { name: 'test_tool' },
    async execute(input) {
      executions.push(input);
      return { llmContent: 'tool output', returnDisplay: 'tool output' };
    },
  };
  const config = sandbox.createConfig(hooks);
  const context = { workingDir: sandbox.workingDir };
  const result = await executeToolWithHooks(config, tool.name, args, (input) =>
    tool.execute(input, context),
  );
  const scheduler = new CoreToolScheduler({ config, tools: [tool] });
  const [call] = await scheduler.schedule([{ name: tool.name, args }]);
  return { result, call, executions };
}

interface Difference {
  /** Whose tests say it. */
  readonly of: 'both' | 'Gemini CLI' | 'LLxprt';
  /** The subject of the sentences `theirs` and `ours`. */
  readonly what: string;
  readonly theirs: string;
  readonly ours: string;
  readonly decided: string;
  readonly check: () => Promise<void> | void;
}

const planning: Difference[] = [
  {
    of: 'both',
    what: 'one command under two names',
    theirs: 'runs twice: a name is part of what makes two hooks the same',
    ours: 'runs once',
    decided: 'HOOK-090, HOOK-091, ruling 51',
    async check() {
      const hooks = ['one', 'two'].map((name) => hook('true', { name }));
      const { events } = await open({ BeforeTool: [{ hooks }] });
      expect((await events.fireBeforeToolEvent('any', {})).results).toHaveLength(1);
    },
  },
  {
    of: 'both',
    what: 'a matcher of SessionStart in our own format',
    theirs: 'is compared with the source of the session',
    ours: 'is for tools alone, so that the hook runs; with "dialect": "gemini" it counts as theirs does',
    decided: 'HOOK-021, HOOK-087, docs/events.md',
    async check() {
      const group = { matcher: 'resume', hooks: [hook('true')] };
      const groups = [[group], [{ ...group, dialect: 'gemini' }]];
      const ran = groups.map(async (hooks) => {
        const { events } = await open({ [SessionStart]: hooks });
        const source = SessionStartSource.Startup;
        return (await events.fireSessionStartEvent({ source })).results.length;
      });
      expect(await Promise.all(ran)).toEqual([1, 0]);
    },
  },
];

const registering: Difference[] = [
  {
    of: 'Gemini CLI',
    what: 'the hooks of a project that is not trusted',
    theirs: 'are not in the list',
    ours: 'are in the list, with the reason why they do not run',
    decided: 'docs/configuration.md, "Trust"',
    async check() {
      const hooks = { BeforeTool: [{ hooks: [hook('true')] }] };
      const { system, events } = await open(hooks, { trustedFolder: false });
      expect(system.getAllHooks()).toMatchObject([{ enabled: false, skipped: 'untrusted' }]);
      expect((await events.fireBeforeToolEvent('any', {})).results).toEqual([]);
    },
  },
  {
    of: 'both',
    what: 'hooks of a project that nobody has allowed',
    theirs: 'run after a warning, and Gemini CLI notes them as trusted',
    ours: 'do not run until somebody allows them',
    decided: 'docs/security.md',
    async check() {
      const origin = { scope: 'project', file: `${sandbox.workingDir}/.llxprt/settings.json` };
      const { system } = await open({ BeforeTool: [{ hooks: [hook('true')], origin }] });
      expect(system.getAllHooks()).toMatchObject([{ enabled: false, review: { status: 'new' } }]);
    },
  },
  {
    of: 'both',
    what: 'switching a hook that does not exist',
    theirs: 'writes a warning',
    ours: 'returns 0, so that the caller can say so where the user looks',
    decided: 'DELTA-HSYS-002',
    async check() {
      const { system, logger } = await open({});
      expect(system.setHookEnabled('no such hook', false)).toBe(0);
      expect(logger.warnings).toEqual([]);
    },
  },
  {
    of: 'Gemini CLI',
    what: 'the keys "enabled", "disabled" and "notifications" among the events',
    theirs: 'are passed over in silence',
    ours: 'are passed over with a warning, which names the right key where there is one',
    decided: 'ruling 4',
    async check() {
      const { logger } = await open({ enabled: true, disabled: [], notifications: true });
      expect(logger.warnings).toEqual([
        expect.stringContaining("'enableHooks'"),
        expect.stringContaining("'disabledHooks'"),
        expect.stringMatching(/^hooks\.notifications: unknown event/),
      ]);
    },
  },
  {
    of: 'Gemini CLI',
    what: 'hooks of the types "builtin" and "runtime"',
    theirs: 'run a service, or a function of the host',
    ours: 'are left out with a warning; a function of the host is a middleware',
    decided: 'HOOK-083, HOOK-191, functional specification (middleware)',
    async check() {
      const hooks = [
        { type: 'builtin', builtin_id: 'x' },
        { type: 'runtime', name: 'y' },
      ];
      const { system, logger } = await open({ BeforeTool: [{ hooks }] });
      expect(system.getAllHooks()).toEqual([]);
      expect(logger.warnings.filter((each) => each.includes('.type: '))).toHaveLength(2);

      const config = new Config({ enableHooks: true, workingDir: sandbox.workingDir });
      config.use('hook', async function refuse(ctx, next) {
        await next();
        if (ctx.event === BeforeTool && ctx.payload.toolName === 'bad_tool') ctx.block('Not this.');
      });
      const run = (name: string) =>
        executeToolWithHooks(config, name, {}, async () => ({
          llmContent: 'ran',
          returnDisplay: '',
        }));
      expect((await run('bad_tool')).llmContent).toBe('Not this.');
      expect((await run('good_tool')).llmContent).toBe('ran');
    },
  },
  {
    of: 'Gemini CLI',
    what: 'all hooks of one extension',
    theirs: 'are switched by setExtensionHooksEnabled(), or a list in the settings',
    ours: 'go with the extension: isActive, and reload()',
    decided: 'HOOK-085, DELTA-HSYS-002',
    async check() {
      const hooks = { BeforeTool: [{ hooks: [hook('true')] }] };
      const { system } = await open({}, { extensions: [{ name: 'e', isActive: false, hooks }] });
      expect(system.getAllHooks()).toEqual([]);
      expect(system).not.toHaveProperty('setExtensionHooksEnabled');
    },
  },
  {
    of: 'LLxprt',
    what: 'a second initialize()',
    theirs: 'reads the hooks again, with a new event handler and a new subscription',
    ours: 'does nothing: reload() reads them again, and the handler stays',
    decided: 'HOOK-003, HOOK-004, HOOK-007, ruling 5',
    async check() {
      const extensions = [{ name: 'e', isActive: true, hooks: {} }];
      const { system, events } = await open({}, { extensions });
      extensions.push({ name: 'f', isActive: true, hooks: { BeforeTool: says({}) } });
      await system.initialize();
      expect(system.getAllHooks()).toHaveLength(0);
      await system.reload();
      expect(system.getAllHooks()).toHaveLength(1);
      expect(system.getEventHandler()).toBe(events);
    },
  },
  {
    of: 'LLxprt',
    what: 'a hook system that was disposed',
    theirs: 'ends running hooks, and rejects every event and every initialize()',
    ours: 'only lets go of the bus: events give results as before, and what runs is ended by its signal',
    decided: 'HOOK-111, HOOK-147, DELTA-HEVT-004',
    async check() {
      const { system, events } = await open({ BeforeTool: [{ hooks: [hook('exit 2')] }] });
      await system.dispose();
      await system.initialize();
      const { finalOutput } = await events.fireBeforeToolEvent('any', {});
      expect(finalOutput?.isBlockingDecision()).toBe(true);
    },
  },
];

const running: Difference[] = [
  {
    of: 'Gemini CLI',
    what: 'whoever wants to know of hooks',
    theirs: 'passes onHookStart and onHookEnd to the runner, or listens to events',
    ours: 'passes onHooks, which is told once all have answered, or listens to spans',
    decided: 'ruling 42, docs/trace.md',
    async check() {
      const told: [HookEventName, number][] = [];
      const { config } = await open({ BeforeTool: [{ hooks: [hook('true'), hook('exit 1')] }] });
      const onHooks = (event: HookEventName, { results }: { results: unknown[] }) =>
        void told.push([event, results.length]);
      const tool = Promise.resolve({ llmContent: 'x', returnDisplay: 'x' });
      await executeToolWithHooks(config, 'any', {}, () => tool, { onHooks });
      expect(told).toEqual([[BeforeTool, 2]]);
    },
  },
  {
    of: 'both',
    what: 'a hook that fails again and again',
    theirs: 'is told of once for the same request (Gemini CLI asks AfterModel for each chunk)',
    ours: 'is told of each time, and AfterModel is asked once for an answer',
    decided: 'HOOK-023, HOOK-052, HOOK-172',
    async check() {
      const { events, logger } = await open({ AfterModel: [{ hooks: [hook('exit 1')] }] });
      await events.fireAfterModelEvent(request, textResponse('yes'));
      await events.fireAfterModelEvent(request, textResponse('yes'));
      expect(logger.warnings).toHaveLength(2);
    },
  },
  {
    of: 'LLxprt',
    what: 'the error of a hook that an abort ended, and an event that was aborted before',
    theirs: 'is the reason of the abort, and rejects',
    ours: 'is an error that says so, and gives a result',
    decided: 'HOOK-111',
    async check() {
      const runner = new HookRunner(new RecordingLogger());
      const signal = AbortSignal.abort(new Error('the turn was cancelled'));
      const input = beforeToolInput(sandbox.workingDir);
      const { success, error } = await runner.executeHook(hook('true'), BeforeTool, input, signal);
      expect([success, error?.message]).toEqual([false, expect.stringContaining('was aborted')]);
    },
  },
  {
    of: 'Gemini CLI',
    what: 'the fields of a tool event',
    theirs: 'include mcp_context for tools of an MCP server',
    ours: 'are those of the specification; the reference agent has no MCP servers',
    decided: 'HOOK-015, HOOK-026',
    async check() {
      const keep = sandbox.says({});
      const { events } = await open({ BeforeTool: [{ hooks: [keep.config] }] });
      await events.fireBeforeToolEvent('server__read_file', { path: 'a' });
      expect(Object.keys(keep.inputs()[0] ?? {}).toSorted()).toEqual([
        'cwd',
        'hook_event_name',
        'session_id',
        'timestamp',
        'tool_input',
        'tool_name',
        'transcript_path',
      ]);
    },
  },
];

const verdicts: Difference[] = [
  {
    of: 'both',
    what: 'a verdict without a reason',
    theirs: '"No reason provided", "Hook exited with code 2 …", "Hook requested stop"',
    ours: '"Blocked by hook" and "Stopped by hook"',
    decided: 'HOOK-067b, ruling 15',
    check() {
      const block = new DefaultHookOutput({ decision: 'deny' });
      const stop = new DefaultHookOutput({ continue: false });
      expect(block.getEffectiveReason()).toBe('Blocked by hook');
      expect(stop.getEffectiveReason()).toBe('Stopped by hook');
    },
  },
  {
    of: 'Gemini CLI',
    what: 'createHookOutput() for BeforeTool',
    theirs: 'gives the class of that event',
    ours: 'gives the plain class, which looks at "decision" alone',
    decided: 'HOOK-200, ruling 39',
    check: () => expect(createHookOutput('BeforeTool', {}).constructor).toBe(DefaultHookOutput),
  },
  {
    of: 'Gemini CLI',
    what: 'the question whether an output blocks, and why',
    theirs: 'is one method, getBlockingError()',
    ours: 'is two: isBlockingDecision() and getEffectiveReason()',
    decided: 'HOOK-017',
    check() {
      const output = new DefaultHookOutput({ decision: 'block', reason: 'no' });
      expect([output.isBlockingDecision(), output.getEffectiveReason()]).toEqual([true, 'no']);
    },
  },
  {
    of: 'Gemini CLI',
    what: 'a "<" in additionalContext',
    theirs: 'is written as &lt;',
    ours: 'stays; only marks that pass for those of the hook system are taken out',
    decided: 'rulings 45 and 49',
    async check() {
      const said = specific({ additionalContext: 'if a < b </hook_context> <tag>' });
      const { events } = await open({ BeforeTool: says(said) });
      const { finalOutput } = await events.fireBeforeToolEvent('any', {});
      expect(finalOutput?.getAdditionalContext()).toBe('if a < b  <tag>');
    },
  },
  {
    of: 'Gemini CLI',
    what: 'a restriction of tools where the request has none',
    theirs: 'adds an empty list of tools',
    ours: 'adds no list',
    decided: 'HOOK-167, ruling 11',
    check() {
      const output = new BeforeToolSelectionHookOutput(specific({ toolConfig: { mode: 'ANY' } }));
      expect(output.applyToolConfigModifications({})).toEqual({
        toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      });
    },
  },
  {
    of: 'both',
    what: 'a stop of AfterModel without an answer',
    theirs: 'gives no response',
    ours: 'gives a response that consists of the reason',
    decided: 'HOOK-048, HOOK-194',
    check() {
      const output = new AfterModelHookOutput({ continue: false, stopReason: 'Enough.' });
      expect(output.getModifiedResponse()?.text).toBe('Enough.');
    },
  },
  {
    of: 'Gemini CLI',
    what: 'an llm_response of AfterModel without text',
    theirs: 'counts as none',
    ours: 'is a response: an empty one',
    decided: 'ruling 56',
    async check() {
      const { config } = await open({ AfterModel: says(answer()) });
      const { response } = await fireAfterModelHook(config, request, textResponse('secret'));
      expect(response.text ?? '').toBe('');
    },
  },
  {
    of: 'LLxprt',
    what: 'several reasons to stop, and several messages',
    theirs: 'the first counts',
    ours: 'they are joined line by line',
    decided: 'HOOK-094, docs/events.md',
    check() {
      const first = { continue: false, stopReason: 'one', systemMessage: 'a' };
      const second = { continue: false, stopReason: 'two', systemMessage: 'b' };
      expect(aggregate(BeforeTool, first, second)).toMatchObject({
        stopReason: 'one\ntwo',
        systemMessage: 'a\nb',
      });
    },
  },
  {
    of: 'LLxprt',
    what: 'an allow after a deny and a stop, at model events',
    theirs: 'takes them back, as every later field replaces an earlier one',
    ours: 'takes nothing back',
    decided: 'ruling 19',
    check() {
      const deny: HookOutput = {
        decision: 'deny',
        reason: 'no',
        continue: false,
        stopReason: 'end',
      };
      const output = aggregate(BeforeModel, deny, {
        decision: 'allow',
        reason: 'yes',
        continue: true,
      });
      expect(output).toMatchObject({
        decision: 'deny',
        reason: 'no',
        continue: false,
        stopReason: 'end',
      });
    },
  },
  {
    of: 'LLxprt',
    what: '"clearContext" and "llm_request_boundary" in hookSpecificOutput',
    theirs: 'are read, and have methods of their own',
    ours: 'have no effect, and a warning says so',
    decided: 'HOOK-157, ruling 34',
    async check() {
      const said = { clearContext: true, llm_request_boundary: { pendingMessageStartIndex: 0 } };
      const { events, logger } = await open({ AfterAgent: says(specific(said)) });
      await events.fireAfterAgentEvent('p', 'r');
      const warnings = logger.warnings.join('\n');
      expect(warnings).toContain('clearContext');
      expect(warnings).toContain('llm_request_boundary');
    },
  },
];

const calling: Difference[] = [
  {
    of: 'both',
    what: 'a block of AfterTool in our own format',
    theirs: 'makes an error of the result',
    ours: 'comes too late: the result stays, and its reason is told to the model',
    decided: 'HOOK-178, ruling 23',
    async check() {
      const { result, call } = await callTool({
        AfterTool: says({ decision: 'deny', reason: 'Bad.' }),
      });
      expect(result.error).toBeUndefined();
      expect(result.llmContent).toMatch(/^tool output\n[^]*Bad\./);
      expect(call?.status).toBe('success');
    },
  },
  {
    of: 'both',
    what: 'a tool_input of BeforeTool with other keys than the call',
    theirs: 'replaces all arguments, in the object of the caller, and Gemini CLI tells the model',
    ours: 'is merged over the arguments, in a new object, and the result stays as the tool gave it',
    decided: 'rulings 17, 43 and 49',
    async check() {
      const args = { kept: 1, changed: 1 };
      const change = specific({ tool_input: { changed: 2, added: 3 } });
      const { executions, result, call } = await callTool({ BeforeTool: says(change) }, args);
      expect(executions[0]).toEqual({ kept: 1, changed: 2, added: 3 });
      expect(args).toEqual({ kept: 1, changed: 1 });
      expect(result.llmContent).toBe('tool output');
      expect(call).toMatchObject({ originalInput: args, input: executions[1] });
    },
  },
  {
    of: 'both',
    what: 'a call that BeforeTool blocked or stopped',
    theirs: 'has the status "error"',
    ours: 'has the status "idle", with an error-like result',
    decided: 'HOOK-129, HOOK-204, ruling 35',
    async check() {
      for (const said of [{ decision: 'block' as const }, { continue: false }]) {
        const { call } = await callTool({ BeforeTool: says({ ...said, reason: 'No.' }) });
        expect(call).toMatchObject({ status: 'idle', result: { error: { message: 'No.' } } });
      }
    },
  },
  {
    of: 'LLxprt',
    what: 'a call after which AfterTool stopped',
    theirs: 'has the status "error"',
    ours: 'has the status of the tool; the stop is told beside it',
    decided: 'HOOK-028, ruling 14',
    async check() {
      const { call } = await callTool({
        AfterTool: says({ continue: false, stopReason: 'Enough.' }),
      });
      const stopped = { event: AfterTool, reason: 'Enough.' };
      expect(call).toMatchObject({ status: 'success', stopped });
    },
  },
  {
    of: 'Gemini CLI',
    what: 'the decision "ask" where nobody can be asked',
    theirs: 'asks the user, also where tools are run without asking',
    ours: 'lets the tool run',
    decided: 'HOOK-182, ruling 48',
    async check() {
      const { call } = await callTool({ BeforeTool: says({ decision: 'ask' }) });
      expect(call?.status).toBe('success');
    },
  },
  {
    of: 'LLxprt',
    what: 'a message of AfterTool in the result',
    theirs: 'stands there alone',
    ours: 'stands behind "[System]"',
    decided: 'HOOK-131',
    async check() {
      const { result } = await callTool({ AfterTool: says({ systemMessage: 'Scanned.' }) });
      expect(result.llmContent).toBe('tool output\n\n[System] Scanned.');
    },
  },
  {
    of: 'LLxprt',
    what: 'what the triggers of model events give',
    theirs: 'an output, or undefined',
    ours: 'a plain result, which lets the call go on where nothing is said',
    decided: 'HOOK-116, HOOK-135',
    async check() {
      const { config } = await open({ BeforeModel: says({ decision: 'block', reason: 'no' }) });
      expect(await fireBeforeModelHook(config, request)).toMatchObject({
        blocked: true,
        reason: 'no',
      });
      const off = sandbox.createConfig({}, { enableHooks: false });
      expect(await fireBeforeModelHook(off, request)).toEqual({ blocked: false });
    },
  },
  {
    of: 'LLxprt',
    what: 'a block of AfterModel',
    theirs: 'is an event of the chat',
    ours: 'has no effect',
    decided: 'HOOK-180',
    async check() {
      const hooks = { AfterModel: says({ decision: 'block', reason: 'no' }) };
      const { models } = await sandbox.startModel(reply('Yes.'));
      const chat = new GeminiChat({ config: sandbox.createConfig(hooks), models, model: 'm' });
      const { turn, shown } = await readToEnd(chat.sendMessageStream('hi'));
      expect([turn.blocked, turn.verdict, shown]).toEqual([false, { kind: 'allow' }, ['Yes.']]);
    },
  },
  {
    of: 'LLxprt',
    what: 'prompt_response of AfterAgent after several calls of the model',
    theirs: 'is all that was said since the prompt',
    ours: 'is the final answer',
    decided: 'HOOK-203, ruling 25',
    async check() {
      const after = sandbox.says({});
      const look = { name: 'list_directory', args: { path: '.' } };
      const { models } = await sandbox.startModel(
        stream(chunk([{ text: 'Let me look.' }, { functionCall: look }])),
        reply('Done.'),
      );
      const config = sandbox.createConfig({ AfterAgent: [{ hooks: [after.config] }] });
      await runAgent({ config, models, model: 'm', prompt: 'Go.', tools: referenceTools });
      expect(after.inputs()).toMatchObject([{ prompt_response: 'Done.' }]);
    },
  },
];

const requesting: Difference[] = [
  {
    of: 'both',
    what: 'the error of an event that failed',
    theirs: 'has the message of what was thrown',
    ours: 'names the event and the stage before it, and has a code',
    decided: 'ruling 1, DELTA-HFAIL-002',
    async check() {
      const plans = {
        createExecutionPlan: () => {
          throw new Error('no plan');
        },
      };
      const { handler } = startHandler({ hooks: { BeforeTool: says({}) } }, { plans });
      const { errors } = await handler.fireBeforeToolEvent('any', {});
      expect(errors).toMatchObject([
        { message: 'BeforeTool: planning failed: no plan', code: 'HOOK_PLANNING_FAILED' },
      ]);
    },
  },
  {
    of: 'LLxprt',
    what: 'a tool event that no hook matches',
    theirs: 'gives undefined',
    ours: 'gives an empty success, as every event does',
    decided: 'HOOK-145, DELTA-HFAIL-003',
    async check() {
      const { events } = await open({});
      expect(await events.fireBeforeToolEvent('any', {})).toMatchObject({
        success: true,
        results: [],
      });
    },
  },
  {
    of: 'LLxprt',
    what: 'a message on the bus',
    theirs: 'has its fields in "payload"; the code of an unknown event is "unsupported_event"',
    ours: 'has its fields beside "type"; the code is "HOOK_UNKNOWN_EVENT"',
    decided: 'DELTA-HBUS-001',
    async check() {
      const { bus } = startHost({ workingDir: sandbox.workingDir });
      expect(await ask(bus, { eventName: 'UnknownEvent', correlationId: 'c' })).toMatchObject({
        correlationId: 'c',
        success: false,
        error: { code: 'HOOK_UNKNOWN_EVENT' },
      });
    },
  },
  {
    of: 'LLxprt',
    what: 'a request of the model on the bus',
    theirs: 'is in the format of hooks, or in one of their own',
    ours: 'is that of the SDK: contents may be text, and tools may be missing',
    decided: 'HOOK-141, HOOK-205, DELTA-HPAY-003, ruling 59',
    async check() {
      const { bus } = startHost({ workingDir: sandbox.workingDir });
      const send = async (eventName: string, llmRequest: object) => {
        const input = { ...inputs.AfterModel, llm_request: llmRequest };
        return (await ask(bus, { eventName, input })).success;
      };
      const messages = [{ role: 'user', content: 'hi' }];
      expect(await send('BeforeModel', { messages })).toBe(false);
      expect(await send('BeforeModel', { model: 'm', contents: 'hi' })).toBe(true);
      expect(await send('BeforeToolSelection', { model: 'm', contents: [] })).toBe(true);
      const llmResponse = { content: 'plain string' };
      const input = { ...inputs.AfterModel, llm_response: llmResponse };
      expect((await ask(bus, { eventName: 'AfterModel', input })).success).toBe(true);
    },
  },
  {
    of: 'LLxprt',
    what: 'fields that say nothing: stop_hook_active, details, an empty name or message',
    theirs: 'are missed, or refused',
    ours: 'have a default, or are taken as they are',
    decided: 'DELTA-HPAY-001, docs/embedding.md',
    async check() {
      expect(validateAfterAgentInput({ prompt: 'p', prompt_response: 'r' })).toBe(true);
      const { bus } = startHost({ workingDir: sandbox.workingDir });
      const notification = { notification_type: 'Idle', message: '' };
      for (const [eventName, input] of [
        ['AfterAgent', { prompt: 'p', prompt_response: 'r' }],
        ['Notification', notification],
        ['BeforeTool', { tool_name: '', tool_input: {} }],
      ]) {
        expect(await ask(bus, { eventName, input })).toMatchObject({ success: true });
      }
    },
  },
];

describe.each([
  ['planning', planning],
  ['registering', registering],
  ['running hooks', running],
  ['verdicts', verdicts],
  ['callers', calling],
  ['requests', requesting],
])('other than the peers, in %s:', (_area, differences) => {
  it.each(differences.map((each) => [`${each.what} ${each.ours}`, each] as const))(
    '%s',
    (_title, { check }) => check(),
  );
});
