import { quoteWord } from '../../util/quoteWord.js';
import { HookEventName, type DialectName } from '../../protocol/types.js';
import { DEFAULT_TOOL } from '../shared/options.js';

/** It looks at one field of its event. */
export interface StarterHook {
  readonly name: string;
  readonly matcher?: string;
  readonly dialect?: DialectName;
  /** What is called otherwise in Claude Code. */
  readonly claude?: Pick<StarterHook, 'matcher' | 'field'>;
  /** A sentence. */
  readonly purpose: string;
  /** Path of the field; without it, the hook says something every time. */
  readonly field?: readonly string[];
  /** Read alike by Python and JavaScript. */
  readonly pattern: string;
  /** The same for the text of the field as JSON, from its opening quote, for bash. */
  readonly textPattern?: string;
  readonly reason: string;
  /** Whether its failure must block, as somebody relies on it. */
  readonly failsClosed?: boolean;
  /** Fields of an event that it reacts to. */
  readonly input: object;
  /** The tool of that event. */
  readonly tool?: string;
  /** Arguments of `hookstack fire` for such an event. */
  readonly fireArguments: string;
}

export interface StarterChoice {
  /** Whose names the hook reads. Default: ours. */
  readonly dialect?: DialectName;
  readonly name?: string;
  readonly matcher?: string;
  /** One that the matcher fits. */
  readonly tool?: string;
}

export function starterHook(
  event: HookEventName,
  { name, matcher, tool, dialect }: StarterChoice = {},
): StarterHook {
  const hook = event === HookEventName.BeforeTool ? toolGuard(tool) : guards[event];
  const chosen = hook ?? note(event, name, tool);
  return {
    ...chosen,
    ...(dialect === 'claude' && chosen.claude),
    ...(dialect !== undefined && { dialect }),
    ...(name !== undefined && { name }),
    ...(matcher !== undefined && { matcher }),
  };
}

const SHELL_TOOL = 'run_shell_command';

function toolGuard(tool: string = DEFAULT_TOOL): StarterHook {
  const guard = tool === SHELL_TOOL ? commandGuard : fileGuard;
  const { args, ...hook } = guard;
  return {
    ...hook,
    tool,
    failsClosed: true,
    input: { tool_name: tool, tool_input: args },
    fireArguments: `--tool ${tool} --input ${quoteWord(JSON.stringify(args))}`,
  };
}

/** Characters inside of a text of JSON. */
const CHARACTERS = String.raw`([^"\]|\\.)*`;

const fileGuard = {
  name: 'protect-env',
  matcher: '^(write_file|replace)$',
  claude: { matcher: 'Write|Edit' },
  purpose: 'Blocks changes of files that are named .env.',
  field: ['tool_input', 'file_path'],
  pattern: String.raw`(^|/)\.env$`,
  textPattern: String.raw`(${CHARACTERS}/)?\.env"`,
  reason: 'Files named .env hold secrets and are not to be changed. Ask the user to do it.',
  args: { file_path: '.env', content: 'DEBUG=1' },
};

const commandGuard = {
  name: 'no-rm-rf',
  matcher: `^${SHELL_TOOL}$`,
  claude: { matcher: 'Bash' },
  purpose: 'Blocks commands with rm -rf.',
  field: ['tool_input', 'command'],
  pattern: 'rm -rf',
  textPattern: `${CHARACTERS}rm -rf`,
  reason: 'rm -rf is not to be run here. Ask the user to do it.',
  args: { command: 'rm -rf /tmp/example' },
};

const guards: { readonly [E in HookEventName]?: StarterHook } = {
  [HookEventName.BeforeAgent]: {
    name: 'no-private-keys',
    purpose: 'Blocks prompts that hold a private key.',
    field: ['prompt'],
    pattern: 'BEGIN [A-Z ]*PRIVATE KEY',
    textPattern: `${CHARACTERS}BEGIN [A-Z ]*PRIVATE KEY`,
    failsClosed: true,
    reason: 'The prompt holds a private key, which the model must not read.',
    input: { prompt: 'What is -----BEGIN PRIVATE KEY-----?' },
    fireArguments: `--prompt 'What is -----BEGIN PRIVATE KEY-----?'`,
  },
  [HookEventName.BeforeModel]: {
    name: 'no-pro-models',
    purpose: 'Blocks calls of the expensive models.',
    field: ['llm_request', 'model'],
    pattern: '-pro',
    textPattern: `${CHARACTERS}-pro`,
    failsClosed: true,
    reason: 'This project uses the flash models only.',
    input: { llm_request: { model: 'gemini-2.5-pro', contents: 'Hello' } },
    fireArguments: `--request '{"model": "gemini-2.5-pro"}'`,
  },
  [HookEventName.AfterAgent]: {
    name: 'no-todos',
    purpose: 'Sends the agent back to work while its answer says TODO.',
    field: ['prompt_response'],
    claude: { field: ['last_assistant_message'] },
    pattern: 'TODO',
    textPattern: `${CHARACTERS}TODO`,
    reason: 'Your answer still says TODO. Do what it stands for.',
    input: { prompt: 'Write a parser', prompt_response: 'Done, except for one TODO.' },
    fireArguments: `--response 'Done, except for one TODO.'`,
  },
};

function note(event: HookEventName, name = `note-${event}`, tool?: string): StarterHook {
  return {
    name,
    purpose: `Says that ${event} has happened.`,
    pattern: '',
    reason: `The hook ${name} has seen ${event}.`,
    input: tool === undefined ? {} : { tool_name: tool },
    ...(tool !== undefined && { tool }),
    fireArguments: tool === undefined ? '' : `--tool ${tool}`,
  };
}

export interface StarterLanguage {
  readonly extension: string;
  /** Needed on the PATH. */
  readonly programs: readonly string[];
  /** Missing where the file is a program itself. */
  readonly interpreter?: string;
  readonly write: (hook: StarterHook) => string;
}

export const starterLanguages = {
  bash: { extension: 'sh', programs: ['bash'], write: writeBash },
  node: { extension: 'mjs', programs: ['node'], interpreter: 'node', write: writeNode },
  typescript: {
    extension: 'mts',
    programs: ['node'],
    interpreter: 'node',
    write: writeTypescript,
  },
  python: { extension: 'py', programs: ['python3'], interpreter: 'python3', write: writePython },
} as const satisfies Record<string, StarterLanguage>;

const BLOCKS = 'The event is JSON on stdin. Exit code 2 blocks, and stderr says why.';
const ANSWERS = 'The event is JSON on stdin, and the answer is JSON on stdout.';

/** Reads JSON without jq, which is often missing. */
function writeBash({ purpose, field, textPattern = '', reason }: StarterHook): string {
  const head = `#!/usr/bin/env bash\n# ${purpose} ${field ? BLOCKS : ANSWERS}\nset -euo pipefail\n`;
  if (!field) {
    return `${head}
event=$(cat)
[[ $event =~ '"hook_event_name":"'([A-Za-z]+) ]] && echo "\${BASH_REMATCH[1]}" >&2
echo ${quoteWord(JSON.stringify({ systemMessage: reason }))}
`;
  }
  return `${head}
event=$(cat)
# The key and its text, as JSON. Where jq is installed, it reads any field: jq -r '.${field.join('.')}' <<< "$event"
pattern=${quoteWord(`"${field.at(-1)}" *: *"${textPattern}`)}
if [[ $event =~ $pattern ]]; then
  echo ${quoteWord(reason)} >&2
  exit 2
fi
`;
}

function writeNode(hook: StarterHook): string {
  return `${nodeHead(hook)}
const event = await json(process.stdin);
${nodeBody(hook)}`;
}

/** Only what Node strips, so that it runs the file as it is. */
function writeTypescript(hook: StarterHook): string {
  const [first = 'hook_event_name', second] = hook.field ?? [];
  const type = second === undefined ? 'string' : `{ readonly ${second}?: string }`;
  return `${nodeHead(hook)}
interface Event {
  readonly ${first}?: ${type};
}

const event = (await json(process.stdin)) as Event;
${nodeBody(hook)}`;
}

function nodeHead({ purpose, field }: StarterHook): string {
  return `#!/usr/bin/env node
// ${purpose} ${field ? BLOCKS : ANSWERS}
import { json } from 'node:stream/consumers';
`;
}

function nodeBody({ field, pattern, reason }: StarterHook): string {
  if (!field) {
    return `console.error(event.hook_event_name);
console.log(JSON.stringify({ systemMessage: ${JSON.stringify(reason)} }));
`;
  }
  return `const value = event.${field.join('?.')} ?? '';
if (/${pattern.replaceAll('/', String.raw`\/`)}/.test(value)) {
  console.error(${JSON.stringify(reason)});
  process.exitCode = 2;
}
`;
}

function writePython({ purpose, field, pattern, reason }: StarterHook): string {
  const head = `#!/usr/bin/env python3
# ${purpose} ${field ? BLOCKS : ANSWERS}
import json
${field ? 'import re\n' : ''}import sys

event = json.load(sys.stdin)
`;
  if (!field) {
    return `${head}print(event["hook_event_name"], file=sys.stderr)
print(json.dumps({"systemMessage": ${JSON.stringify(reason)}}))
`;
  }
  const gets = field.map((name, index) =>
    index < field.length - 1 ? `.get("${name}", {})` : `.get("${name}", "")`,
  );
  return `${head}value = event${gets.join('')}
if re.search(r"${pattern}", value):
    print(${JSON.stringify(reason)}, file=sys.stderr)
    sys.exit(2)
`;
}
