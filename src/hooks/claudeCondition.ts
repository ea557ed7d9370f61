/** Patterns that one rule may become, as a `*` within a word doubles them. */
const MOST = 16;

/** Tools that can do the same as the one that a rule names, and of which there it never is: their arguments are others. */
const OTHER_TOOLS = ['!Bash', '!Grep', '!Glob', '!LS', '!mcp__*'];

/**
 * The permission rule in `if` of a hook of Claude Code as our patterns. In a rule for commands, its `*` stands for any text,
 * over several words; ours for a part of a word, or for words where it is one by itself.
 *
 * @returns `undefined` for a rule with so many of them that the patterns would be too many
 */
export function readClaudeCondition(rule: string): readonly string[] | undefined {
  const [, text] = /^\s*(?:Bash|PowerShell)\((.*)\)\s*$/su.exec(rule) ?? [];
  if (text === undefined) {
    const namesArgument = /^\s*(?:Read|Write|\w*Edit|WebFetch)\(/u.test(rule);
    return namesArgument ? [rule, ...OTHER_TOOLS] : [rule];
  }
  // The older way to say that anything may follow.
  const words = text.replace(/:\*$/u, ' *').split(/\s+/u).filter(Boolean);
  let commands: readonly string[] = [''];
  for (const word of words) {
    const spreads = spread(word);
    commands = commands.flatMap((before) => spreads.map((each) => `${before} ${each}`.trim()));
    if (commands.length > MOST) return undefined;
  }
  return commands.map((command) => `Bash(${command})`);
}

/** A word, and the words that it may stand for. */
function spread(word: string): readonly string[] {
  const [first = '', ...others] = word.split(/\*+/u);
  if (first === '' && others.join('') === '') return ['*'];
  return others.reduce(
    (spreads: readonly string[], part, at) => {
      if (at === 0 && first === '') return [`* *${part}`];
      if (part === '') return spreads.map((before) => `${before}* *`);
      return spreads.flatMap((before) => [`${before}*${part}`, `${before}* * *${part}`]);
    },
    [first],
  );
}
