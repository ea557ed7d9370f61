import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The lines below a heading of docs/architecture.md. */
function linesBelow(heading: string): string[] {
  const text = readFileSync(path.join(ROOT, 'docs/architecture.md'), 'utf8');
  const [, section = ''] = text.split(new RegExp(`\\n#+ ${heading}\\n`, 'u'));
  const [lines = ''] = section.split('\n#');
  return lines.split('\n');
}

/** What is named in backticks, without what stands in brackets. */
const namesIn = (text: string) =>
  Array.from(text.replaceAll(/\(.*?\)/g, '').matchAll(/`([^`]+)`/g), ([, name = '']) => name);

const isThere = (place: string) =>
  [`src/${place}`, `src/${place}.ts`, `${place}.ts`].some((file) =>
    existsSync(path.join(ROOT, file)),
  );

it.each(['Things', 'Verbs'])('no word has two meanings: %s', (heading) => {
  const words = linesBelow(heading).flatMap(
    (line) => /^- \*\*(.*?)\*\*/.exec(line)?.[1]?.split(', ') ?? [],
  );
  expect(words.length).toBeGreaterThan(20);
  expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([]);
});

it('each word lives where the glossary says', () => {
  const places = linesBelow('Things').flatMap((line) => namesIn(line.split('; in ').at(-1) ?? ''));
  expect(places.length).toBeGreaterThan(40);
  expect(places.filter((place) => !isThere(place))).toEqual([]);
});

it('state of the process is where its list says', () => {
  const places = linesBelow('State')
    .filter((line) => line.startsWith('- '))
    .flatMap((line) => namesIn(line.split(': ')[0] ?? ''));
  expect(places.length).toBeGreaterThan(20);
  expect(places.filter((place) => !isThere(place))).toEqual([]);
});

/** Adapters, commands and the reference agent, whose words are those of their own host or protocol. */
const ROOMS_OF_THEIR_OWN = ['src/agent/**', 'src/cli/**', 'src/hosts/**'];

/** What may have the name of another thing, as nobody meets both. */
const SAME_NAMES = {
  Answer: 'of a person, and of a process that stays',
  AskOptions: 'how a question is put: by the approvals, by a server, by the fleet',
  Position: 'of a middleware in its stack, and of a character in a text',
  Question: 'to a person here, and the same on its way over the fleet',
  Said: 'by a hook that defineHook made, and by a rule of validate',
  readAnswer: 'of a dialect, of a server, and of a process that stays: one each in its format',
  scopeOf: 'of a hook, and of the variables in its command',
  textOf: 'of a value that may be none, and of a message that is written where it is wanted',
};

it('no two files of the engine export different things by the same name', () => {
  const files = globSync(['src/**/*.ts', 'middleware/*.ts'], {
    cwd: ROOT,
    ignore: ['**/*.d.ts', ...ROOMS_OF_THEIR_OWN],
  });
  // A class and its interface are one thing.
  const names = files.flatMap((file) => [
    ...new Set(
      Array.from(
        readFileSync(path.join(ROOT, file), 'utf8').matchAll(EXPORTED),
        ([, name]) => name,
      ),
    ),
  ]);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  expect(names.length).toBeGreaterThan(500);
  expect(twice).toEqual(new Set(Object.keys(SAME_NAMES)));
});

/** A declaration; what is only exported again is the same thing. */
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm;
