import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Which rooms a room may import, types included. Each stands below those that it may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  util: [],
  tools: [],
  'compose.ts': [],
  'middlewareGuard.ts': names('compose.ts util'),
  shell: names('util'),
  process: names('shell util'),
  protocol: names('shell tools util'),
  author: [],
  'author.ts': names('author protocol'),
  'confirmation-bus': names('protocol util'),
  'context.ts': names('protocol tools util'),
  dialects: names('protocol tools util'),
  rules: names('dialects protocol shell tools util'),
  run: names('dialects process protocol shell util'),
  trace: names('compose.ts context.ts protocol run tools util'),
  fleet: names('process protocol run shell trace util'),
  'fleet.ts': names('fleet'),
  mcp: names('fleet process protocol run util'),
  prompts: names('process protocol run trace util'),
  'stack.ts': names('compose.ts context.ts middlewareGuard.ts protocol trace util'),
  approvals: names('confirmation-bus protocol trace util'),
  middleware: names(
    'approvals compose.ts context.ts dialects fleet mcp process prompts protocol rules run tools trace util',
  ),
  hooks: names(
    'confirmation-bus context.ts dialects fleet middleware prompts protocol rules run stack.ts util',
  ),
  trust: names('hooks process protocol run shell util'),
  config: names(
    'approvals compose.ts confirmation-bus context.ts fleet hooks middleware prompts protocol run stack.ts trust util',
  ),
  core: names('approvals config context.ts dialects hooks middleware protocol tools trace util'),
  extensions: names('compose.ts config hooks middlewareGuard.ts protocol stack.ts trust util'),
  agent: names(
    'config context.ts core dialects middleware process prompts protocol tools trace util',
  ),
  'index.ts': names(
    'agent approvals compose.ts config confirmation-bus context.ts core dialects extensions hooks protocol stack.ts tools trace trust util',
  ),
  hosts: names('config context.ts core dialects hooks protocol tools util'),
  validate: names(
    'agent config dialects extensions fleet hooks mcp middleware process protocol rules run shell util',
  ),
  cli: names(
    'agent approvals config confirmation-bus context.ts core dialects extensions fleet hooks middleware process prompts protocol rules run tools trace trust util validate',
  ),
};

function names(list: string): string[] {
  return list.split(' ');
}

function roomOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  return first === 'middleware' ? first : second;
}

/** The files that each file of the sources imports, by paths in the repository. */
function readImports(): Map<string, readonly string[]> {
  const files = globSync(['src/**/*.ts', 'middleware/*.ts'], { cwd: ROOT }).filter(
    (file) => !file.endsWith('.d.ts'),
  );
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const code = readFileSync(path.join(ROOT, file), 'utf8')
        .replaceAll(/\/\*[^]*?\*\//g, '')
        .replaceAll(/^\s*\/\/.*$/gm, '');
      const specifiers = Array.from(
        code.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g),
        ([, specifier = '']) => specifier.replace(/\.js$/, '.ts'),
      );
      const targets = specifiers.map((each) => path.posix.join(path.posix.dirname(file), each));
      return [file, targets.filter((target) => known.has(target))];
    }),
  );
}

/** The files that cannot be put in an order in which each imports only those before it. */
function filesInCircles(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const left = new Map(imports);
  for (let size = -1; size !== left.size;) {
    size = left.size;
    for (const [file, targets] of left) {
      if (!targets.some((target) => target !== file && left.has(target))) left.delete(file);
    }
  }
  return [...left.keys()];
}

describe('the arrows between files', () => {
  const imports = readImports();

  it('go in no circle, types included', () => {
    expect(imports.size).toBeGreaterThan(100);
    expect(filesInCircles(imports)).toEqual([]);
  });

  it('would be found in a circle', () => {
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(filesInCircles(circle)).toEqual(['a', 'b', 'c']);
  });

  it('lead from room to room as the table says, and nowhere else', () => {
    const found: Record<string, string[]> = {};
    for (const [file, targets] of imports) {
      const rooms = (found[roomOf(file)] ??= []);
      rooms.push(...targets.map(roomOf).filter((room) => room !== roomOf(file)));
    }
    for (const room of Object.keys(found)) found[room] = [...new Set(found[room])].toSorted();
    expect(found).toEqual(MAY_IMPORT);
  });

  it.each([
    ['policy', ['serve']],
    ['record', ['collect', 'trace']],
    ['shared', ['mcp', 'serve']],
  ])('lead to %s from its commands, and never back', (room, commands) => {
    const ofRoom = [...imports].filter(([file]) => file.startsWith(`src/cli/${room}/`));
    const targets = ofRoom.flatMap(([, each]) => each.map((file) => file.split('/')[2] ?? ''));
    expect(targets).not.toEqual([]);
    expect(targets.filter((each) => commands.includes(each))).toEqual([]);
  });

  it('lead down only, so that no two rooms import each other', () => {
    const rooms = Object.keys(MAY_IMPORT);
    for (const [room, below] of Object.entries(MAY_IMPORT)) {
      for (const each of below) {
        expect(rooms.indexOf(each), `${room} → ${each}`).toBeLessThan(rooms.indexOf(room));
        expect(rooms).toContain(each);
      }
    }
  });

  it('lead up the list of docs/architecture.md, which has every room', () => {
    const page = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
    const [, section = ''] = page.split(/^## (?:Rooms|The way of one tool call)$/m);
    const rooms = section.matchAll(/^- `([\w.-]+)`: /gm);
    expect(Array.from(rooms, ([, room]) => room)).toEqual(Object.keys(MAY_IMPORT));
  });
});
