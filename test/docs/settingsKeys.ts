import type { JsonSchema } from '../../src/util/checks.js';
import { allSchemas } from '../schema/build/index.js';

/** A key of a settings file, and what the schema says of it. */
export interface SettingsKey {
  readonly name: string;
  readonly words: string;
  /** The keys within it that have no list of their own. */
  readonly within: readonly string[];
}

/** The page, with the keys of the schema behind each `<!-- keys of NAME -->`, up to `<!-- end -->`. */
export function withSettingsKeys(page: string): string {
  const block = /(<!-- keys of (\w+) -->)[^]*?<!-- end -->/g;
  return page.replaceAll(block, (_all, begin: string, name: string) =>
    [begin, keysOf(name).map(lineOf).join('\n'), '<!-- end -->'].join('\n\n'),
  );
}

/** @param name `settings`, or a definition of the schema: `group` or `hook` */
export function keysOf(name: string): SettingsKey[] {
  const schema = allSchemas().get('settings.json') as JsonSchema;
  const { properties } = name === 'settings' ? schema : definitionOf(schema, name);
  return Object.entries(properties as Record<string, JsonSchema>)
    .filter(([key]) => key !== '$schema')
    .map(([key, value]) => ({ name: key, words: wordsOf(value), within: keysWithin(value) }));
}

function definitionOf({ $defs }: JsonSchema, name: string): JsonSchema {
  const definition = ($defs as Record<string, JsonSchema>)[name];
  if (!definition) throw new Error(`There is no definition "${name}" in the schema`);
  return definition;
}

function wordsOf({ description }: JsonSchema): string {
  return String(description);
}

function keysWithin({ properties, anyOf }: JsonSchema): string[] {
  const alternatives = (anyOf as JsonSchema[] | undefined) ?? [];
  return [...Object.keys(properties ?? {}), ...alternatives.flatMap(keysWithin)];
}

function lineOf({ name, words }: SettingsKey): string {
  return `- \`${name}\`: ${words.replaceAll(/"(\w+)"/g, '`$1`')}`;
}
