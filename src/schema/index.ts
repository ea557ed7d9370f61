import type { JsonSchema } from '../util/checks.js';
import { HookEventName } from '../protocol/types.js';
import { stdinSchema, stdoutSchema } from './eventSchemas.js';
import { settingsSchema } from './settingsSchema.js';

/** The published schemas, by the name of their file in `schema/`. */
export function allSchemas(): ReadonlyMap<string, JsonSchema> {
  const schemas = new Map([['settings.json', settingsSchema()]]);
  for (const event of Object.values(HookEventName)) {
    schemas.set(`${event}.stdin.json`, stdinSchema(event));
    schemas.set(`${event}.stdout.json`, stdoutSchema(event));
  }
  return schemas;
}
