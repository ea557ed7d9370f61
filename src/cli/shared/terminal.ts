import { styleText } from 'node:util';
import { removeControls } from '../../protocol/sanitizeText.js';
import { hostEnvironment, type TextStream } from '../../util/requester.js';
import { standardError, standardOutput, writeError } from './streams.js';
import { INVISIBLE, toVisible } from '../../util/visible.js';

export { toVisible } from '../../util/visible.js';

const MAX_LINE = 200;

export type TextStyle = Parameters<typeof styleText>[0];

/** Whether a line of stderr can be written anew. */
export function canRedraw(): boolean {
  return standardError().isTTY === true && hostEnvironment()['TERM'] !== 'dumb';
}

/** Plain where there is no terminal, and as NO_COLOR, FORCE_COLOR and `TERM=dumb` say. */
export function paint(
  style: TextStyle,
  text: string,
  stream: TextStream = standardOutput(),
): string {
  const env = hostEnvironment();
  const mayHave = stream.isTTY || env['FORCE_COLOR'] !== undefined;
  // Node looks at the environment alone.
  const isPlain =
    !mayHave || process.getBuiltinModule('node:tty').WriteStream.prototype.getColorDepth(env) === 1;
  return isPlain ? text : styleText(style, text, { validateStream: false });
}

export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** For text of hooks, models and files: short, without control characters. `limit` is in characters. */
export function toOneLine(text: string, limit = MAX_LINE): string {
  const line = withoutBreaks(text);
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

/** As {@link toVisible}, but its lines stay lines. */
export function toVisibleLines(text: string): string {
  return text.split(/\r?\n/u).map(toVisible).join('\n');
}

/** The whole text on one line, without control characters. */
export function withoutBreaks(text: string): string {
  return removeControls(text).replaceAll(/\s+/g, ' ').trim();
}

export function printJson(value: unknown): void {
  writtenJson.add(standardOutput());
  printLine(jsonOf(value));
}

/** On one line, with escapes for what a terminal would hide or obey. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(INVISIBLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

const writtenJson = new WeakSet<TextStream>();

/** For whoever reads stdout of a command that has failed. Nothing where its object has been written before that. */
export function printJsonError(message: string): void {
  if (!writtenJson.has(standardOutput())) printJson({ error: message });
}

export function printLine(line: string): void {
  standardOutput().write(`${line}\n`);
}

const LABELS = {
  blocked: 'red',
  done: 'green',
  error: 'red',
  failed: 'red',
  note: 'cyan',
  recorded: 'green',
  stopped: 'red',
  tool: 'cyan',
  warning: 'yellow',
} as const satisfies Record<string, TextStyle>;

export type NoticeLabel = keyof typeof LABELS;

/**
 * On stderr, without control characters.
 *
 * @param kind what happened, in a word of the program
 */
export function printNotice(label: NoticeLabel, text: string, kind: string = label): void {
  const stderr = standardError();
  const message = removeControls(text);
  const line = structured.has(stderr)
    ? jsonOf({ time: new Date().toISOString(), level: levelOf(label), kind, message })
    : `${paint(LABELS[label], `${label}:`, stderr)} ${message}`;
  writeError(`${line}\n`);
}

const structured = new WeakSet<TextStream>();

/** What is printed with `--log`. */
export type LogFormat = 'text' | 'json';

/** From now on notices, and what is reported, are as `--log` says. */
export function logAs(format: LogFormat | undefined): void {
  if (format === 'json') structured.add(standardError());
}

/** What a program that goes on running says on stdout; with `--log json` a line as those of notices. */
export function report(kind: string, text: string): void {
  if (!structured.has(standardError())) return printLine(text);
  printLine(jsonOf({ time: new Date().toISOString(), level: 'info', kind, message: text }));
}

/** The levels of OpenTelemetry, in small letters. */
function levelOf(label: NoticeLabel): 'error' | 'warn' | 'info' {
  if (LABELS[label] === 'red') return 'error';
  return label === 'warning' ? 'warn' : 'info';
}
