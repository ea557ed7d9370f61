import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { countOption, DEFAULT_MODEL, traceOption, workspaceOptions } from '../shared/options.js';

export const runCommand: CommandSpec = {
  name: 'run',
  description: 'Run the agent for one prompt, with all hooks',
  arguments: { '[prompt]': 'what to do; read from stdin when that is not a terminal' },
  options: [
    ...workspaceOptions,
    new Option('--model <name>', 'name of the Gemini model').default(DEFAULT_MODEL),
    new Option('--responses <file>', 'answer from recorded model calls instead of calling Gemini'),
    countOption('--max-turns <n>', 'give up after this many model calls; default 50'),
    new Option('--output-format <format>', 'what to write to stdout')
      .choices(['text', 'json', 'stream-json'])
      .default('text'),
    traceOption(),
    new Option(
      '--ask <decision>',
      'what counts in this run where hooks want a person to be asked; default: ask on a terminal, else "approvals" of the settings',
    ).choices(['allow', 'deny']),
    new Option(
      '--approvals <from>',
      'take answers from stdin, a JSON object on each line; with --output-format stream-json',
    )
      .choices(['stdin'])
      .conflicts('ask'),
    new Option(
      '--transcript <file>',
      'append what is said to this file, for hooks to read; default ~/.llxprt/sessions/ID/transcript.jsonl, where there are hooks',
    ),
    new Option('--no-transcript', 'write no transcript'),
  ],
  notes: `Environment:
  GEMINI_API_KEY          the key to call Gemini with
  GOOGLE_GEMINI_BASE_URL  where to call it, instead of Google`,
  exitCodes: `0 done, or stopped by a hook; 1 failed: the model cannot be called, --max-turns is reached, or the run
was aborted; 2 wrong usage or settings, or a file that was named cannot be used`,
  example: 'hookstack run "Write a haiku to haiku.txt" --output-format json',
  load: async () => (await import('./run.js')).run,
};
