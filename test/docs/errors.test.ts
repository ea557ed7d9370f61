import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { PIPELINE_ERROR_CODES } from '../../src/hooks/errors.js';
import { ToolErrorType } from '../../src/tools/tools.js';
import { readDocument, ROOT } from './markdown.js';

const errors = await readDocument('docs/errors.md');

describe('the page on errors', () => {
  it.each(Object.entries(PIPELINE_ERROR_CODES))('has the stage %s and its code', (stage, code) => {
    expect(errors).toMatch(new RegExp(`\\| \`${code}\` +\\| \`${stage}\` `, 'u'));
  });

  it.each(Object.values(ToolErrorType))('has the type %s of a tool error', (type) => {
    expect(errors).toContain(`| \`${type}\` `);
  });
});

describe('the table of exit codes', async () => {
  const { stdout } = await execa(process.execPath, [path.join(ROOT, 'dist/cli.cjs'), '--help']);
  const commands = Array.from(stdout.matchAll(/^ {2}([a-z]+) .*\[options\]/gm), ([, name]) => name);

  it.each(commands)('has a row for %s', (command) => {
    expect(errors).toContain(`| [\`${command}\`](`);
  });
});
