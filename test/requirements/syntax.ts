import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { globSync } from 'tinyglobby';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** A node of a syntax tree, in the format of ESTree. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** A node where it stands. `ancestors` begin with its parent. */
export interface Found {
  readonly file: string;
  readonly node: SyntaxNode;
  readonly ancestors: readonly SyntaxNode[];
}

/** The files of this repository that match. */
export function listFiles(...globs: string[]): string[] {
  const files = globSync(globs, { cwd: ROOT });
  if (files.length === 0) throw new Error(`No file matches ${globs.join(', ')}: name others`);
  return files.toSorted();
}

export function readSource(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** The nodes of files for which `isWanted` holds. What stands in comments is no node. */
export function findNodes(
  files: readonly string[],
  isWanted: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => boolean,
): Found[] {
  return files.flatMap((file) => findIn(file, readSource(file), isWanted));
}

/** As {@link findNodes}, in a text that stands for the file. */
export function findIn(
  file: string,
  source: string,
  isWanted: (node: SyntaxNode, ancestors: readonly SyntaxNode[]) => boolean,
): Found[] {
  const found: Found[] = [];
  const visit = (value: unknown, ancestors: readonly SyntaxNode[]): void => {
    if (Array.isArray(value)) for (const each of value) visit(each, ancestors);
    if (!isNode(value)) return;
    if (isWanted(value, ancestors)) found.push({ file, node: value, ancestors });
    const inside = [value, ...ancestors];
    for (const child of Object.values(value)) visit(child, inside);
  };
  visit(parseAst(source, { lang: file.endsWith('.ts') ? 'ts' : 'js' }, file), []);
  return found;
}

/** Where something was found, as `file: code`. */
export function describePlace({ file, node }: Found, source = readSource(file)): string {
  return `${file}: ${source.slice(node.start, node.end).replaceAll(/\s+/g, ' ')}`;
}

/** The name that a node is called by: of an identifier, a member, or what a text says. */
export function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  const { type, name, value, property } = node;
  if (type === 'Identifier' || type === 'PrivateIdentifier') return String(name);
  if (type === 'MemberExpression') return nameOf(property);
  return type === 'Literal' && typeof value === 'string' ? value : undefined;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
