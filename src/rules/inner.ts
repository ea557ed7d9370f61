import type { ShellWord } from './types.js';

/** What a program starts that is told to by its words. */
export type Inner =
  | {
      readonly kind: 'words';
      readonly words: readonly ShellWord[];
      /** Where it runs, if that is elsewhere; `undefined` where only the program knows. */
      readonly directory?: { readonly word: ShellWord | undefined };
      readonly assigned?: readonly string[];
      readonly isElsewhere?: boolean;
    }
  | {
      readonly kind: 'text';
      /** Joined by blanks, they are a text for another shell. */
      readonly words: readonly ShellWord[];
      /** `$1` and so on. */
      readonly positional?: readonly ShellWord[];
      readonly isElsewhere?: boolean;
    }
  | { readonly kind: 'file'; readonly word: ShellWord; readonly language: string }
  | { readonly kind: 'code'; readonly word: ShellWord; readonly language: string }
  | { readonly kind: 'stdin'; readonly language: string }
  | { readonly kind: 'doubt'; readonly reason: string };

/** A word of which it is known what it becomes. */
export const known = (text: string): ShellWord => ({ text, values: [text] });

/** The only text that a word may become. */
export const only = ({ values, isGlob }: ShellWord): string | undefined =>
  values?.length === 1 && !isGlob ? values[0] : undefined;

/** A word that may make a program start anything. */
export const unknownOf = (program: string, { text }: ShellWord): Inner => ({
  kind: 'doubt',
  reason: `gives \`${program}\` the word ${text}, which may be an option or a command`,
});

/** What `xargs` puts behind its words: any number of others, from its input. */
export const FROM_INPUT: ShellWord = { text: '…', isSplit: true };

/** Words in which something is put in the place of a text. */
export const replaced = (words: readonly ShellWord[], placeholder: string): readonly ShellWord[] =>
  words.map((word) =>
    word.values?.some((each) => each.includes(placeholder)) ? { text: word.text } : word,
  );
