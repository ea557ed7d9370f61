import { describe, expect, it } from 'vitest';
import { PIPELINE_ERROR_CODES } from '../../src/hooks/errors.js';
import { ToolErrorType } from '../../src/tools/tools.js';
import { readDocument } from './markdown.js';

const errors = await readDocument('docs/errors.md');

describe('the page on errors', () => {
  it.each(Object.entries(PIPELINE_ERROR_CODES))('has the stage %s and its code', (stage, code) => {
    expect(errors).toMatch(new RegExp(`\\| \`${code}\` +\\| \`${stage}\` `, 'u'));
  });

  it.each(Object.values(ToolErrorType))('has the type %s of a tool error', (type) => {
    expect(errors).toContain(`| \`${type}\` `);
  });
});
