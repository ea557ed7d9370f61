// Written by "hookstack install --into opencode", which writes it anew: all hooks of the project run for opencode.
// A tool that they cannot be asked about does not run.
import { execFile } from 'node:child_process';
import path from 'node:path';

/** Where the program is in the project; else the system looks for it. */
const FOLDER = '';
const IS_WINDOWS = process.platform === 'win32';
const NAME = IS_WINDOWS ? 'hookstack' : 'hookstack-hook';
const ARGUMENTS = IS_WINDOWS ? ['hook', '--from', 'opencode'] : ['opencode'];
/** Bytes; more than tools give. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** What somebody wanted to be read by the model, or by whoever wrote the prompt. */
class Refusal extends Error {}

export default async function hookstack({ client, directory }) {
  const file = FOLDER === '' ? NAME : path.join(import.meta.dirname, '../..', FOLDER, NAME);
  const program = IS_WINDOWS ? `"${file}"` : file;
  /** By session: the one that a person talks to, and which agent works for it. */
  const sessions = new Map();
  const created = new Set();
  const started = new Set();
  /** By session: with what hooks sent the agent back to work, and which answer has been seen. */
  const sentBack = new Map();
  const seen = new Map();
  /** By call: what the model is to read with its result. */
  const notes = new Map();
  /** By call that failed: what the model reads of it. What was refused here has said all. */
  const failures = new Map();
  const endings = new Set();
  let isBroken = false;

  /** @throws Refusal where hooks could not be asked, though they had to be; Error where the program is broken */
  async function ask(name, sessionID, fields) {
    const event = { hook_event_name: name, cwd: directory, session_id: sessionID, ...fields };
    const { code, stdout, stderr } = await run(program, directory, JSON.stringify(event));
    if (code === 2) throw new Refusal(stderr.trim() || 'Blocked by a hook');
    const answer = code === 0 ? parse(stdout) : undefined;
    if (!answer) {
      const problem = `Blocked, as no hook could be asked: ${NAME} ended with ${code} ${stderr.trim()}`;
      if (!isBroken) tell(`${problem}. To install it: npm install --global hookstack`);
      isBroken = true;
      throw new Error(problem);
    }
    if (answer.systemMessage) tell(answer.systemMessage);
    const said = answer.hookSpecificOutput ?? {};
    const isEnd = answer.continue === false;
    const isRefused = isEnd || answer.decision === 'block' || said.permissionDecision === 'deny';
    const reason = said.permissionDecisionReason ?? answer.reason ?? answer.stopReason;
    return { ...said, isEnd, isRefused, reason, context: said.additionalContext };
  }

  function tell(message) {
    const told = [
      () => client.app.log({ body: { service: 'hookstack', level: 'warn', message } }),
      () => client.tui.showToast({ body: { title: 'hookstack', message, variant: 'warning' } }),
    ];
    for (const each of told)
      Promise.resolve()
        .then(each)
        .catch(() => undefined);
  }

  /** Of a subagent, the session that has started it counts: what is to end is all of it. */
  async function sessionOf(sessionID) {
    const known = sessions.get(sessionID);
    if (known) return known;
    const { data } = await client.session.get({ path: { id: sessionID } });
    const parent = data?.parentID && (await sessionOf(data.parentID));
    const session = parent
      ? { root: parent.root, who: { agent_id: sessionID, agent_type: data.agent } }
      : { root: sessionID, who: {} };
    if (data) sessions.set(sessionID, session);
    return session;
  }

  /** Tools of MCP servers are called SERVER_TOOL, which other tools may be, too. */
  async function nameOf(tool) {
    if (!tool.includes('_') || tool === 'apply_patch') return tool;
    const { data, error } = await client.mcp.status();
    if (error) throw new Error(`Blocked, as it is not known whose tool ${tool} is`);
    const servers = Object.keys(data ?? {}).map((name) => name.replace(/[^\w-]/g, '_'));
    const [server] = servers
      .filter((name) => tool.startsWith(`${name}_`))
      .toSorted((a, b) => b.length - a.length);
    return server === undefined ? tool : `mcp__${server}__${tool.slice(server.length + 1)}`;
  }

  async function askAbout(name, { tool, sessionID, callID }, input, fields = {}) {
    const { root, who } = await sessionOf(sessionID);
    const call = { tool_name: await nameOf(tool), tool_input: input ?? {}, tool_use_id: callID };
    const answer = await ask(name, root, { ...who, ...call, ...fields });
    if (answer.isEnd) await client.session.abort({ path: { id: root } });
    return answer;
  }

  async function judge(call, output) {
    const answer = await askAbout('PreToolUse', call, output.args);
    const { isRefused, reason, context, updatedInput } = answer;
    if (isRefused) throw new Refusal(joined(reason ?? 'A hook refuses this call', context));
    if (context) notes.set(call.callID, context);
    if (!updatedInput) return;
    // Another object would not be looked at.
    for (const name of Object.keys(output.args)) delete output.args[name];
    Object.assign(output.args, updatedInput);
  }

  async function failureOf(call, { input, error }) {
    const answer = await askAbout('PostToolUseFailure', call, input, {
      error,
      tool_response: error,
    });
    const { updatedToolOutput = error, isRefused, reason, context } = answer;
    return joined(updatedToolOutput, isRefused && reason, context);
  }

  /** A person who stopped the agent, or an error that did, is not to be contradicted. */
  async function atEnd(sessionID) {
    const { root } = await sessionOf(sessionID);
    if (root !== sessionID) return;
    const { data = [] } = await client.session.messages({
      path: { id: sessionID },
      query: { limit: 10 },
    });
    const { info, parts } = data.findLast((each) => each.info.role === 'assistant') ?? {};
    if (!info?.time.completed || info.error || seen.get(sessionID) === info.id) return;
    seen.set(sessionID, info.id);
    const { isEnd, isRefused, reason } = await ask('Stop', sessionID, {
      stop_hook_active: sentBack.has(sessionID),
      last_assistant_message: textsOf(parts).join('\n'),
    });
    if (isEnd || !isRefused) return;
    sentBack.set(sessionID, reason);
    const body = { parts: [{ type: 'text', text: reason }] };
    await client.session.promptAsync({ path: { id: sessionID }, body });
  }

  async function sessionEnds(sessionID) {
    if (started.delete(sessionID)) await ask('SessionEnd', sessionID, { reason: 'other' });
  }

  /** Nobody waits for what happens at an event, but for the end of opencode itself. */
  function inBackground(work) {
    const ending = work.catch(() => undefined).finally(() => endings.delete(ending));
    endings.add(ending);
  }

  return {
    'chat.message': async ({ sessionID }, { message, parts }) => {
      const { root } = await sessionOf(sessionID);
      if (root !== sessionID) return;
      const prompt = textsOf(parts.filter(({ synthetic }) => !synthetic)).join('\n');
      if (sentBack.get(sessionID) === prompt) return;
      sentBack.delete(sessionID);
      const source = created.has(sessionID) ? 'startup' : 'resume';
      const asked = [['UserPromptSubmit', { prompt }]];
      if (!started.has(sessionID)) asked.unshift(['SessionStart', { source }]);
      const read = [];
      for (const [name, fields] of asked) {
        try {
          const {
            isRefused,
            reason = 'A hook refuses this prompt',
            context,
          } = await ask(name, sessionID, fields);
          if (isRefused) throw new Refusal(reason);
          if (context) read.push(context);
        } catch (error) {
          // No tool runs then; talking is nobody's harm.
          if (!(error instanceof Refusal)) continue;
          tell(error.message);
          throw error;
        }
        started.add(sessionID);
      }
      if (read.length === 0) return;
      // They are put in the order of their ids.
      const id = `${parts.at(-1)?.id ?? 'prt_'}x`;
      const of = { sessionID, messageID: message.id };
      parts.push({ id, ...of, type: 'text', text: read.join('\n\n'), synthetic: true });
    },

    'tool.execute.before': async (call, output) => {
      try {
        await judge(call, output);
      } catch (error) {
        failures.set(call.callID, error.message);
        throw error;
      }
    },

    'tool.execute.after': async (call, output) => {
      const note = notes.get(call.callID);
      notes.delete(call.callID);
      if (!output) return;
      const given = resultOf(output);
      const { exit } = output.metadata ?? {};
      const { updatedToolOutput, isRefused, reason, context } = await askAbout(
        'PostToolUse',
        call,
        call.args,
        { tool_response: given, ...(typeof exit === 'number' && { exit_code: exit }) },
      );
      if (updatedToolOutput !== undefined) hide(output, String(updatedToolOutput));
      const added = joined(isRefused && reason, context, note);
      if (added !== '') write(output, joined(updatedToolOutput ?? given, added));
    },

    // Nothing else is told of a tool that failed.
    'experimental.chat.messages.transform': async (_input, { messages }) => {
      const failed = messages
        .flatMap(({ parts }) => parts)
        .filter(({ type, state }) => type === 'tool' && state.status === 'error');
      for (const { state, ...call } of failed) {
        const { callID } = call;
        if (!failures.has(callID)) {
          failures.set(callID, await failureOf(call, state).catch(({ message }) => message));
        }
        state.error = failures.get(callID);
      }
    },

    event: async ({ event: { type, properties } }) => {
      if (type === 'session.created') created.add(properties.info.id);
      if (type === 'session.idle') inBackground(atEnd(properties.sessionID));
      if (type === 'session.deleted') inBackground(sessionEnds(properties.info.id));
    },

    dispose: async () => {
      await Promise.all(endings);
      await Promise.allSettled([...started].map(sessionEnds));
    },
  };
}

function run(program, cwd, input) {
  return new Promise((resolve) => {
    // All words are known, so that a shell finds nothing in them; without one, no script starts on Windows.
    const options = { cwd, shell: IS_WINDOWS, maxBuffer: MAX_ANSWER };
    const child = execFile(program, ARGUMENTS, options, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    );
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

function parse(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value ? value : undefined;
  } catch {
    return undefined;
  }
}

function joined(...texts) {
  return texts.filter(Boolean).join('\n\n');
}

function textsOf(parts) {
  return parts.filter(({ type }) => type === 'text').map(({ text }) => text);
}

/** Tools of MCP servers give blocks; and what programs read is beside them. */
function resultOf({ output, content, structuredContent }) {
  if (!Array.isArray(content)) return output ?? '';
  const texts = content.map(({ text, resource }) => text ?? resource?.text);
  const structured = structuredContent && JSON.stringify(structuredContent);
  return joined(...texts, texts.includes(structured) ? '' : structured);
}

/** Nothing else of the result is kept, as it may say the same. */
function hide(output, text) {
  if (output.content) output.content = [];
  delete output.structuredContent;
  delete output.attachments;
  for (const name of ['output', 'preview']) {
    if (typeof output.metadata?.[name] === 'string') output.metadata[name] = text;
  }
  write(output, text);
}

function write(output, text) {
  if (!output.content) output.output = text;
  else {
    const others = output.content.filter(({ type }) => type !== 'text');
    output.content = [{ type: 'text', text }, ...others];
  }
}
