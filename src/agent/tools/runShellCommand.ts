import type { CommandOutcome } from '../../process/command/outcome.js';
import { runCommand } from '../../process/command/runCommand.js';
import type { ToolResult } from '../../tools/tools.js';
import { hostEnvironment } from '../../util/requester.js';
import { defineTool } from './defineTool.js';
import { nonEmptyText, optional, text } from './parameters.js';
import { printable } from './printable.js';
import { startWithExeca } from './startWithExeca.js';
import { cancelled, failed, type ToolFailure } from './toolFailure.js';
import { requireKind, type WorkspacePath } from './workspace.js';

const TIMEOUT_MS = 10 * 60 * 1000;
const NO_INPUT = new Uint8Array();
const MAX_TITLE_CHARACTERS = 80;
const BACKGROUND_NOTE =
  '[A background process still held the output, and is ended where it can be found; redirect its output to let it run on]';

export const runShellCommand = defineTool({
  name: 'run_shell_command',
  description:
    'Runs a command with bash (sh where there is none) in a directory inside of the working ' +
    'directory, without standard input, for at most 10 minutes. Gives its output and exit code.',
  parameters: {
    command: nonEmptyText('The command line.'),
    description: optional(text('What the command does, in a few words, for the user.')),
    directory: optional(
      text('The directory to run it in. Default: the working directory.', 'dir_path'),
    ),
  },
  targetOf: (args) => args.directory,
  async run({ command, description }, target, { signal }) {
    await requireKind(target, 'directory');
    const outcome = await runCommand({
      command,
      input: NO_INPUT,
      cwd: target.real,
      env: hostEnvironment(),
      timeoutMs: TIMEOUT_MS,
      signal,
      start: startWithExeca,
    });
    const report = formatReport(command, target, outcome);
    return describeRun(titleOf(description || command), outcome, report);
  },
});

function describeRun(title: string, run: CommandOutcome, report: string): ToolResult {
  const { stdout, stderr, exitCode, signal } = run;
  const metadata = { stdout, stderr, exitCode, signal };
  const failure = failureOf(title, run)?.result;
  if (failure) return { ...failure, llmContent: `${failure.llmContent}\n\n${report}`, metadata };
  const ending = signal ? `ended by ${signal}` : `exit code ${exitCode}`;
  return { llmContent: report, returnDisplay: `${title}: ${ending}`, metadata };
}

/** A command that ends by itself has not failed: the model reads its exit code or signal. */
function failureOf(title: string, { ending, error }: CommandOutcome): ToolFailure | undefined {
  if (ending === 'aborted') return cancelled('run_shell_command');
  if (ending === 'timeout') {
    return failed(
      `${title}: ended after ${TIMEOUT_MS / 60_000} minutes.`,
      'Run something that takes less time, or start it in the background with its output in a file.',
    );
  }
  if (ending !== 'spawn-failed') return undefined;
  return failed(
    `${title}: the shell could not be started: ${error?.message ?? 'unknown reason'}.`,
    'Check that the command is not too long and holds no NUL byte, then try again.',
  );
}

function formatReport(command: string, target: WorkspacePath, result: CommandOutcome): string {
  return [
    `Command: ${command}`,
    `Directory: ${target.shown}`,
    `Exit code: ${result.exitCode ?? '(none)'}`,
    ...(result.signal ? [`Signal: ${result.signal}`] : []),
    `Stdout: ${result.stdout || '(empty)'}`,
    `Stderr: ${result.stderr || '(empty)'}`,
    ...(result.truncated ? ['[The output was too long, and only its beginning was kept]'] : []),
    ...(result.stragglers ? [BACKGROUND_NOTE] : []),
  ].join('\n');
}

function titleOf(command: string): string {
  const [line = ''] = command.trim().split('\n');
  const title = printable(line);
  return title.length > MAX_TITLE_CHARACTERS ? `${title.slice(0, MAX_TITLE_CHARACTERS)}…` : title;
}
