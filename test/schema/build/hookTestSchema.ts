import { EXPECTED_FIELDS, TEST_FIELDS } from '../../../src/cli/shared/hookTestFile.js';
import type { JsonSchema } from '../../../src/util/checks.js';
import { expectationDescriptions, hookTestDescriptions } from './descriptions.js';
import { propertiesOf, requiredKeys } from './settingsSchema.js';

/** The JSON Schema of a `*.hooktest.json`. */
export function hookTestSchema(): JsonSchema {
  const properties = propertiesOf(TEST_FIELDS, hookTestDescriptions);
  return {
    title: 'A recorded event of hookstack, and what hooks are to say to it',
    type: 'object',
    properties: {
      ...properties,
      expect: {
        ...properties['expect'],
        type: 'object',
        properties: propertiesOf(EXPECTED_FIELDS, expectationDescriptions),
        minProperties: 1,
        additionalProperties: false,
      },
    },
    required: requiredKeys(TEST_FIELDS),
    additionalProperties: false,
  };
}
