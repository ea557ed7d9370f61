#!/usr/bin/env node
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_MODEL, DEFAULT_PROMPT, DEFAULT_TOOL } from './defaults.js';
import type { FireOptions } from './fire.js';
import type { ListOptions } from './list.js';
import type { RunOptions } from './run.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';

process.stdout.on('error', exitWhenReaderLeft);
process.stderr.on('error', exitWhenReaderLeft);
await main();

/** Every sub-command's module is imported only when it runs, so that help and `list` are quick. */
async function main(): Promise<void> {
  const { version } = createRequire(import.meta.url)('hookstack/package.json') as {
    version: string;
  };
  const program = new Command('hookstack')
    .description('Hooks for LLM agents: policy and automation around every tool and model call')
    .version(version)
    .exitOverride();
  addRun(program);
  addFire(program);
  addList(program);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

function addRun(program: Command): void {
  withWorkspaceOptions(program.command('run'))
    .description('Run the agent for one prompt, with all hooks')
    .argument('[prompt]', 'what to do; read from stdin when that is not a terminal')
    .option('--model <name>', 'name of the Gemini model', DEFAULT_MODEL)
    .option('--responses <file>', 'answer from recorded model calls instead of calling Gemini')
    .option('--max-turns <n>', 'give up after this many model calls', parseCount)
    .addOption(
      new Option('--output-format <format>', 'what to write to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addHelpText(
      'after',
      `
Environment:
  GEMINI_API_KEY          the key to call Gemini with
  GOOGLE_GEMINI_BASE_URL  where to call it, instead of Google

Exit codes: 0 done, or stopped by a hook; 1 failed; 2 wrong usage or settings

Example:
  $ hookstack run "Write a haiku to haiku.txt" --output-format json`,
    )
    .action(async (prompt: string | undefined, options: RunOptions) => {
      const { run } = await import('./run.js');
      process.exitCode = await run(prompt, options);
    });
}

function addFire(program: Command): void {
  withWorkspaceOptions(program.command('fire'))
    .description('Fire one event, and show what each hook said and what that means')
    .argument('<event>', 'such as BeforeTool')
    .option('--tool <name>', `the tool of BeforeTool and AfterTool; default ${DEFAULT_TOOL}`)
    .option('--input <json>', 'the input of the tool; for other events, the fields of the event')
    .option('--request <json>', 'the GenerateContentParameters of the model events')
    .option(
      '--response <json>',
      "AfterModel: the GenerateContentResponse; AfterTool: the tool's result; AfterAgent: the text",
    )
    .option('--prompt <text>', `what the user asked; default ${DEFAULT_PROMPT}`)
    .option('--json', 'write one JSON object')
    .addHelpText(
      'after',
      `
In place of JSON, @FILE reads a file and - reads stdin.

Exit codes: 0 proceed; 2 blocked; 3 stopped; 1 wrong usage or settings

Example:
  $ hookstack fire BeforeTool --tool write_file --input '{"file_path": ".env"}'`,
    )
    .action(async (event: string, options: FireOptions) => {
      const { fire } = await import('./fire.js');
      process.exitCode = await fire(event, options);
    });
}

function addList(program: Command): void {
  withWorkspaceOptions(program.command('list'))
    .description('List the configured hooks, and why some of them do not run')
    .option('--json', 'write one JSON object')
    .addHelpText(
      'after',
      `
Exit codes: 0 listed; 2 wrong usage or settings

Example:
  $ hookstack list --trust`,
    )
    .action(async (options: ListOptions) => {
      const { list } = await import('./list.js');
      await list(options);
    });
}

function withWorkspaceOptions(command: Command): Command {
  return command
    .option('--settings <file>', 'use this file instead of project, user and system settings')
    .option('--cwd <dir>', 'the project; default the current directory')
    .option('--trust', "let the hooks of the project's .llxprt/settings.json run");
}

function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Write a whole number above 0.');
}

/** Tells what went wrong, unless commander already has; returns the exit code. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  if (!(error instanceof CommanderError)) {
    printNotice('error', 'red', error instanceof Error ? error.message : String(error));
  }
  // For a caller of `fire`, 2 means that a hook blocked.
  return isUsage && process.argv[2] !== 'fire' ? 2 : 1;
}

/** As `| head` does. Other programs are ended by SIGPIPE then, which Node ignores. */
function exitWhenReaderLeft(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(128 + constants.signals.SIGPIPE);
}
