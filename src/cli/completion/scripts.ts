import { quoteWord } from '../../util/quoteWord.js';
import type { Shell } from './shells.js';

export interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  /** Of its first argument. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
}

export interface CompletedOption {
  readonly short?: string | undefined;
  readonly long?: string | undefined;
  readonly description: string;
  /** What its value is, such as `file`; undefined where it has none. */
  readonly placeholder: string | undefined;
  readonly choices: readonly string[];
}

type WriteScript = (program: CompletedCommand, commands: readonly CompletedCommand[]) => string;

/** Where nothing is known of a value, it may be the name of a file. */
export const completionScripts: Readonly<Record<Shell, WriteScript>> = {
  bash: (program, commands) => `# Completes the commands of hookstack in bash, 3.2 and later.
_hookstack() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command= words= at
  # --option=value is three words here.
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=\${COMP_WORDS[COMP_CWORD - 2]}
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ \${COMP_WORDS[at]} == -* ]] || { command=\${COMP_WORDS[at]}; break; }
  done
  COMPREPLY=()
  case $command:$before in
${valueCases(commands, (choices) => (choices.length > 0 ? `words=${quoteWord(choices.join(' '))}` : 'return'))}
    *) case $command:$word in
      :-*) words=${quoteWord(flagsOf(program).join(' '))} ;;
      :*) words=${quoteWord(commands.map(({ name }) => name).join(' '))} ;;
${commands
  .flatMap(({ name, choices, ...command }) => [
    `      ${name}:-*) words=${quoteWord(flagsOf(command).join(' '))} ;;`,
    ...(choices.length > 0 ? [`      ${name}:*) words=${quoteWord(choices.join(' '))} ;;`] : []),
  ])
  .join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _hookstack hookstack`,

  zsh: (program, commands) => `#compdef hookstack
# Completes the commands of hookstack in zsh.
_hookstack() {
  local command= word
  local -a known
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || { command=$word; break }
  done
  case $command:\${words[CURRENT-1]} in
${valueCases(commands, (choices, { placeholder }) => {
  if (choices.length > 0) return `compadd -- ${choices.join(' ')}; return`;
  return `_files${placeholder === 'dir' ? ' -/' : ''}; return`;
})}
  esac
  case $command:$PREFIX in
    :-*) known=(${zshItems(program.options)}) ;;
    :*) known=(${commands.map(({ name, description }) => zshItem(name, description)).join(' ')}) ;;
${commands
  .flatMap(({ name, choices, options }) => [
    `    ${name}:-*) known=(${zshItems(options)}) ;;`,
    ...(choices.length > 0 ? [`    ${name}:*) known=(${choices.join(' ')}) ;;`] : []),
  ])
  .join('\n')}
    *) _files; return ;;
  esac
  _describe -o hookstack known
}
if [[ $funcstack[1] == _hookstack ]]; then _hookstack "$@"; else compdef _hookstack hookstack; fi`,

  fish: (program, commands) =>
    [
      '# Completes the commands of hookstack in fish.',
      'complete -c hookstack -n __fish_use_subcommand -f',
      ...program.options.map((option) => fishOption('__fish_use_subcommand', option)),
      ...commands.flatMap(({ name, description, choices, options }) => {
        const isSeen = `'__fish_seen_subcommand_from ${name}'`;
        return [
          `complete -c hookstack -n __fish_use_subcommand -a ${name} -d ${fishQuote(description)}`,
          ...(choices.length > 0
            ? [`complete -c hookstack -n ${isSeen} -f -a '${choices.join(' ')}'`]
            : []),
          ...options.map((option) => fishOption(isSeen, option)),
        ];
      }),
    ].join('\n'),
};

/** Branches for what stands behind an option that takes a value. */
function valueCases(
  commands: readonly CompletedCommand[],
  write: (choices: readonly string[], option: CompletedOption) => string,
): string {
  return commands
    .flatMap(({ name, options }) =>
      options
        .filter(({ placeholder }) => placeholder !== undefined)
        .map((option) => {
          const patterns = flagsOf({ options: [option] }).map((flag) => `${name}:${flag}`);
          return `    ${patterns.join(' | ')}) ${write(option.choices, option)} ;;`;
        }),
    )
    .join('\n');
}

function flagsOf({ options }: Pick<CompletedCommand, 'options'>): string[] {
  return options.flatMap(({ short, long }) => [short, long]).filter((flag) => flag !== undefined);
}

function zshItems(options: readonly CompletedOption[]): string {
  return options
    .flatMap((option) =>
      flagsOf({ options: [option] }).map((flag) => zshItem(flag, option.description)),
    )
    .join(' ');
}

function zshItem(name: string, description: string): string {
  return quoteWord(`${name}:${description}`);
}

function fishOption(condition: string, option: CompletedOption): string {
  const { short, long, description, placeholder, choices } = option;
  const words = [
    `complete -c hookstack -n ${condition}`,
    ...(short === undefined ? [] : [`-s ${short.slice(1)}`]),
    ...(long === undefined ? [] : [`-l ${long.slice(2)}`]),
    ...(placeholder === undefined ? [] : [fishValue(placeholder, choices)]),
    `-d ${fishQuote(description)}`,
  ];
  return words.join(' ');
}

function fishValue(placeholder: string, choices: readonly string[]): string {
  if (choices.length > 0) return `-x -a '${choices.join(' ')}'`;
  return placeholder === 'dir' ? "-x -a '(__fish_complete_directories)'" : '-r -F';
}

/** In single quotes of fish, a backslash escapes itself and the quote. */
function fishQuote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
