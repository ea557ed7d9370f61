import { runsScripts } from './languages.js';
import { baseName } from './programName.js';
import type { ShellWord } from './types.js';

/** Programs that change nothing about the files which their words name. */
const CHANGES_NOTHING =
  /^(?:\[|\[\[|awk|cat|cd|chmod|diff|echo|export|file|grep|head|less|ls|printf|rg|shellcheck|source|\.|stat|sudo|env|nohup|timeout|time|exec|command|tail|test|wc)$/;

/** Files that a text for a shell writes, by their names: where they are may depend on what is not known. */
export class WrittenFiles {
  /** `null` is what only the shell knows. */
  private readonly contents = new Map<string, string | null>();
  private isAny = false;

  /** Notes what a command writes by redirections; `content` if that is all of it. */
  write({ values, isGlob }: ShellWord, content: string | undefined): void {
    if (!values || isGlob) this.isAny = true;
    for (const each of values ?? []) {
      const name = baseName(each);
      const isNew = !this.contents.has(name);
      this.contents.set(name, isNew && content !== undefined ? content : null);
    }
  }

  /** Notes what a program may write: any of its words. */
  note(program: string, words: readonly ShellWord[]): void {
    if (CHANGES_NOTHING.test(program) || runsScripts(program)) return;
    for (const { values, isGlob } of words.slice(1)) {
      for (const each of isGlob ? [] : (values ?? []))
        this.contents.set(baseName(each.replace(/^of=/, '')), null);
    }
  }

  /** What is in a file that was written here; `undefined` for another file. */
  find(file: string | undefined): string | null | undefined {
    if (file === undefined) return this.any();
    return (
      this.contents.get(baseName(file)) ??
      (this.contents.has(baseName(file)) || this.isAny ? null : undefined)
    );
  }

  /** The same of a file with a name that only the shell knows. */
  any(): null | undefined {
    return this.isAny || this.contents.size > 0 ? null : undefined;
  }
}
