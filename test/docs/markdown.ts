import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { glob } from 'tinyglobby';

/** Absolute path of the repository. */
export const ROOT = path.resolve(import.meta.dirname, '../..');

/** A fenced block of a document. */
export interface Snippet {
  readonly language: string;
  /** What stands behind the language, such as `run needs=python3`. */
  readonly info: string;
  /** The info word by word; `value` is what stands behind a `=`. */
  readonly words: readonly { readonly name: string; readonly value: string }[];
  readonly content: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

/** Paths of the documents that readers are led to, relative to the repository. */
export async function findDocuments(): Promise<string[]> {
  const pages = await glob('docs/**/*.md', { cwd: ROOT });
  const examples = await glob('examples/**/README.md', { cwd: ROOT });
  const topLevel = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
  return [...topLevel, ...pages.toSorted(), ...examples.toSorted()];
}

/** @param file relative to the repository */
export function readDocument(file: string): Promise<string> {
  return readFile(path.join(ROOT, file), 'utf8');
}

/** The fenced blocks of a document, in order. */
export function findSnippets(markdown: string): Snippet[] {
  const fences = markdown.matchAll(/^```(\S+) *(.*)\n([^]*?)^```$/gm);
  return Array.from(fences, ({ index, 1: language = '', 2: info = '', 3: content = '' }) => ({
    language,
    info,
    words: info.split(' ').flatMap((word) => {
      const [name = '', value = ''] = word.split('=', 2);
      return name === '' ? [] : [{ name, value }];
    }),
    content,
    line: markdown.slice(0, index).split('\n').length,
  }));
}

/** The document without its fenced blocks, in which a `#` begins a comment and not a heading. */
export function withoutSnippets(markdown: string): string {
  return markdown.replaceAll(/^```[^]*?^```$/gm, '');
}
