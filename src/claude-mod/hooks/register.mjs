// The mod of hookstack for Claude Code: it puts all that happens to the process of hookstack that stays, and to one of its
// own where that one does not answer. It decides nothing itself, and what nobody could be asked about is refused.

/** What asks the hooks. `hookstack install --into claude --mod` writes where it is, unless it is on the search path. */
const PROGRAM = 'hookstack-hook';

const UNASKED =
  'Denied by hookstack, as its hooks could not be asked; the person can look at: hookstack doctor, or take it out with: hookstack install --into claude --mod --undo';

/** Ms that hooks may take, and until a process that stays is looked for again. */
const PATIENCE_MS = 600_000;
const LOOK_AGAIN_MS = 1000;

/** Where the process that stays listens, for this session. */
let door;
let lookAt = 0;
/** The session for which its settings hooks know that the mod asks. */
let named;
let transcript = '';
/** Our events that some hook waits for, as the last answer had it; unknown where a process of its own answered. */
let awaited;
/** Why the session is to end, until the person says something new. */
let stop;
/** The kinds of agents, by their ids. */
const kinds = new Map();
/** Of calls that are being made, by their ids: what is to become of the question, and what Claude Code told of the end. */
const questions = new Map();
const ends = new Map();

/** Asks all hooks about an event, in the words of a settings hook. */
async function ask($, name, fields) {
  const [session, cwd] = await Promise.all([$.session.id(), $.session.cwd()]);
  // A child of a hook, or of a tool, has another session.
  if (named !== session) {
    await $.env.set('HOOKSTACK_MOD', session);
    named = session;
  }
  const { hook_event_name: _theirs, ...own } = fields;
  const identity = { session_id: session, transcript_path: transcript };
  // Begins otherwise than what a settings hook reads, which is not asked again.
  const body = JSON.stringify({ hook_event_name: name, ...identity, cwd, ...own });
  const answer = (await askResident($, session, body)) ?? (await askProgram($, body));
  const { code, out, err } = answer;
  if (code === 2) return { decision: 'block', reason: err.trim() || UNASKED };
  if (code !== 0) throw new Error(`${PROGRAM} has ended with exit code ${code}`);
  const said = out.trim() === '' ? {} : JSON.parse(out);
  if (typeof said.systemMessage === 'string') $.ui.log(said.systemMessage);
  return said;
}

/** Asks the process that stays; `undefined` where it is not there, or wants a process of its own to answer. */
async function askResident($, session, body) {
  try {
    if (door?.session !== session) door = await findDoor($, session);
    let { path } = door ?? {};
    let sent = body;
    while (path !== undefined) {
      const { status, text } = await $.http.fetch(`http://hookstack${path}`, {
        method: 'POST',
        socketPath: door.socket,
        body: sent,
      });
      if (status === 200) {
        const answer = JSON.parse(text);
        awaited = answer.awaited ?? awaited;
        return answer;
      }
      if (status === 404) door = undefined;
      // Hooks that take their time: the answer is asked for anew, and no hook runs twice.
      path = status === 202 ? text : undefined;
      sent = '';
    }
  } catch {
    door = undefined;
  }
  return undefined;
}

/** As settings hooks have it; and the program is to answer, though the mod asks. */
async function environmentOf($) {
  return { HOOKSTACK_MOD: '', CLAUDE_PROJECT_DIR: await $.session.root() };
}

async function findDoor($, session) {
  const now = performance.now();
  if (now < lookAt) return undefined;
  lookAt = now + LOOK_AGAIN_MS;
  const { exitCode, stdout } = await $.process.run([PROGRAM, 'mod'], {
    env: await environmentOf($),
    timeoutMs: 5000,
  });
  return exitCode === 0 ? { session, ...JSON.parse(stdout) } : undefined;
}

async function askProgram($, body) {
  const { exitCode, stdout, stderr, isStdoutTruncated } = await $.process.run([PROGRAM, 'claude'], {
    env: await environmentOf($),
    stdin: body,
    timeoutMs: PATIENCE_MS,
  });
  awaited = undefined;
  if (isStdoutTruncated) throw new Error(`${PROGRAM} has said too much`);
  return { code: exitCode, out: stdout, err: stderr };
}

function agentOf(id) {
  return id === undefined ? {} : { agent_id: id, agent_type: kinds.get(id) };
}

/** Takes down that the session is to end. @returns whether it is */
function isStopped(said) {
  if (said.continue === false) stop = said.stopReason ?? 'A hook has stopped the agent.';
  return said.continue === false;
}

/** Arguments that are named as what Claude Code says itself of a call stand aside. */
const RESERVED = ['tool', 'tool_use_id', 'agentId', 'requestMeta'];

function argumentsOf({ tool: _tool, tool_use_id: _id, agentId: _agent, ...others }) {
  const { requestMeta: _meta, $shadowed: shadowed, ...plain } = others;
  return { ...plain, ...shadowed };
}

function withArguments(e, input) {
  const pairs = Object.entries(input);
  const shadowed = pairs.filter(([name]) => RESERVED.includes(name));
  return {
    ...Object.fromEntries(pairs.filter(([name]) => !RESERVED.includes(name))),
    ...Object.fromEntries(RESERVED.filter((name) => name in e).map((name) => [name, e[name]])),
    ...(shadowed.length > 0 && { $shadowed: Object.fromEntries(shadowed) }),
  };
}

async function aroundTool($, e, next) {
  const call = { tool_name: e.tool, tool_input: argumentsOf(e), tool_use_id: e.tool_use_id };
  const before = await ask($, 'PreToolUse', { ...call, ...agentOf(e.agentId) });
  const { permissionDecision: decision, ...own } = before.hookSpecificOutput ?? {};
  const reason = own.permissionDecisionReason ?? before.reason ?? before.stopReason ?? UNASKED;
  if (isStopped(before) || before.decision === 'block' || decision === 'deny') {
    return { deny: reason };
  }
  if (decision === 'ask' || decision === 'allow') {
    questions.set(e.tool_use_id, decision === 'ask' ? { ask: reason } : { allow: true });
  }
  try {
    const result = await next(own.updatedInput ? withArguments(e, own.updatedInput) : e);
    const end = ends.get(e.tool_use_id);
    const isTold = end !== undefined || (!result.isError && result.deny === undefined);
    const { updatedInput: tool_input = call.tool_input } = own;
    const context = own.additionalContext ? [own.additionalContext] : [];
    const told = isTold
      ? await afterTool($, { ...call, tool_input, ...agentOf(e.agentId), ...end }, result)
      : result;
    return context.length > 0 && told.deny === undefined
      ? { ...told, context: [...(told.context ?? []), ...context] }
      : told;
  } finally {
    questions.delete(e.tool_use_id);
    ends.delete(e.tool_use_id);
  }
}

/** What the model reads of a call that has been made. */
async function afterTool($, fields, result) {
  const hasFailed = result.isError === true;
  const given = hasFailed
    ? { error: result.text, ...fields }
    : { ...fields, tool_response: result.result };
  const said = await ask($, hasFailed ? 'ToolFailure' : 'PostToolUse', given);
  const { updatedToolOutput: output, additionalContext } = said.hookSpecificOutput ?? {};
  const objection = said.decision === 'block' ? said.reason : undefined;
  const context = [objection, additionalContext].filter((text) => typeof text === 'string');
  // What is to end may have to, as its result could not be replaced.
  if (isStopped(said)) return { deny: stop };
  if (output === undefined) {
    return context.length > 0
      ? { ...result, context: [...(result.context ?? []), ...context] }
      : result;
  }
  if (!hasFailed) return { ...result, result: output, ...(context.length > 0 && { context }) };
  return { deny: [output, ...context].join('\n\n') };
}

/** The question, beside what settings hooks of others have said. */
async function aroundPermission(e, next) {
  const below = await next(e);
  const own = questions.get(e.tool_use_id);
  if (own === undefined || below.deny !== undefined) return below;
  if (own.allow) return below.ask === undefined ? { ...below, ...own } : below;
  const { allow: _allowed, ...others } = below;
  return { ask: own.ask, ...others };
}

/** An event that settings hooks read in the same words. */
async function around($, e, next) {
  transcript = e.transcript_path ?? transcript;
  const said = await ask($, e.hook_event_name, e);
  return joined(said, await next(e));
}

function joined(said, below = {}) {
  const own = said.hookSpecificOutput ?? {};
  const hasEnded = isStopped(said);
  const context = own.additionalContext;
  return {
    ...below,
    ...(said.decision === 'block' && { block: below.block ?? said.reason ?? UNASKED }),
    ...(hasEnded && { preventContinuation: true, stopReason: stop }),
    ...(context && { additionalContext: [...(below.additionalContext ?? []), context] }),
    ...(own.decision && below.decision?.behavior !== 'deny' && { decision: own.decision }),
  };
}

/** The first moment after a tool at which Claude Code can be ended, also where the tool failed. */
async function afterBatch($, e, next) {
  if (stop === undefined && isAwaited('ToolBatchEnd')) return around($, e, next);
  const below = await next(e);
  return stop === undefined ? below : { ...below, preventContinuation: true, stopReason: stop };
}

/** Whether hooks wait for one of these events of ours, as far as that is known. */
function isAwaited(...names) {
  return names.some((name) => awaited?.includes(name) ?? true);
}

function textOf({ content }) {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

async function requestOf($, { model, agentId }) {
  const asked = { as: 'api', ...(agentId !== undefined && { agentId }) };
  const messages = (await $.session.messages(asked))
    .map((each) => ({ role: each.role === 'user' ? 'user' : 'model', content: textOf(each) }))
    .filter(({ content }) => content !== '');
  return { model, messages };
}

/** @returns an answer in place of the model's; else the model to ask */
async function beforeModel($, e, llm_request) {
  const said = await ask($, 'ModelRequest', { llm_request, ...agentOf(e.agentId) });
  const { llm_request: changed = {}, llm_response: response } = said.hookSpecificOutput ?? {};
  if (said.continue === false || said.decision !== undefined) {
    return { text: response?.text ?? said.reason ?? said.stopReason ?? UNASKED };
  }
  const { model = e.model, ...others } = changed;
  const fixed = Object.entries(others).find(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(llm_request[name]),
  );
  if (fixed === undefined) return { model };
  return {
    text: `Not asked, as a hook changed "${fixed[0]}" of the request, which a mod of Claude Code cannot`,
  };
}

/** @returns the text that takes the place of the model's, and whether its calls of tools count */
async function afterModel($, e, llm_request, text) {
  const content = { role: 'model', parts: text === '' ? [] : [text] };
  const candidates = [{ index: 0, content, finishReason: 'STOP' }];
  const llm_response = { ...(text !== '' && { text }), candidates };
  const fields = { llm_request, llm_response, ...agentOf(e.agentId) };
  const said = await ask($, 'ModelAnswer', fields);
  const response = said.hookSpecificOutput?.llm_response;
  if (said.continue === false || said.decision === 'block') {
    const reason = said.reason ?? said.stopReason ?? UNASKED;
    return { text: response?.text ?? reason, areCallsDropped: true };
  }
  return response && { text: response.text, areCallsDropped: response.areCallsDropped };
}

/** What a step gives whose answer is this text alone. */
function answerOf(e, text, usage = null) {
  const end = { stopReason: 'end_turn', usage };
  return {
    chunks: [
      { kind: 'text', index: 0, text },
      { kind: 'stop', ...end },
    ],
    result: { turnId: e.turnId, index: e.index, answer: text, toolUses: [], ...end },
  };
}

function withText(held, text) {
  const first = held.find(({ kind }) => kind === 'text');
  const chunks = held.flatMap((chunk) => {
    if (chunk.kind !== 'text') return [chunk];
    return chunk === first && text !== '' ? [{ ...chunk, text }] : [];
  });
  return first || text === '' ? chunks : [{ kind: 'text', index: 0, text }, ...chunks];
}

const refuseCall = () => ({ deny: UNASKED });
const block = () => ({ block: UNASKED });
const endAll = () => ({ preventContinuation: true, stopReason: UNASKED });
const goOn = (_$, e, next) => next(e);
/** Once, as it would not end otherwise. */
const sendBack = (_$, e, next) => (e.stop_hook_active ? next(e) : block());

export function register(on) {
  on('tool.call', aroundTool).catch(refuseCall);
  on('classic.PreToolUse', async (_$, e, next) => aroundPermission(e, next)).catch(refuseCall);
  on('classic.PostToolUse', async (_$, e, next) => {
    ends.set(e.tool_use_id, e);
    return next(e);
  }).catch(goOn);
  on('classic.PostToolUseFailure', async (_$, e, next) => {
    ends.set(e.tool_use_id, e);
    return next(e);
  }).catch(goOn);
  on('classic.PostToolBatch', afterBatch).catch(endAll);
  on('classic.PermissionRequest', around).catch(goOn);
  on('classic.UserPromptSubmit', async ($, e, next) => {
    stop = undefined;
    return around($, e, next);
  }).catch(block);
  on('classic.Stop', around).catch(sendBack);
  on('classic.SubagentStop', around).catch(sendBack);
  on('classic.PreCompact', around).catch(block);
  on('classic.PostCompact', around).catch(goOn);
  on('classic.StopFailure', around).catch(goOn);
  on('classic.SessionStart', around).catch(goOn);
  on('classic.SessionEnd', around).catch(goOn);
  on('classic.Notification', around).catch(goOn);
  on('classic.SubagentStart', async ($, e, next) => {
    kinds.set(e.agent_id, e.agent_type);
    return around($, e, next);
  }).catch(goOn);
  on('turn.step', async function* ($, e, next) {
    if (!isAwaited('BeforeModel', 'AfterModel')) return yield* next(e);
    const request = await requestOf($, e);
    const { text: instead, model } = await beforeModel($, e, request);
    if (instead !== undefined) {
      const { chunks, result } = answerOf(e, instead);
      yield* chunks;
      return result;
    }
    const step = next(model === e.model ? e : { ...e, model });
    const held = [];
    for await (const chunk of step) held.push(chunk);
    const result = await step.result;
    const said = held.map((chunk) => (chunk.kind === 'text' ? chunk.text : '')).join('');
    const change = await afterModel($, e, request, said);
    if (change === undefined) {
      yield* held;
      return result;
    }
    if (change.areCallsDropped) {
      const answer = answerOf(e, change.text, result.usage);
      yield* answer.chunks;
      return answer.result;
    }
    yield* withText(held, change.text);
    return { ...result, answer: change.text };
  }).catch(async function* (_$, e) {
    const { chunks, result } = answerOf(e, UNASKED);
    yield* chunks;
    return result;
  });
}
