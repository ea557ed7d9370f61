import { readText, reasonOf } from '../../../util/guardedRead.js';
import { parseJsonDocument, type JsonDocument } from '../../../util/jsonDocument.js';
import type { Path } from '../../../util/checks.js';

/** A file of JSON whose faults are told with their place. */
export class PeopleFile {
  readonly value: unknown;
  readonly #document: JsonDocument;

  /** @throws Error for what is no JSON */
  constructor(
    text: string,
    private readonly name: string,
  ) {
    this.#document = parseJsonDocument(text, true);
    const { value, syntaxError } = this.#document;
    if (syntaxError) throw this.fault([], `not valid JSON: ${syntaxError.message}`);
    this.value = value;
  }

  static async read(path: string): Promise<PeopleFile> {
    return new PeopleFile(await readPeopleText(path), path);
  }

  /** @param path what is wrong in it */
  fault(path: Path, message: string): Error {
    const { line, column } = this.#document.locate(path);
    return new Error(`${this.name}:${line}:${column}: ${message}`);
  }
}

/** @throws Error that says which file cannot be read, and what to do */
export async function readPeopleText(file: string): Promise<string> {
  try {
    return await readText(file);
  } catch (cause) {
    const why = `${file} cannot be read (${reasonOf(cause)}); write it, or name another`;
    throw new Error(why, { cause });
  }
}
