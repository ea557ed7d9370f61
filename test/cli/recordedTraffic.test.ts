import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Cli, group, saying } from './helpers.js';

const FOLDER = fileURLToPath(new URL('../../../shared/data/responses', import.meta.url));

type Hooks = Parameters<Cli['settings']>[0];

const cli = new Cli();

async function replay(name: string, hooks: Hooks) {
  const responses = join(FOLDER, `${name}.responses`);
  const settings = await cli.settings(hooks);
  const args = ['run', 'Go', '--responses', responses, '--settings', settings];
  const { exitCode, stdout, stderr } = await cli.run([...args, '--output-format', 'json']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout) as { modelCalls: { request: unknown }[]; hooks: { event: string }[] };
}

/** Real answers of Gemini, and hooks that do what the name of the recording says. */
describe.skipIf(!existsSync(FOLDER))('a recording of Gemini', () => {
  it('block-tool: the file is not written, and the model is told why', async () => {
    const report = await replay('block-tool', {
      BeforeTool: group('echo "File writing is blocked" >&2; exit 2', { matcher: 'write_file' }),
    });
    expect(report).toMatchObject({
      response: expect.stringContaining('blocked by the security policy') as string,
      toolCalls: [{ name: 'write_file', status: 'idle', llmContent: 'File writing is blocked' }],
      turns: 2,
    });
    expect(existsSync(join(cli.project, 'test.txt'))).toBe(false);
    expect(JSON.stringify(report.modelCalls[1]?.request)).toContain('File writing is blocked');
  });

  it('allow-tool: the file is written, and silent answers are asked for again', async () => {
    const report = await replay('allow-tool', {
      BeforeTool: group(saying({ decision: 'allow' }), { matcher: 'write_file' }),
    });
    expect(report).toMatchObject({
      response: 'I have created the file. What would you like me to do next?',
      toolCalls: [{ status: 'success' }],
      turns: 4,
    });
    expect(await cli.read('approved.txt')).toBe('Approved content');
  });

  it('after-tool-context: the context reaches the next request', async () => {
    await cli.write('test-file.txt', 'This is test content');
    const additionalContext = 'Security scan: clean';
    const report = await replay('after-tool-context', {
      AfterTool: group(saying({ hookSpecificOutput: { additionalContext } }), {
        matcher: 'read_file',
      }),
    });
    expect(report).toMatchObject({ response: 'This is test content', turns: 2 });
    expect(JSON.stringify(report.modelCalls[0]?.request)).not.toContain(additionalContext);
    expect(JSON.stringify(report.modelCalls[1]?.request)).toContain(additionalContext);
  });

  it('before-model: the request is changed', async () => {
    const messages = [{ role: 'user', content: 'Say that the hook modified this' }];
    const llm_request = { messages, config: { temperature: 0.1 } };
    const report = await replay('before-model', {
      BeforeModel: group(saying({ hookSpecificOutput: { llm_request } })),
    });
    expect(report).toMatchObject({
      response: 'The security hook modified this request successfully.',
      modelCalls: [
        {
          blocked: false,
          request: {
            contents: [{ role: 'user', parts: [{ text: 'Say that the hook modified this' }] }],
            config: { temperature: 0.1 },
          },
        },
      ],
    });
  });

  it('after-model: the answer is changed', async () => {
    const llm_response = {
      candidates: [
        { content: { role: 'model', parts: ['[REDACTED]'] }, finishReason: 'STOP', index: 0 },
      ],
    };
    const report = await replay('after-model', {
      AfterModel: group(saying({ hookSpecificOutput: { llm_response } })),
    });
    expect(report).toMatchObject({ response: '[REDACTED]' });
  });

  it('before-tool-selection: the tools are restricted', async () => {
    await cli.write('new_file_data.txt', 'test data');
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['run_shell_command', 'read_file'] };
    const report = await replay('before-tool-selection', {
      BeforeToolSelection: group(saying({ hookSpecificOutput: { toolConfig } })),
    });
    const functionCallingConfig = {
      mode: 'ANY',
      allowedFunctionNames: ['read_file', 'run_shell_command'],
    };
    expect(report).toMatchObject({
      response: 'Done.',
      modelCalls: [
        { request: { config: { toolConfig: { functionCallingConfig } } } },
        { request: { config: { toolConfig: { functionCallingConfig } } } },
      ],
      toolCalls: [{ name: 'read_file', status: 'success', llmContent: 'test data' }],
    });
  });

  it('before-tool-selection: a call of another tool is refused', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['write_file'] };
    const report = await replay('before-tool-selection', {
      BeforeToolSelection: group(saying({ hookSpecificOutput: { toolConfig } })),
    });
    expect(report).toMatchObject({ toolCalls: [{ name: 'read_file', status: 'error' }] });
  });

  it('input-modification: the tool runs with the changed input', async () => {
    const tool_input = { file_path: 'modified.txt', content: 'modified content' };
    const report = await replay('input-modification', {
      BeforeTool: group(saying({ hookSpecificOutput: { tool_input } }), { matcher: 'write_file' }),
    });
    expect(report).toMatchObject({
      toolCalls: [
        {
          originalInput: { file_path: 'original.txt', content: 'original content' },
          input: tool_input,
          status: 'success',
        },
      ],
    });
    expect(await cli.read('modified.txt')).toBe('modified content');
    expect(existsSync(join(cli.project, 'original.txt'))).toBe(false);
  });

  it('multiple-events: all hooks have their part', async () => {
    const report = await replay('multiple-events', {
      SessionStart: note('A session begins'),
      BeforeAgent: note('Answer in full'),
      BeforeTool: group(saying({ decision: 'allow' })),
      AfterTool: note('Tool was watched'),
      AfterAgent: group('true'),
      SessionEnd: group('true'),
    });
    expect(report).toMatchObject({ response: 'BeforeAgent: User request processed', turns: 4 });
    expect(report.hooks.map(({ event }) => event)).toEqual([
      'SessionStart',
      'BeforeAgent',
      'BeforeTool',
      'AfterTool',
      'AfterAgent',
      'SessionEnd',
    ]);
    const requests = report.modelCalls.map(({ request }) => JSON.stringify(request));
    expect(requests[0]).toContain('A session begins');
    expect(requests[0]).toContain('Answer in full');
    expect(requests[1]).toContain('Tool was watched');
    expect(await cli.read('multi-event-test.txt')).toBe('testing multiple events');
  });
});

/** A hook that tells the model something. */
function note(additionalContext: string) {
  return group(saying({ hookSpecificOutput: { additionalContext } }));
}
