import type { JsonSchema } from '../../../src/util/checks.js';
import { HookEventName } from '../../../src/protocol/types.js';
import { stdinSchema, stdoutSchema } from './eventSchemas.js';
import { hookTestSchema } from './hookTestSchema.js';
import { settingsSchema } from './settingsSchema.js';

/** A name and no address: nothing is fetched. */
const NAMES = 'urn:hookstack:schema:';
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The published schemas, by the name of their file in `schema/`. */
export function allSchemas(): ReadonlyMap<string, JsonSchema> {
  const schemas: [string, JsonSchema][] = [
    ['settings.json', settingsSchema()],
    ['hooktest.json', hookTestSchema()],
    ...Object.values(HookEventName).flatMap((event): [string, JsonSchema][] => [
      [`${event}.stdin.json`, stdinSchema(event)],
      [`${event}.stdout.json`, stdoutSchema(event)],
    ]),
  ];
  return new Map(
    schemas.map(([name, schema]) => [
      name,
      { $schema: DIALECT, $id: `${NAMES}${name}`, ...schema },
    ]),
  );
}
