import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import pythonHelper from '../../../python/hookstack.py?raw';
import type { HookEventName } from '../../protocol/types.js';
import { quoteWord } from '../../util/quoteWord.js';
import { UsageError } from '../shared/usageError.js';
import { starterLanguages, type StarterHook, type StarterLanguage } from './starterHooks.js';

type LanguageName = keyof typeof starterLanguages;

/**
 * A language whose hook stays for all events of a session.
 *
 * @param project where the hook is going to be
 * @throws UsageError where the hook could not run there
 */
export function persistentLanguage(
  name: LanguageName,
  project: string,
  dialect: string | undefined,
): StarterLanguage {
  if (dialect !== undefined) {
    throw new UsageError(
      '--persistent is for hooks of hookstack alone, as other agents start a hook for each event: leave out --dialect or --persistent',
    );
  }
  const language = persistentLanguages[name];
  if (language.write === writeNode && !isInstalled(project)) {
    throw new UsageError(
      `A persistent hook in ${name} imports hookstack/author, and the package is not installed in the project: npm install --save-dev hookstack, or choose --language python or bash`,
    );
  }
  return language;
}

/** As Node looks for a package. */
function isInstalled(project: string): boolean {
  const parent = dirname(project);
  return (
    existsSync(join(project, 'node_modules/hookstack/package.json')) ||
    (parent !== project && isInstalled(parent))
  );
}

const node = { write: writeNode, isPersistent: true, blocksByAnswer: true };

const persistentLanguages: Readonly<Record<LanguageName, StarterLanguage>> = {
  bash: { ...starterLanguages.bash, write: writeBash, isPersistent: true },
  node: { ...starterLanguages.node, ...node },
  typescript: { ...starterLanguages.typescript, ...node },
  python: {
    ...starterLanguages.python,
    write: writePython,
    isPersistent: true,
    blocksByAnswer: true,
    helper: { name: 'hookstack.py', content: pythonHelper },
  },
};

const STAYS = 'It stays for all events of a session.';

/** Reads JSON without jq, which is often missing. */
function writeBash({ purpose, field, textPattern = '', reason }: StarterHook): string {
  const check = field
    ? `# Exit code 2 blocks, and stderr says why.
# The key and its text, as JSON. Where jq is installed, it reads any field: jq -r '.${field.join('.')}' <<< "$1"
pattern=${quoteWord(`"${field.at(-1)}" *: *"${textPattern}`)}
check() {
  if [[ $1 =~ $pattern ]]; then
    echo ${quoteWord(reason)} >&2
    return 2
  fi
}`
    : `# The answer is JSON on stdout.
check() {
  [[ $1 =~ '"hook_event_name":"'([A-Za-z]+) ]] && echo "\${BASH_REMATCH[1]}" >&2
  echo ${quoteWord(JSON.stringify({ systemMessage: reason }))}
}`;
  return `#!/usr/bin/env bash
# ${purpose} ${STAYS}

${check}

if [[ \${HOOKSTACK_PERSISTENT-} ]]; then echo '{"hookstack":1}'; fi
unset HOOKSTACK_PERSISTENT

# An event is a line: {"id":7,"input":{…}}. Programs that are started in here must not read stdin.
event='^\\{"id":([0-9]+),"input":(.*)\\}$'
while IFS= read -r line || [[ $line ]]; do
  # Started for one event alone, it reads the input as it is. After a hello, silence is no answer.
  if [[ ! $line =~ $event ]]; then
    output=$(check "$line$(cat)") && echo "\${output:-"{}"}"
    exit
  fi
  id=\${BASH_REMATCH[1]}
  code=0
  output=$(check "\${BASH_REMATCH[2]}" < /dev/null) || code=$?
  printf '{"id":%s,"exitCode":%s,"output":%s}\\n' "$id" "$code" "\${output:-"{}"}"
done
`;
}

function writeNode({ purpose, field, pattern, reason }: StarterHook, event: HookEventName): string {
  const body = field
    ? `  const value = String(event.${field.join('?.')} ?? '');
  if (/${pattern.replaceAll('/', String.raw`\/`)}/.test(value)) {
    throw new Block(${JSON.stringify(reason)});
  }`
    : `  console.error(event.hook_event_name);
  return { systemMessage: ${JSON.stringify(reason)} };`;
  return `#!/usr/bin/env node
// ${purpose} ${STAYS}
import { ${field ? 'Block, ' : ''}defineHook } from 'hookstack/author';

defineHook('${event}', (event) => {
${body}
});
`;
}

function writePython(hook: StarterHook, event: HookEventName): string {
  const { purpose, field, pattern, reason } = hook;
  const head = `#!/usr/bin/env python3
# ${purpose} ${STAYS}
${field ? 'import re\n' : 'import sys\n'}
from hookstack import ${field ? 'Block, ' : ''}define_hook


`;
  const gets = (field ?? []).map((name, index, { length }) =>
    index < length - 1 ? `.get("${name}", {})` : `.get("${name}", "")`,
  );
  const body = field
    ? `def guard(event):
    if re.search(r"${pattern}", event${gets.join('')}):
        raise Block(${JSON.stringify(reason)})


define_hook("${event}", guard)
`
    : `def note(event):
    print(event["hook_event_name"], file=sys.stderr)
    return {"systemMessage": ${JSON.stringify(reason)}}


define_hook("${event}", note)
`;
  return `${head}${body}`;
}
