import {
  createScanner,
  findNodeAtLocation,
  parseTree,
  type Node,
  type SyntaxKind,
} from 'jsonc-parser';
import type { Path } from '../../util/checks.js';

/** One change of a JSON text. */
export interface JsonEdit {
  /** Such as `['hooks', 'BeforeTool', 0]`; what is missing on the way is created. */
  readonly path: Path;
  /** The value to write; `undefined` removes what is there. */
  readonly value: unknown;
  /** Adds an item at the end of the array instead of replacing one. */
  readonly isInsertion?: boolean;
}

/**
 * Changes a JSON text with comments. Only the lines of the change differ: what is new gets lines of its own behind the
 * last entry and its comment, or stands in the same line where all of the list does. What is removed takes its comment in
 * the same line with it.
 *
 * @throws Error when the path leads through something that is not an object or a list
 */
export function editJson(text: string, { path, value, isInsertion = false }: JsonEdit): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const source: Source = {
    text,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    unit: indentationOf(text),
  };
  if (!root) return text + pretty(source, nest(path, value), '');
  const target = isInsertion ? undefined : findNodeAtLocation(root, [...path]);
  if (target) {
    return value === undefined
      ? remove(source, target)
      : splice(
          text,
          target.offset,
          target.offset + target.length,
          pretty(source, value, lineIndentation(text, target.offset)),
        );
  }
  if (value === undefined) return text;
  const { parent, depth } = findParent(root, path);
  return append(source, parent, path[depth], nest(path.slice(depth + 1), value));
}

interface Source {
  readonly text: string;
  readonly eol: string;
  /** One level of indentation. */
  readonly unit: string;
}

/** The deepest object or list on the way, and the place in the path of what is missing in it. */
function findParent(root: Node, path: Path): { parent: Node; depth: number } {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const parent = findNodeAtLocation(root, path.slice(0, depth));
    if (!parent) continue;
    const wanted = typeof path[depth] === 'number' ? 'array' : 'object';
    if (parent.type === wanted) return { parent, depth };
    throw new Error(`${JSON.stringify(path.slice(0, depth))} is not an ${wanted}`);
  }
  throw new Error('There is nothing to add to');
}

/** A value in the objects and lists that are missing around it. */
function nest(path: Path, value: unknown): unknown {
  return path.reduceRight(
    (inner, step) => (typeof step === 'number' ? [inner] : { [step]: inner }),
    value,
  );
}

/** What is to be added, in both ways to write it. */
interface Entry {
  readonly onOneLine: string;
  readonly indentedBy: (indentation: string) => string;
  readonly isShort: boolean;
}

function append(
  source: Source,
  container: Node,
  key: Path[number] | undefined,
  value: unknown,
): string {
  const named = (written: string) =>
    typeof key === 'string' ? `${JSON.stringify(key)}: ${written}` : written;
  const entry = {
    onOneLine: named(compact(value)),
    indentedBy: (indentation: string) => named(pretty(source, value, indentation)),
    isShort: typeof value !== 'object',
  };
  const last = container.children?.at(-1);
  return last ? appendBehind(source, container, last, entry) : fill(source, container, entry);
}

function appendBehind({ text, eol }: Source, container: Node, last: Node, entry: Entry): string {
  const close = container.offset + container.length - 1;
  const end = last.offset + last.length;
  const comma = findComma(text, end, close);
  const place = comma === undefined ? end : comma + 1;
  const hasOwnLine = isBlank(text.slice(lineStart(text, last.offset), last.offset));
  const indentation = lineIndentation(text, last.offset);
  const written = hasOwnLine
    ? `${eol}${indentation}${entry.indentedBy(indentation)}`
    : ` ${entry.onOneLine}`;
  const at = hasOwnLine ? endOfEntry(text, place, close) : place;
  // A list with a comma behind its last entry keeps one there.
  if (comma !== undefined) return splice(text, at, at, `${written},`);
  return splice(splice(text, at, at, written), end, end, ',');
}

/** Into an object or a list that holds nothing, or nothing but comments. */
function fill({ text, eol, unit }: Source, container: Node, entry: Entry): string {
  const start = container.offset + 1;
  const close = container.offset + container.length - 1;
  const isEmpty = text.slice(start, close).trim() === '';
  if (isEmpty && entry.isShort && container.type === 'array')
    return splice(text, start, close, entry.onOneLine);
  const outer = lineIndentation(text, container.offset);
  const line = `${outer}${unit}${entry.indentedBy(outer + unit)}${eol}`;
  if (isEmpty) return splice(text, start, close, `${eol}${line}${outer}`);
  const closing = lineStart(text, close);
  const hasOwnLine = closing > start && text.slice(closing, close).trim() === '';
  return hasOwnLine
    ? splice(text, closing, closing, line)
    : splice(text, close, close, ` ${entry.onOneLine} `);
}

function remove({ text }: Source, node: Node): string {
  const entry = node.parent?.type === 'property' ? node.parent : node;
  const container = entry.parent;
  if (!container) return '';
  const siblings = container.children ?? [];
  const index = siblings.indexOf(entry);
  const [before, after] = [siblings[index - 1], siblings[index + 1]];
  const close = container.offset + container.length - 1;
  const end = entry.offset + entry.length;
  const comma = findComma(text, end, close);
  const start = lineStart(text, entry.offset);
  const entryEnd = endOfEntry(text, comma === undefined ? end : comma + 1, close);
  const hasOwnLines = text.slice(start, entry.offset).trim() === '' && isLineEnd(text, entryEnd);
  if (!hasOwnLines) return removeWithin(text, entry, { before, after, comma });
  const shortened = splice(text, start, text.indexOf('\n', entryEnd) + 1, '');
  if (!before && !after) return closeEmpty(shortened, container.offset);
  if (after || !before || comma !== undefined) return shortened;
  // It was the last one, and the one before it is that now.
  const dangling = findComma(text, before.offset + before.length, entry.offset);
  return dangling === undefined ? shortened : splice(shortened, dangling, dangling + 1, '');
}

/** Where nothing is left between the brackets, not even a comment, they need no lines of their own. */
function closeEmpty(text: string, start: number): string {
  const blanks = /^\s*(?=[\]}])/u.exec(text.slice(start + 1))?.[0] ?? '';
  return splice(text, start + 1, start + 1 + blanks.length, '');
}

/** From a line that holds other entries as well. */
function removeWithin(
  text: string,
  { offset, length }: Node,
  { before, after, comma }: { before?: Node; after?: Node; comma: number | undefined },
): string {
  if (after) return splice(text, offset, after.offset, '');
  const end = comma === undefined ? offset + length : comma + 1;
  if (!before) return splice(text, offset, end, '');
  return splice(text, before.offset + before.length, end, comma === undefined ? '' : ',');
}

/** The place of the next comma, where nothing but blanks and comments comes before it. */
function findComma(text: string, from: number, to: number): number | undefined {
  const scanner = createScanner(text.slice(from, to), true);
  return scanner.scan() === (5 satisfies SyntaxKind.CommaToken)
    ? from + scanner.getTokenOffset()
    : undefined;
}

/** The end of the line, where only blanks and whole comments are left of it; else the same place. */
function endOfEntry(text: string, place: number, close: number): number {
  const lineEnd = endOfLine(text, place);
  const rest = text.slice(place, lineEnd);
  const isOver = lineEnd <= close && isBlank(rest);
  return isOver ? place + rest.trimEnd().length : place;
}

/** Whether a part of a line holds nothing but blanks and whole comments. */
function isBlank(part: string): boolean {
  return (
    part
      .replace(/\/\*[^]*?\*\//gu, '')
      .replace(/\/\/.*$/u, '')
      .trim() === ''
  );
}

function isLineEnd(text: string, place: number): boolean {
  return text.slice(place, endOfLine(text, place)).trim() === '' && text.includes('\n', place);
}

function endOfLine(text: string, place: number): number {
  const end = text.indexOf('\n', place);
  return end < 0 ? text.length : end;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function lineIndentation(text: string, offset: number): string {
  return /^[ \t]*/u.exec(text.slice(lineStart(text, offset)))?.[0] ?? '';
}

function indentationOf(text: string): string {
  return /^[ \t]+(?=\S)/mu.exec(text)?.[0] ?? '  ';
}

function splice(text: string, start: number, end: number, written: string): string {
  return text.slice(0, start) + written + text.slice(end);
}

/** With lines of its own, of which all but the first are indented. */
function pretty({ eol, unit }: Source, value: unknown, indentation: string): string {
  return JSON.stringify(value, undefined, unit).replaceAll('\n', `${eol}${indentation}`);
}

/** On one line. */
function compact(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(compact).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)}: ${compact(each)}`,
  );
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}
