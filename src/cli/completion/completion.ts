import type { Command, Option } from 'commander';
import { hookIdentity } from '../../protocol/identity.js';
import { quoteWord } from '../../util/quoteWord.js';
import { onBehalfOf } from '../../util/requester.js';
import { suggestName } from '../../util/suggestName.js';
import { printLine } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';

interface Candidate {
  readonly name: string;
  readonly description?: string;
}

interface Shell {
  /** Asks this command at each tab. Where it offers nothing, the shell offers names of files. */
  readonly script: string;
  readonly format: (candidate: Candidate) => string;
}

/** A name that has one would be several words, or more than text, to the shell and the terminal. */
const CONTROL = /\p{Cc}/u;

const ASK = 'command hookstack completion';

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: {
    script: `# Completes the commands of hookstack in bash, 3.2 and later.
_hookstack() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    ${ASK} bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null
  )
}
complete -o default -F _hookstack hookstack`,
    format: ({ name }) => (/^[\w./:-]+$/u.test(name) ? name : quoteWord(name)),
  },
  zsh: {
    script: `#compdef hookstack
# Completes the commands of hookstack in zsh.
_hookstack() {
  local -a known
  known=(\${(f)"$(${ASK} zsh -- "\${(@)words[2,CURRENT]}" 2> /dev/null)"})
  if (( $#known )); then _describe hookstack known; else _files; fi
}
if [[ $funcstack[1] == _hookstack ]]; then _hookstack "$@"; else compdef _hookstack hookstack; fi`,
    format: ({ name, description }) =>
      [name, ...(description ? [description] : [])]
        .map((text) => text.replaceAll(/[\\:]/g, String.raw`\$&`))
        .join(':'),
  },
  fish: {
    script: `# Completes the commands of hookstack in fish.
function __hookstack
  set -l words (commandline -opc) (commandline -ct)
  ${ASK} fish -- $words[2..-1] 2> /dev/null
  or __fish_complete_path $words[-1]
end
complete -c hookstack -f -a '(__hookstack)'`,
    format: ({ name, description }) => (description ? `${name}\t${description}` : name),
  },
};

/**
 * Prints the script for a shell; with the words of a command line, what may stand for the last of them.
 *
 * @param command the one of commander that runs; its parent is the program with all others
 * @returns the exit code: 1 where nothing is known
 */
export async function completion(
  name: string,
  words: readonly string[],
  _options: object,
  command: Command,
): Promise<number> {
  const shell = Object.hasOwn(SHELLS, name) ? SHELLS[name] : undefined;
  if (!shell) {
    const hint = suggestName(name, Object.keys(SHELLS));
    throw new UsageError(`There is no completion for "${name}"; ${hint}`);
  }
  if (words.length === 0) {
    printLine(shell.script);
    return 0;
  }
  const found = await complete(command.parent ?? command, words);
  if (found.length > 0) printLine(found.map(shell.format).join('\n'));
  return found.length > 0 ? 0 : 1;
}

async function complete(program: Command, words: readonly string[]): Promise<Candidate[]> {
  // For bash, --option=value is three words.
  const before = words.slice(0, -1).filter((each) => each !== '=');
  const last = words.at(-1) ?? '';
  // What comes behind is another program's, of which its shell knows more.
  if (before.includes('--')) return [];
  const [word = '', flag = before.at(-1), begin = ''] = splitValue(last === '=' ? '' : last);
  let command = program;
  for (const each of before) command = findCommand(command, each) ?? command;
  const candidates = (await candidatesFor(command, word, flag)).filter(
    ({ name }) => name.startsWith(word) && !CONTROL.test(name),
  );
  return candidates.map((candidate) => ({ ...candidate, name: `${begin}${candidate.name}` }));
}

/** A value in the same word as its option, the option, and what stands before the value; else the word. */
function splitValue(word: string): string[] {
  const [begin, flag = ''] = /^(--[\w-]+)=/u.exec(word) ?? [];
  return begin === undefined ? [word] : [word.slice(begin.length), flag, begin];
}

async function candidatesFor(
  command: Command,
  word: string,
  before: string | undefined,
): Promise<Candidate[]> {
  const help = command.createHelp();
  const options = help.visibleOptions(command);
  const valued = options.find(({ short, long }) => before === short || before === long);
  if (before && valued && takesValue(valued)) return (valued.argChoices ?? []).map(toCandidate);
  if (word.startsWith('-')) {
    return options.flatMap(({ short, long, description }) =>
      [short, long].flatMap((name) => (name === undefined ? [] : [{ name, description }])),
    );
  }
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const names = isAboutHook(command) ? await namesOfHooks() : choices;
  const subcommands = command.commands.map((each) => ({
    name: each.name(),
    description: each.description(),
  }));
  return [...subcommands, ...names.map(toCandidate)];
}

function findCommand(command: Command, name: string): Command | undefined {
  return command.commands.find((each) => each.name() === name);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function toCandidate(name: string): Candidate {
  return { name };
}

function isAboutHook(command: Command): boolean {
  return ['enable', 'disable'].includes(command.name());
}

async function namesOfHooks(): Promise<string[]> {
  const { openRegistry, openWorkspace } = await import('../shared/workspace.js');
  // Whoever types must not be told of problems in between.
  const registry = await onBehalfOf({ stderr: { write: () => true } }, async () => {
    const { config } = await openWorkspace({}, { needsAllFiles: false });
    return openRegistry(config);
  });
  return [...new Set(registry.getAllHooks().map(({ config }) => hookIdentity(config)))];
}
