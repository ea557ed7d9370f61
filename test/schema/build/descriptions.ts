import type { HookExpectations, HookTest } from '../../../src/cli/shared/hookTestFile.js';
import type { Scalars } from '../../../src/config/settings/settingsKeys.js';
import type { FileGroupFields, HookFields } from '../../../src/hooks/hookFields.js';

/** The keys of a hook. */
export const hookDescriptions: { readonly [K in keyof HookFields]-?: string } = {
  type: '"command" runs a shell command, "remote" asks a server. "plugin" is accepted as well, but cannot be run.',
  command:
    'A shell command; it runs in the project. It reads the event on stdin as JSON, and answers with JSON on stdout, or with exit code 2 to block. $LLXPRT_PROJECT_DIR names the project.',
  args: 'Arguments of the program that "command" names, which is then started without a shell. Nothing is expanded but references to the project.',
  shell: 'The shell that runs the command: "bash" is the only one. Default: "bash".',
  name: 'For lists, messages and disabledHooks. Default: the command.',
  description: 'What the hook is for.',
  timeout:
    'Milliseconds until the hook is ended; seconds in groups with "dialect": "claude". Default: 60000; in a dialect, that of its agent.',
  env: 'Added to the environment of the hook.',
  onFailure:
    'What a failure of the hook means for the operation: "allow", it goes on, or "deny", it is blocked; after a tool or the model, what they gave is withheld. Default: "allow".',
  maxConsecutiveFailures: 'Failures in a row after which the hook is switched off. Default: never.',
  prestart:
    'Start the command before its event comes, so that it waits on its stdin. For commands that do nothing before they read it. Default: false.',
  persistent:
    'Keep the process, which then answers one event after the other, line by line. "processes": how many answer side by side, default 1; "maxMemory": MB after which one is started anew, default 512. Default: false.',
  url: 'Of "remote": the server that is asked, https://HOST/PATH or nats://HOST:PORT/TEAM/AGENT. It gets the event as JSON, and answers with the JSON of a hook. ${HOOKSTACK_…} in its path is a variable of the host.',
  tokenFile:
    'Of "remote": a file of mode 600 with what proves who asks: a bearer token; over NATS "user:password", the seed of an nkey, or a creds file. ~/ is the home directory.',
  tokenVariable: 'Of "remote": the same in a variable of the host.',
  caFile: 'Of "remote": a file with the certificates to believe. Default: those of Node.js.',
  certFile: 'Of "remote": a file with a certificate of one\'s own.',
  keyFile: 'Of "remote": the file with its private key.',
  headers: 'Of "remote" with https://: more headers of the request.',
};

/** The keys of a group of hooks in a file. */
export const groupDescriptions: { readonly [K in keyof FileGroupFields]-?: string } = {
  matcher:
    'A JavaScript regular expression for the name of the tool, not anchored: write ^write_file$ for exactly one tool. Missing, "" and "*" match every tool.',
  sequential:
    'One after the other, each reading what the one before changed. Holds for all hooks of the event. Default: false, all at the same time.',
  dialect:
    'The agent that the hooks were written for, when it is another one: "claude" for Claude Code, "gemini" for Gemini CLI. Matcher, timeout and formats are as that agent reads them.',
  hooks: 'The hooks of this group, in order.',
};

/** The keys of settings.json besides `hooks`. */
export const settingsDescriptions: { readonly [K in keyof Scalars]-?: string } = {
  enableHooks: 'Hooks run only where this is true. Default: false.',
  disabledHooks:
    'Hooks that do not run: their names, or the commands of those without one. "user:NAME" means the one of the user alone; so do system, extension and project. In a project, only hooks of the project are meant.',
  afterModelDisplay:
    'When the answer of the model is shown: "stream", as it arrives, or "hold", once the AfterModel hooks have answered. Default: "stream".',
  maxStopHookRetries:
    'How often in a row AfterAgent hooks may send the agent back to work. Default: 3.',
  hookEnvironment:
    'Which environment variables hooks get. "inherit": "all" passes everything but what "redact" names, "none" passes what "allow" names. Patterns may hold *; "@secrets" stands for the usual names of secrets. Default: all.',
  maxParallelHooks:
    'Hook processes that may run at a time for one event; the others wait. Default: 16.',
  approvals:
    'What becomes of hooks that ask for a person. "whenNobody": what counts where nobody can be asked; default: allow, and deny where a guard asks. "timeout": ms that a person has; default: 300000.',
  fleet:
    'How this host belongs to a fleet; of your own file and the system\'s only. "url": nats://HOST:PORT/TEAM/AGENT, or the https:// address of a policy server. "tokenFile", "tokenVariable": what proves who asks. "caFile", "certFile", "keyFile": for TLS. "record": whether what happens is sent to the record of the fleet; default: false. "approvals": whether people of the fleet are asked; default: false.',
  hooksRunner:
    'How hooks are started. "warmShells": how many of them may be started ahead of their event; 0 starts none; default: 16. "spawner": whether a helper process starts them, once the first hook has run; default: true.',
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
