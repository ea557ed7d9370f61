import type { HookExpectations, HookTest } from '../../../src/cli/shared/hookTestFile.js';
import type { Scalars } from '../../../src/config/settings/settingsKeys.js';
import type { FileGroupFields, HookFields } from '../../../src/hooks/hookFields.js';
import { events } from '../../../src/protocol/events.js';
import { HookEventName } from '../../../src/protocol/types.js';

const ASYNC_EVENTS = Object.values(HookEventName).filter((each) => events[each].canBeAsync);

/** The keys of a hook. */
export const hookDescriptions: { readonly [K in keyof HookFields]-?: string } = {
  type: '"command" runs a shell command, "rule" decides by its own keys, "remote" asks a server, "mcp_tool" calls a tool of an MCP server, "prompt" has a model judge. "plugin" is accepted as well, but cannot be run.',
  command:
    'A shell command, which runs in the project. It reads the event on stdin as JSON, and answers with JSON on stdout, or with exit code 2 to block.',
  args: 'Arguments of the program that "command" names, which is then started without a shell.',
  shell: 'The shell that runs the command: "bash" is the only one. Default: "bash".',
  name: 'For lists, messages and disabledHooks. Default: the command.',
  description: 'What the hook is for.',
  when: 'For which calls of tools it runs: a permission rule such as "Bash(git push *)", or a list of them, of which one has to match; "!" is for exceptions. Default: all.',
  decision: 'Of "rule": the verdict, "deny", "ask" or "allow".',
  reason: 'Of "rule": why, for the model or whoever is asked.',
  redact:
    'Of "rule": expressions, and what takes the place of what they find, in results (AfterTool), requests (BeforeModel) and answers (AfterModel).',
  set: 'Of "rule" at BeforeTool: arguments that are to have these values.',
  expr: 'Of "rule": an expression in CEL over what hooks read; the rule counts where it is true.',
  timeout:
    'Milliseconds until the hook is ended; in groups with a "dialect" in the unit of its agent, mostly seconds. Default: 60000; in a dialect, that of its agent.',
  env: 'Added to the environment of the hook.',
  onFailure:
    'What a failure of the hook means: "allow", the operation goes on, or "deny", it is blocked, or what a tool or the model gave is withheld. Default: "allow"; of a rule that denies, asks or redacts, "deny".',
  maxConsecutiveFailures: 'Failures in a row after which the hook is switched off. Default: never.',
  prestart: 'Start the command before its event, so that it waits on its stdin. Default: false.',
  persistent:
    'Keep the process, which then answers event after event, line by line. "processes": how many side by side, default 1; "maxMemory": MB after which one is started anew, default 512. Default: false.',
  async: `Start the command and wait for nothing, at ${ASYNC_EVENTS.join(', ')}. It decides nothing. Default: false.`,
  asyncRewake:
    'The same; where it exits with code 2, or blocks, an agent that has finished goes back to work with the reason. Default: false.',
  rewakeMessage: 'What the agent reads before that reason.',
  url: 'Of "remote": the server, https://HOST/PATH or nats://HOST:PORT/TEAM/AGENT; without TLS only on this machine. ${HOOKSTACK_…} in its path is a variable of the host.',
  tokenFile:
    'Of "remote": a file of mode 600 with what proves who asks: a bearer token; over NATS "user:password", the seed of an nkey, or a creds file.',
  tokenVariable: 'Of "remote": the same in a variable of the host.',
  caFile: 'Of "remote": a file with the certificates to believe. Default: those of Node.js.',
  certFile: 'Of "remote": a file with a certificate of one\'s own.',
  keyFile: 'Of "remote": the file with its private key.',
  headers: 'Of "remote" with https://: more headers of the request.',
  server: 'Of "mcp_tool": the name of a server in "mcpServers" of the same file.',
  tool: 'Of "mcp_tool": the tool that is called. Its text is read as what a command prints.',
  input:
    'Of "mcp_tool": the arguments of the tool. In texts, ${tool_input.file_path} is that field of what hooks read. Default: none.',
  mcpServer:
    'Of "mcp_tool": the server itself, in place of one in "mcpServers". Of a program "command", "args", "env" and "cwd"; over HTTP "type": "http", "url" and "headers". ${NAME} in a value of "env" or "headers" is a variable of the host.',
  prompt:
    'Of "prompt": what the model is to judge. $ARGUMENTS is what hooks read; without it, that follows the text.',
  model: 'Of "prompt": the model. Default: that of the agent, or of "promptModel".',
};

/** The keys of a group of hooks in a file. */
export const groupDescriptions: { readonly [K in keyof FileGroupFields]-?: string } = {
  matcher:
    'A JavaScript regular expression for the name of the tool, or the kind of the sub-agent, not anchored. Default: all.',
  when: 'The same as of a hook, for all of them.',
  sequential:
    'All hooks of the event run one after the other, each reading what the one before changed. Default: false, at the same time.',
  dialect:
    'The agent that the hooks were written for, such as "claude" for Claude Code or "codex" for Codex. Matcher, timeout and formats are as it reads them.',
  hooks: 'The hooks of this group, in order.',
};

/** The keys of settings.json besides `hooks`. */
export const settingsDescriptions: { readonly [K in keyof Scalars]-?: string } = {
  enableHooks: 'Hooks run only where this is true. Default: false.',
  disabledHooks:
    'Hooks that do not run: their names, or the commands of those without one. "user:NAME" means the one of the user alone; so do system, extension and project.',
  unknownTools:
    'What becomes of a tool of another agent that is not known here, while a guard names tools and none looks at it: "tell" (default) tells the person once a session, "deny" refuses it.',
  promptModel:
    'The model that judges hooks of the type "prompt", in place of that of the agent; has no effect in a project. "model": its name; "baseUrl": another address than Google\'s; "apiKeyEnv": the variable with its key, default GEMINI_API_KEY.',
  promptBudget:
    'What those hooks may use; has no effect in a project. "tokens": in a session, default 200000; "seconds": for each judgement, default 30.',
  afterModelDisplay:
    'When the answer of the model is shown: "stream", as it arrives, or "hold", once the AfterModel hooks have answered. Default: "stream".',
  maxStopHookRetries:
    'How often in a row AfterAgent hooks may send the agent back to work. Default: 3.',
  hookEnvironment:
    'Which environment variables hooks get. "inherit": "all" passes everything but what "redact" names, "none" passes what "allow" names. Default: all.',
  maxParallelHooks:
    'Hook processes that may run at a time for one event; the others wait. Default: 16.',
  maxHookText:
    'Characters of one text of a hook for the model or the user, at most. Default: 10000.',
  maxAsyncHooks: 'Async hooks that may run at a time; four times as many wait. Default: 16.',
  approvals:
    'What becomes of hooks that ask for a person. "whenNobody": where nobody can be asked, "allow" or "deny"; default: allow, and deny where a guard asks. "timeout": ms that a person has; default: 300000.',
  fleet:
    'How this host belongs to a fleet; has no effect in a project. "url": nats://HOST:PORT/TEAM/AGENT, or the https:// address of a policy server. "tokenFile", "tokenVariable", "caFile", "certFile", "keyFile": as of a remote hook. "record": whether what happens is sent to the record; default: false. "approvals": whether people of the fleet are asked; default: false.',
  hooksRunner:
    'How hooks are started. "warmShells": how many may be started ahead of their event; default: 16. "spawner": whether a helper process starts them; default: true.',
};

/** The keys of a `*.hooktest.json`. */
export const hookTestDescriptions: { readonly [K in keyof HookTest]-?: string } = {
  $schema: 'The JSON Schema of this file, for editors.',
  event: 'The event to fire.',
  input: 'Its fields, as scripts read them. What is missing is made up.',
  expect: 'What the hooks are to say. What is not named is not compared.',
};

/** The keys of `expect`. */
export const expectationDescriptions: { readonly [K in keyof HookExpectations]-?: string } = {
  decision: 'What happens to the operation.',
  reason: 'The reason of the decision: the text, or /a regular expression/; null for none.',
  systemMessage: 'The text for the model: the text, or /a regular expression/; null for none.',
  exit: 'Exit codes by the name of the hook; null for one that does not run.',
  modified: 'Fields of hookSpecificOutput, such as tool_input; null for one that is not there.',
};
