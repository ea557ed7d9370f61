import type { EventField } from '../../src/protocol/defineEvent.js';
import { events, isHookEventName } from '../../src/protocol/events.js';
import { answerFields } from '../../src/protocol/hookAnswer.js';
import { commonFields } from '../../src/protocol/hookInput.js';
import { fieldsOf, type AnyCheck, type JsonSchema } from '../../src/util/checks.js';

type Fields = Readonly<Record<string, EventField>>;

/** The page, with the fields of each event behind its `<!-- fields of NAME -->`, up to `<!-- end -->`. */
export function withEventTables(page: string): string {
  const block = /(<!-- fields of (\w+(?: \w+)?) -->)[^]*?<!-- end -->/g;
  return page.replaceAll(block, (_all, begin: string, name: string) =>
    [begin, listOf(fieldsNamed(name)), '<!-- end -->'].join('\n\n'),
  );
}

function fieldsNamed(name: string): Fields {
  if (name === 'every event') return commonFields;
  if (name === 'every answer') return answerFields;
  if (isHookEventName(name)) return events[name].fields;
  throw new Error(`There is no event "${name}"`);
}

function listOf(fields: Fields): string {
  const lines = Object.entries(fields).map(([name, [check, words, how]]) => {
    const type = typeOf(how?.reads?.shape ?? check);
    return `- \`${name}\` (${type}): ${words.replaceAll(/"(\w+)"/g, '`$1`')}`;
  });
  return lines.join('\n');
}

function typeOf(check: AnyCheck): string {
  const { type, enum: choices } = fieldsOf(check)
    ? { type: 'object' }
    : (check.schema as JsonSchema);
  if (!Array.isArray(choices)) return String(type);
  return choices.length > 5 ? 'string' : choices.map((each) => `\`"${each}"\``).join(', ');
}
