import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { referenceTools } from '../../../src/agent/tools/referenceTools.js';
import { referenceToolNames } from '../../../src/agent/tools/toolNames.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

/** For each tool: arguments that work on a given path. */
const inputsFor: Record<string, (target: string) => Record<string, unknown>> = {
  read_file: (target) => ({ file_path: target }),
  write_file: (target) => ({ file_path: target, content: 'changed' }),
  replace: (target) => ({ file_path: target, old_string: 'secret', new_string: 'changed' }),
  list_directory: (target) => ({ path: target }),
  search_file_content: (target) => ({ pattern: 'secret', path: target }),
  glob: (target) => ({ pattern: '**', path: target }),
  run_shell_command: (target) => ({ command: 'echo changed > secret.txt', directory: target }),
};

function inputFor(toolName: string, target: string) {
  const input = inputsFor[toolName]?.(target);
  if (!input) throw new Error(`No input for ${toolName}`);
  return input;
}

it('has the seven tools under the names that hooks match on', () => {
  expect(referenceTools.map(({ name }) => name)).toEqual([
    'read_file',
    'write_file',
    'replace',
    'list_directory',
    'search_file_content',
    'glob',
    'run_shell_command',
  ]);
});

it('has the names that commands know without the tools', () => {
  expect(referenceToolNames).toEqual(referenceTools.map(({ name }) => name));
});

describe.each(referenceTools)('$name', (tool) => {
  it('declares itself with a closed JSON schema and describes every parameter', () => {
    expect(tool.declaration).toMatchObject({
      name: tool.name,
      description: expect.stringMatching(/\.$/),
      parametersJsonSchema: { type: 'object', additionalProperties: false },
    });
    const { properties } = tool.declaration.parametersJsonSchema as {
      properties: Record<string, { description: string }>;
    };
    expect(Object.keys(properties)).toEqual(
      expect.arrayContaining(Object.keys(inputFor(tool.name, ''))),
    );
    for (const { description } of Object.values(properties)) expect(description).toMatch(/\.$/);
  });

  it.each(['file.txt', 'directory'])('does not leave the workspace for a %s', async (kind) => {
    const secret = path.join(workspace.outside, 'secret.txt');
    await fs.writeFile(secret, 'secret');
    const target = kind === 'directory' ? workspace.outside : secret;
    await fs.symlink(target, path.join(workspace.workingDir, 'link'));

    for (const given of [target, path.relative(workspace.workingDir, target), 'link', 'a\0b']) {
      const result = await tool.execute(inputFor(tool.name, given), workspace);
      expect(result.error?.type).toBe(ToolErrorType.InvalidParams);
      expect(result.error?.message).toContain(workspace.workingDir);
    }
    expect(await fs.readFile(secret, 'utf8')).toBe('secret');
    expect(await fs.readdir(workspace.outside)).toEqual(['secret.txt']);
  });

  it('creates nothing outside through a dangling symbolic link', async () => {
    await fs.symlink('../outside/new', path.join(workspace.workingDir, 'link'));
    const result = await tool.execute(inputFor(tool.name, 'link'), workspace);
    expect(result.error?.type).toBe(ToolErrorType.InvalidParams);
    expect(await fs.readdir(workspace.outside)).toEqual([]);
  });

  it('refuses arguments that it does not know', async () => {
    const input = { ...inputFor(tool.name, 'a'), surprise: 1 };
    const result = await tool.execute(input, workspace);
    expect(result.error).toEqual({
      type: ToolErrorType.InvalidParams,
      message: `${tool.name} has no argument 'surprise'.`,
    });
  });

  it('touches nothing once it is cancelled', async () => {
    await workspace.write('secret.txt', 'secret');
    const target = tool.name === 'run_shell_command' ? '.' : 'secret.txt';
    const result = await tool.execute(inputFor(tool.name, target), {
      workingDir: workspace.workingDir,
      signal: AbortSignal.abort(),
    });
    expect(result.error?.type).toBe(ToolErrorType.Cancelled);
    expect(await workspace.read('secret.txt')).toBe('secret');
  });

  it('gives a result when the working directory does not exist', async () => {
    const workingDir = path.join(workspace.outside, 'gone');
    const result = await tool.execute(inputFor(tool.name, 'a'), { workingDir });
    expect(result.error?.type).toBe(ToolErrorType.Failed);
    expect(result.error?.message).toContain(workingDir);
  });
});
