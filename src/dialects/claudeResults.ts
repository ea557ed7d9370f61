import { ToolErrorType } from '../tools/tools.js';
import { isRecord } from '../util/records.js';
import { recordOf, textField } from './answers.js';
import type { Fields } from './dialect.js';

/** In Claude Code, a command that ends with another exit code than 0 has failed. */
export function shellResponse({ llmContent, metadata, error }: Fields) {
  const { stdout = textOf(llmContent), stderr = '', exitCode } = isRecord(metadata) ? metadata : {};
  const hasFailed = error !== undefined || (typeof exitCode === 'number' && exitCode !== 0);
  return {
    stdout,
    stderr,
    interrupted: error !== undefined && exitCode === null,
    isImage: false,
    success: !hasFailed,
    ...(typeof exitCode === 'number' && { exitCode }),
  };
}

export function shellOutput({ stdout, stderr }: Fields): string | undefined {
  const texts = [stdout, stderr].filter((text) => typeof text === 'string');
  return texts.length > 0 ? texts.filter((text) => text !== '').join('\n') : undefined;
}

export function readResponse(response: Fields, input: Fields) {
  const { filePath, success } = fileResponse(response, input);
  const file = { filePath, content: textOf(response['llmContent']) };
  return { filePath, success, type: 'text', file };
}

export function readOutput({ file }: Fields): string | undefined {
  const content = isRecord(file) ? file['content'] : undefined;
  return typeof content === 'string' ? content : undefined;
}

export function fileResponse({ error }: Fields, { file_path: filePath }: Fields) {
  return { filePath, success: error === undefined };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : '';
}

export function failureInput({ tool_response, ...fields }: Fields) {
  const { error, metadata, stdout = '', stderr = '' } = recordOf(tool_response);
  const { message, type } = recordOf(error);
  const exited = `Exit code ${String(recordOf(metadata)['exitCode'])}\n${String(stdout)}${String(stderr)}`;
  return {
    ...fields,
    error: message ?? exited.trimEnd(),
    is_interrupt: type === ToolErrorType.Cancelled,
  };
}

export function resultOf(
  { tool_response: given }: Fields,
  tool: string,
  text: string,
): Record<string, unknown> {
  const { error: _error, ...theirs } = recordOf(given);
  const { stdout, stderr, interrupted, exitCode } = theirs;
  const isShell = tool === 'run_shell_command' && isRecord(given);
  // It says when a command has failed, which is another event.
  const code = typeof exitCode === 'number' ? exitCode : interrupted === true ? null : 0;
  return {
    ...theirs,
    llmContent: text,
    returnDisplay: text,
    metadata: isShell ? { stdout, stderr, exitCode: code } : undefined,
  };
}

export function failureOf(fields: Fields, tool: string): Record<string, unknown> {
  const message = textField(fields, 'error') ?? 'The tool has failed';
  const [, code] = /^Exit code (\d+)/.exec(message) ?? [];
  const type = fields['is_interrupt'] === true ? ToolErrorType.Cancelled : ToolErrorType.Failed;
  return {
    llmContent: message,
    returnDisplay: message,
    error: { message, type },
    ...(tool === 'run_shell_command' && code !== undefined && { metadata: { exitCode: +code } }),
  };
}

/** Bash gives one. What the result of PowerShell looks like is not known. */
export function shellReplacement(stdout: string, { stdout: given, interrupted }: Fields) {
  return typeof given === 'string'
    ? { stdout, stderr: '', interrupted: interrupted === true, isImage: false }
    : undefined;
}

export function readReplacement(content: string, _given: Fields, { file_path: filePath }: Fields) {
  const lines = content.split('\n').length;
  const file = { filePath, content, numLines: lines, startLine: 1, totalLines: lines };
  return { type: 'text', file };
}
