import { quoteWord } from '../../util/quoteWord.js';
import { HookEventName } from '../../protocol/types.js';

/** It looks at one field of its event. */
export interface StarterHook {
  readonly name: string;
  readonly matcher?: string;
  /** A sentence. */
  readonly purpose: string;
  /** Path of the field; without it, the hook says something every time. */
  readonly field?: readonly string[];
  /** Read alike by bash, Python and JavaScript. */
  readonly pattern: string;
  readonly reason: string;
  /** Fields of an event that it reacts to. */
  readonly input: object;
  /** Arguments of `hookstack fire` for such an event. */
  readonly fireArguments: string;
}

export function starterHook(event: HookEventName): StarterHook {
  return guards[event] ?? note(event);
}

const guards: { readonly [E in HookEventName]?: StarterHook } = {
  [HookEventName.BeforeTool]: {
    name: 'protect-env',
    matcher: '^(write_file|replace)$',
    purpose: 'Blocks changes of files that are named .env.',
    field: ['tool_input', 'file_path'],
    pattern: String.raw`(^|/)\.env$`,
    reason: 'Files named .env hold secrets and are not to be changed. Ask the user to do it.',
    input: { tool_name: 'write_file', tool_input: { file_path: '.env', content: 'DEBUG=1' } },
    fireArguments: `--tool write_file --input '{"file_path": ".env"}'`,
  },
  [HookEventName.BeforeAgent]: {
    name: 'no-private-keys',
    purpose: 'Blocks prompts that hold a private key.',
    field: ['prompt'],
    pattern: 'BEGIN [A-Z ]*PRIVATE KEY',
    reason: 'The prompt holds a private key, which the model must not read.',
    input: { prompt: 'What is -----BEGIN PRIVATE KEY-----?' },
    fireArguments: `--prompt 'What is -----BEGIN PRIVATE KEY-----?'`,
  },
  [HookEventName.BeforeModel]: {
    name: 'no-pro-models',
    purpose: 'Blocks calls of the expensive models.',
    field: ['llm_request', 'model'],
    pattern: '-pro',
    reason: 'This project uses the flash models only.',
    input: { llm_request: { model: 'gemini-2.5-pro', contents: 'Hello' } },
    fireArguments: `--request '{"model": "gemini-2.5-pro"}'`,
  },
  [HookEventName.AfterAgent]: {
    name: 'no-todos',
    purpose: 'Sends the agent back to work while its answer says TODO.',
    field: ['prompt_response'],
    pattern: 'TODO',
    reason: 'Your answer still says TODO. Do what it stands for.',
    input: { prompt: 'Write a parser', prompt_response: 'Done, except for one TODO.' },
    fireArguments: `--response 'Done, except for one TODO.'`,
  },
};

function note(event: HookEventName): StarterHook {
  return {
    name: `note-${event}`,
    purpose: `Says that ${event} has happened.`,
    pattern: '',
    reason: `The hook note-${event} has seen ${event}.`,
    input: {},
    fireArguments: '',
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
  bash: { extension: 'sh', programs: ['bash', 'jq'], write: writeBash },
  node: { extension: 'mjs', programs: ['node'], interpreter: 'node', write: writeNode },
  python: { extension: 'py', programs: ['python3'], interpreter: 'python3', write: writePython },
} as const satisfies Record<string, StarterLanguage>;

const BLOCKS = 'The event is JSON on stdin. Exit code 2 blocks, and stderr says why.';
const ANSWERS = 'The event is JSON on stdin, and the answer is JSON on stdout.';

function writeBash({ purpose, field, pattern, reason }: StarterHook): string {
  const head = `#!/usr/bin/env bash\n# ${purpose} ${field ? BLOCKS : ANSWERS}\nset -euo pipefail\n`;
  if (!field) {
    return `${head}
event=$(jq --raw-output '.hook_event_name')
echo "$event" >&2
jq --null-input --arg message ${quoteWord(reason)} '{systemMessage: $message}'
`;
  }
  return `${head}
value=$(jq --raw-output '.${field.join('.')} // ""')
pattern=${quoteWord(pattern)}
if [[ $value =~ $pattern ]]; then
  echo ${quoteWord(reason)} >&2
  exit 2
fi
`;
}

function writeNode({ purpose, field, pattern, reason }: StarterHook): string {
  const head = `#!/usr/bin/env node
// ${purpose} ${field ? BLOCKS : ANSWERS}
import { json } from 'node:stream/consumers';

const event = await json(process.stdin);
`;
  if (!field) {
    return `${head}console.error(event.hook_event_name);
console.log(JSON.stringify({ systemMessage: ${JSON.stringify(reason)} }));
`;
  }
  return `${head}const value = event.${field.join('?.')} ?? '';
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
