import { ANY_TEXT, escapeGlob } from './globs.js';

/**
 * A word of which only the shell knows what becomes of it, as a glob: with any text in place of expansions.
 *
 * @param text as it is written; a text without expansions is no more than a mark for any text
 */
export function globOfUnknown(text: string): string {
  if (!/[$`]/.test(text)) return ANY_TEXT;
  let pattern = '';
  let rest = text;
  while (rest !== '') {
    const [all = rest, escape, literal] =
      /^(?:\\([^])|([^$`'"\\]+)|['"]|`(?:[^`\\]|\\[^])*`|\$\{[^}]*\}|\$\(|\$\w+|\$.?)/.exec(rest) ??
      [];
    const end = all === '$(' ? endOfSubstitution(rest) : all.length;
    if (escape !== undefined || literal !== undefined)
      pattern += escapeGlob(escape ?? literal ?? '');
    else if (!/^['"]$/.test(all)) pattern += ANY_TEXT;
    rest = rest.slice(Math.max(1, end));
  }
  return pattern || ANY_TEXT;
}

function endOfSubstitution(text: string): number {
  let depth = 0;
  for (let at = 1; at < text.length; at++) {
    if (text[at] === '(') depth++;
    else if (text[at] === ')' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Substitutions whose result is no option, and no name of a file, whatever it is: with no words that it could repeat. */
const COMMIT = String.raw`[\w@][\w./@~^-]*`;
const HARMLESS = new RegExp(
  String.raw`^"?(?:\$\(|\x60)\s*(?:git (?:branch --show-current|symbolic-ref --short HEAD|` +
    String.raw`rev-parse (?:--(?:abbrev-ref|short|verify) )?(?:HEAD|@)[~^\d]*|merge-base ${COMMIT} ${COMMIT}|` +
    String.raw`describe(?: --(?:tags|always|long|abbrev=\d+))*)|date(?: \+["']?(?:%[YmdHMSsFTjy][-_:.T]?)+["']?)?|` +
    String.raw`whoami|hostname|nproc|uname(?: -[a-z])?|id -[ugn]+)\s*[)\x60]"?$`,
);

/** Whether a word that only the shell knows is surely no option of a program, and no file. */
export function isHarmless(text: string): boolean {
  return HARMLESS.test(text);
}
