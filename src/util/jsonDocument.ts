import {
  getNodePath,
  getNodeValue,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import type { Path } from './checks.js';

/** A place in a text, both 1-based; columns count UTF-16 code units. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed text that remembers where each of its values was written. */
export interface JsonDocument {
  /**
   * The value, undefined beside a `syntaxError`. Its objects have no prototype, so that `__proto__` is
   * a key like any other.
   */
  readonly value: unknown;
  /** The first place at which the text stops being JSON. */
  readonly syntaxError?: Position & { readonly message: string };
  /** Keys that are written again later in the same object, where only the last one counts. */
  readonly repeatedKeys: readonly { readonly path: Path; readonly position: Position }[];
  /** Where the key or the array item at `path` begins; for a missing one, where its parent begins. */
  locate(path: Path): Position;
}

/**
 * Parses JSON with comments and trailing commas. Never throws.
 *
 * @param isStrict makes comments and trailing commas errors
 */
export function parseJsonDocument(source: string, isStrict = false): JsonDocument {
  const lineStarts = findLineStarts(source);
  const positionAt = (offset: number) => findPosition(lineStarts, offset);
  try {
    const errors: ParseError[] = [];
    const root = parseTree(source, errors, {
      allowTrailingComma: !isStrict,
      disallowComments: isStrict,
    });
    const error = errors[0];
    if (root === undefined || error !== undefined) {
      return failedDocument({ message: explain(error), ...positionAt(error?.offset ?? 0) });
    }
    const repeatedKeys = findRepeatedKeys(root).map(({ path, offset }) => {
      return { path, position: positionAt(offset) };
    });
    const locate = (path: Path) => positionAt(findOffset(root, path));
    return { value: getNodeValue(root), repeatedKeys, locate };
  } catch (error) {
    // The parser recurses: some thousand levels of nesting exhaust the stack.
    if (!(error instanceof RangeError)) throw error;
    return failedDocument({ message: 'nested too deeply', line: 1, column: 1 });
  }
}

function failedDocument(syntaxError: Position & { message: string }): JsonDocument {
  const { line, column } = syntaxError;
  return { value: undefined, syntaxError, repeatedKeys: [], locate: () => ({ line, column }) };
}

/** `CommaExpected` becomes `comma expected`. */
function explain(error: ParseError | undefined): string {
  const code = error === undefined ? 'ValueExpected' : printParseErrorCode(error.error);
  return code.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}

function findOffset(root: Node, path: Path): number {
  let node: Node | undefined = root;
  let offset = root.offset;
  for (const step of path) {
    const item: Node | undefined =
      typeof step === 'number' ? node?.children?.[step] : findProperty(node, step);
    if (item === undefined) break;
    offset = item.offset;
    node = item.type === 'property' ? item.children?.[1] : item;
  }
  return offset;
}

const properties = new WeakMap<Node, ReadonlyMap<string, Node>>();

/** The last property of that name, which is the one that counts. */
function findProperty(node: Node | undefined, name: string): Node | undefined {
  return node?.type === 'object' ? propertiesOf(node).get(name) : undefined;
}

/** Kept, as many properties of one object are looked up. */
function propertiesOf(node: Node): ReadonlyMap<string, Node> {
  const known =
    properties.get(node) ?? new Map(node.children?.map((child) => [nameOf(child), child]));
  properties.set(node, known);
  return known;
}

/** Levels of the syntax tree that are searched for repeated keys; an object in an object is two further down. */
const MAX_LEVELS = 40;

/** At most this many repeated keys are found. */
const MAX_REPEATED = 100;

/** Without recursion, and with a path only for what is found: a file may hold a million keys in a thousand levels. */
function findRepeatedKeys(root: Node): { path: Path; offset: number }[] {
  const found: { path: Path; offset: number }[] = [];
  const pending = [{ node: root, level: 0 }];
  for (let next = pending.pop(); next && found.length < MAX_REPEATED; next = pending.pop()) {
    const { node, level } = next;
    const last = node.type === 'object' ? propertiesOf(node) : undefined;
    for (const child of node.children ?? []) {
      if (last && last.get(nameOf(child)) !== child) {
        const key = child.children?.[0];
        found.push({ path: key ? getNodePath(key) : [], offset: child.offset });
        if (found.length >= MAX_REPEATED) break;
      } else if (child.children && level < MAX_LEVELS) {
        pending.push({ node: child, level: level + 1 });
      }
    }
  }
  return found;
}

function nameOf(property: Node): string {
  return String(property.children?.[0]?.value);
}

function findLineStarts(source: string): readonly number[] {
  const breaks = source.matchAll(/\r\n|\r|\n/g);
  return [0, ...Array.from(breaks, ({ index, 0: lineBreak }) => index + lineBreak.length)];
}

function findPosition(lineStarts: readonly number[], offset: number): Position {
  let line = 0;
  let end = lineStarts.length;
  while (end - line > 1) {
    const middle = (line + end) >>> 1;
    if ((lineStarts[middle] ?? 0) <= offset) line = middle;
    else end = middle;
  }
  return { line: line + 1, column: offset - (lineStarts[line] ?? 0) + 1 };
}
