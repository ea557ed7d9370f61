import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ANY_TEXT, globsMeet, readGlob, withoutBraces } from '../../src/rules/globs.js';
import { PathPattern } from '../../src/rules/pathPattern.js';
import { Place, rootsOf, type NamedFile } from '../../src/rules/paths.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

function placeOf(path: string, more: Partial<NamedFile> = {}): Place {
  return new Place({ path, directory: temp.path, ...more }, rootsOf(temp.path));
}

function isFound(pattern: string, path: string, more: Partial<NamedFile> = {}): boolean {
  return new PathPattern(pattern).find(placeOf(path, more)) !== undefined;
}

describe('a pattern of files, as in .gitignore', () => {
  beforeEach(() => {
    mkdirSync(join(temp.path, 'src/deep'), { recursive: true });
    writeFileSync(join(temp.path, 'src/deep/a.ts'), '');
    symlinkSync('src/deep', join(temp.path, 'link'));
    symlinkSync('nowhere', join(temp.path, 'dangling'));
  });

  it('sees what wildcards and folders to come lead to by links', () => {
    expect(isFound('/src/deep', 'l*/a.ts', { isGlob: true })).toBe(true);
    expect(isFound('/src/deep', '*/a.ts', { isGlob: true })).toBe(true);
    expect(isFound('/src/deep', 'd*/a.ts', { isGlob: true })).toBe(false);
    expect(isFound('/src/deep', `link/${'a/'.repeat(60)}b`)).toBe(true);
    symlinkSync('/etc', join(temp.path, 'lout'));
    const inProject = new PathPattern('/**');
    expect(inProject.holds(placeOf('s*/a.ts', { isGlob: true }))).toBe(true);
    expect(inProject.holds(placeOf('lo*/passwd', { isGlob: true }))).toBe(false);
    expect(inProject.holds(placeOf(`lout/${'a/'.repeat(60)}b`))).toBe(false);
  });

  it.each([
    ['a.ts', 'src/deep/a.ts', true],
    ['a.ts', 'a.tsx', false],
    ['a.ts', '/a.ts', true],
    ['**/*.ts', '/a.ts', true],
    ['*.ts', 'src/deep/a.ts', true],
    ['src', 'src/deep/a.ts', true],
    ['src/', 'src/deep/a.ts', true],
    ['deep', 'src/deep/a.ts', true],
    ['/deep', 'src/deep/a.ts', false],
    ['/src', 'src/deep/a.ts', true],
    ['src/deep', 'src/deep/a.ts', true],
    ['./src/deep', 'src/deep/a.ts', true],
    ['a./b.ts', 'a./b.ts', true],
    ['deep/a.ts', 'src/deep/a.ts', false],
    ['**/deep/a.ts', 'src/deep/a.ts', true],
    ['src/**', 'src', true],
    ['src/**', 'srcs', false],
    ['/**', '.', true],
    ['/**', '../x', false],
    ['**', '../x', true],
    ['src/*/a.ts', 'src/deep/a.ts', true],
    ['src/*', 'src/deep/a.ts', true],
    ['src/?eep/[ab].ts', 'src/deep/a.ts', true],
    ['src/{deep,x}/a.ts', 'src/deep/a.ts', true],
    ['//etc', '/etc/passwd', true],
    ['//etc', 'etc/passwd', false],
    ['.env*', 'x/.env.local', true],
    ['src/deep', 'link/a.ts', true],
    ['link', 'link/a.ts', true],
    ['src/deep', 'link/new.ts', true],
    ['nowhere', 'dangling', true],
    ['/src', 'link/../x', true],
    ['x.ts', 'src/../x.ts', true],
    ['../other/**', '../other/x', true],
  ])('%s and %s: %s', (pattern, path, expected) => {
    expect(isFound(pattern, path)).toBe(expected);
    expect(isFound(pattern, path, { isThere: true })).toBe(expected);
  });

  it('follows the home directory', () => {
    const pattern = new PathPattern('~/.keys/**');
    for (const home of ['/home/a', '/home/b.c', '/home/a']) {
      vi.stubEnv('HOME', home);
      expect(pattern.find(placeOf('~/.keys/x'))).toBeDefined();
      expect(pattern.find(placeOf(`${home}/.keys/x`))).toBeDefined();
      expect(pattern.find(placeOf('/home/c/.keys/x'))).toBeUndefined();
    }
    vi.unstubAllEnvs();
  });

  it('holds for a file only where no link leads out of it', () => {
    symlinkSync('/etc', join(temp.path, 'src/out'));
    const pattern = new PathPattern('/src/**');
    const paths = ['src/deep/a.ts', 'src/out/passwd', 'link/a.ts', 'src/../x'];
    expect(paths.map((path) => pattern.holds(placeOf(path)))).toEqual([true, false, false, false]);
  });

  it('finds a file below a directory that is read as a whole, and leaves out what does not count', () => {
    expect(isFound('a.ts', '.', { isBelow: true })).toBe(true);
    expect(isFound('a.ts', '.')).toBe(false);
    expect(isFound('b.ts', '.', { isBelow: true })).toBe(false);
    expect(isFound('a.ts', '.', { isBelow: true, except: ['*.ts'] })).toBe(false);
    expect(isFound('a.ts', '.', { isBelow: true, only: ['*.js'] })).toBe(false);
    const match = new PathPattern('a.ts').find(placeOf('.', { isBelow: true }), () => true);
    expect(match).toBeUndefined();
  });

  it('has a doubt of wildcards of a shell', () => {
    const found = new PathPattern('.env*').find(placeOf('.e*v', { isGlob: true }));
    expect(found?.doubt).toContain('wildcards');
  });
});

describe('two globs', () => {
  it.each([
    ['.e*v', '.env*', true],
    ['.e?v', '.env', true],
    ['*', '.env', false],
    ['*v', '.env', false],
    ['?env', '.env', false],
    ['[.]env', '.env', false],
    ['.[a-e]nv', '.env', true],
    ['.[!e]nv', '.env', false],
    ['x*', '*y', true],
    ['x*z', '*y', false],
    ['a/*', 'a/b', true],
    ['a/*', 'a/b/c', false],
    ['*/b', 'a/**', true],
    ['a/**/c', 'a/c', true],
    ['**/c', 'a/b/c', true],
    ['.{e,x}nv', '.env', true],
    ['\\*', 'x', false],
    ['@(a|b)', 'a', true],
    [`a${ANY_TEXT}`, 'a/b/c', true],
    [`${ANY_TEXT}.ts`, '.env', false],
    ['A*', 'ab', true],
  ])('%j and %s: %s', (word, pattern, expected) => {
    const found = globsMeet(readGlob(word, { dot: false }), readGlob(pattern, { dot: true }));
    expect(found).toBe(expected);
  });

  it('are compared in bounded time', () => {
    const long = readGlob('*a'.repeat(60), { dot: true });
    const started = performance.now();
    expect(globsMeet(long, readGlob('*b'.repeat(60), { dot: true }))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it('are written out without braces, up to a limit', () => {
    expect(withoutBraces('a{b,c}d').toSorted()).toEqual(['abd', 'acd']);
    expect(withoutBraces('{a,b}'.repeat(20)).length).toBeLessThan(200);
  });
});
