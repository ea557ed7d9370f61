import { InvalidArgumentError, Option } from 'commander';

/** The model of `run`, and of the requests that `fire` makes up. */
export const DEFAULT_MODEL = 'gemini-2.5-flash';
export const DEFAULT_TOOL = 'write_file';
export const DEFAULT_PROMPT = 'Hello';
export const DEFAULT_AGENT_TYPE = 'general-purpose';

export interface WorkspaceOptions {
  /** Where to look for the project's root, from there upward. Default: the current directory. */
  readonly cwd?: string;
  /** Who says so, for messages. Default: the option. */
  readonly cwdSource?: string | undefined;
  /** Replaces the settings of project, user and system, and all extensions. */
  readonly settings?: string;
  /** Lets everything of the project run, allowed or not. */
  readonly trust?: boolean;
  readonly json?: boolean;
}

export const cwdOption = new Option(
  '--cwd <dir>',
  'where to look for the project, from there upward; default the current directory',
);
export const jsonOption = new Option('--json', 'write one JSON object');

export const workspaceOptions = [
  new Option('--settings <file>', 'use this file instead of project, user and system settings'),
  cwdOption,
  new Option('--trust', "let the hooks of the project's .llxprt/settings.json run"),
];

/** @param what what the command does with the file */
export function traceOption(what = 'append what happens to this file, for "hookstack trace"') {
  return new Option('--trace <file>', what).env('HOOKSTACK_TRACE');
}

/** Where spans go, besides what the command does. */
export const otlpOption = new Option(
  '--otlp <url>',
  'send spans to a collector of OpenTelemetry over HTTP, such as http://127.0.0.1:4318',
).argParser((text) => {
  if (/^https?:\/\//u.test(text) && URL.canParse(text)) return text;
  throw new InvalidArgumentError('Write http://HOST:PORT or https://HOST:PORT.');
});

/** Of what goes on running. */
export const logOption = new Option(
  '--log <format>',
  'how it says what happens: one JSON object a line with json',
)
  .choices(['text', 'json'])
  .default('text');

/** An option that is a whole number. */
export function countOption(flags: string, what: string, least: 0 | 1 = 1): Option {
  return new Option(flags, what).argParser((text) => {
    const count = Number(text);
    if (text.trim() !== '' && Number.isSafeInteger(count) && count >= least) return count;
    throw new InvalidArgumentError(
      `Write a whole number ${least === 0 ? 'of 0 or more' : 'above 0'}.`,
    );
  });
}
