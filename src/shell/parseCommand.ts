import { forEachChild, parse, type ParsedScript, type SyntaxNode } from 'unbash';

/** Why a command cannot be read for sure: the end of a sentence "because it …". */
export class UnclearCommand extends Error {}

/** The parser's time grows with their square. */
const MAX_HERE_DOCUMENTS = 20;

/** Control characters, and blanks that are none for a shell. */
const ODD_CHARACTER = /[^\P{Cc}\t\n]|[^\P{White_Space} \t\n]|\p{Cf}|\p{Cs}/gu;
const PLAIN = /^[\t\n\x20-\x7E]*$/;

const QUOTED = new Set(['SingleQuoted', 'DoubleQuoted', 'AnsiCQuoted', 'HereDocBody']);

/**
 * Parses a whole command for a shell.
 *
 * @param maxLength in characters: longer commands are not read
 * @param oddCharacters whether those that shells may read differently are taken where they are quoted
 * @throws {UnclearCommand} if the parser may understand it in another way than a shell does
 */
export function parseCommand(
  command: string,
  maxLength: number,
  oddCharacters: 'refused' | 'quoted',
): ParsedScript {
  if (command.length > maxLength) {
    throw new UnclearCommand(`is longer than ${maxLength} characters`);
  }
  if (command.includes('<<') && command.split('<<').length > MAX_HERE_DOCUMENTS) {
    throw new UnclearCommand('has many here-documents');
  }
  if (command.endsWith('\\')) throw new UnclearCommand('ends with a backslash');
  const odd = PLAIN.test(command) ? [] : [...command.matchAll(ODD_CHARACTER)];
  if (oddCharacters === 'refused') requireNone(odd);
  const script = parse(command);
  requireWhole(script);
  if (odd.length > 0) requireNone(odd.filter(outsideOf(quotedSpans(script))));
  return script;
}

/** @throws {UnclearCommand} if the parser has found mistakes in it */
export function requireWhole({ errors: [error] = [] }: ParsedScript): void {
  if (error) throw new UnclearCommand(`is not a complete command (${error.message})`);
}

function requireNone([first]: readonly RegExpExecArray[]): void {
  if (!first) return;
  const name = unicodeName(first[0]);
  throw new UnclearCommand(`holds the character ${name}, which shells read differently`);
}

function quotedSpans(script: SyntaxNode): SyntaxNode[] {
  const nodes = [script];
  for (const node of nodes) {
    if (!QUOTED.has(node.type)) forEachChild(node, (child) => nodes.push(child));
  }
  return nodes.filter(({ type }) => QUOTED.has(type));
}

const outsideOf =
  (spans: readonly SyntaxNode[]) =>
  ({ 0: character, index }: RegExpExecArray) =>
    character === '\0' || !spans.some(({ pos, end }) => pos < index && index < end);

/** A character that a message cannot show as it is, such as `U+202E`. */
export function unicodeName(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
}
