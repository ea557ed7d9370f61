import { isAscii } from 'node:buffer';
import { isRecord } from '../../util/records.js';
import type { CommandOutcome } from '../command/outcome.js';

/** The version of the protocol that this host speaks; see docs/persistent-hooks.md. */
const VERSION = 1;

/** The variable that tells a command that it may stay. */
export const PERSISTENT_VARIABLE = 'HOOKSTACK_PERSISTENT';

/** What a process answers to one event. */
export interface Answer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Whether its process ends now, and must not be asked again. */
  readonly isLast: boolean;
}

/** Whether a line is the first one of a process that stays, in the version that is spoken here. */
export function isHello(line: string): boolean {
  return parseLine(line)?.['hookstack'] === VERSION;
}

/** What to do about a process that says none. */
export const HELLO_ADVICE =
  'a persistent hook prints {"hookstack":1} first, and then answers line by line: use defineHook or the Python helper, or remove "persistent"; see docs: Persistent hooks';

/** Whether it is that of one that speaks another version. */
export function isHelloOfOther(line: string): boolean {
  const hello = parseLine(line);
  return hello !== undefined && Object.hasOwn(hello, 'hookstack') && !isHello(line);
}

/**
 * The line of an event, in the pieces that are written. A line break within JSON stands where a space may, and one of
 * Unicode in a text, where some that read lines take it for an end.
 */
export function writeEvent(id: number, input: Uint8Array): readonly Uint8Array[] {
  const start = Buffer.from(`{"id":${id},"input":`);
  const isOneLine = !input.includes(LINE_FEED) && !input.includes(CARRIAGE_RETURN);
  const line = isOneLine ? input : withoutLineBreaks(input);
  return [start, withoutSeparators(line), END_OF_EVENT];
}

/** Of a line of UTF-8. */
export const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const END_OF_EVENT = Buffer.from('}\n');

function withoutLineBreaks(input: Uint8Array): Uint8Array {
  return input.map((byte) => (byte === LINE_FEED || byte === CARRIAGE_RETURN ? 32 : byte));
}

/** Next line, line separator, paragraph separator. */
const SEPARATORS = ['\u0085', '\u2028', '\u2029'].map((separator) => Buffer.from(separator));

function withoutSeparators(input: Uint8Array): Uint8Array {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (isAscii(bytes) || !SEPARATORS.some((separator) => bytes.includes(separator))) return input;
  return Buffer.from(bytes.toString().replaceAll(/[\u0085\u2028\u2029]/g, asEscape));
}

function asEscape(separator: string): string {
  return `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Reads the answer to an event.
 *
 * @returns what is wrong with it, as the end of "The hook …", where it is none. Nothing of the line is quoted in that
 */
export function readAnswer(line: string, id: number): Answer | string {
  const answer = parseLine(line);
  if (!answer) return `wrote a line that is no JSON object instead of its answer`;
  if (answer['id'] !== id) return describeId(answer['id'], id);
  for (const [name, value] of Object.entries(answer)) {
    const [isRight, what] = FIELDS.get(name) ?? [];
    if (!isRight) return UNKNOWN_FIELD;
    if (!isRight(value)) return `answered with ${what}`;
  }
  const { output, stdout = '', exitCode = 0, stderr = '', last = false } = answer as Fields;
  if (output && Object.hasOwn(answer, 'stdout')) return BOTH;
  const written = output ? writeOutput(output) : stdout;
  if (written === undefined) return 'answered with an "output" that is nested too deeply';
  return { stdout: written, stderr, exitCode, isLast: last };
}

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isExitCode = (value: unknown) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255;

type Fields = Partial<Answer> & {
  readonly output?: Record<string, unknown>;
  readonly last?: boolean;
};

/** The fields of an answer, and what one is that is wrong. */
const FIELDS = new Map<string, readonly [isRight: (value: unknown) => boolean, what: string]>([
  ['id', [() => true, '']],
  ['output', [isRecord, 'an "output" that is no object']],
  ['stdout', [isText, 'a "stdout" that is no text']],
  ['exitCode', [isExitCode, 'an "exitCode" that is no whole number of 0 to 255']],
  ['stderr', [isText, 'a "stderr" that is no text']],
  ['last', [isFlag, 'a "last" that is neither true nor false']],
]);

function writeOutput(output: Record<string, unknown>): string | undefined {
  try {
    return JSON.stringify(output);
  } catch {
    return undefined;
  }
}

/** Whether a text, or a line of it, is an answer of the protocol, whatever event it is for. */
function isOfProtocol(text: string): boolean {
  const answers = [parseLine(text) ?? text.split('\n').map(parseLine)].flat();
  return answers.some((answer) => answer && Object.keys(answer).some((key) => FIELDS.has(key)));
}

/**
 * Takes the hello away from what an ordinary hook has said. Whoever says one and then nothing, or an answer of the
 * protocol, has waited for an event of the protocol: what it has to say of this one is not known.
 */
export function withoutHello(outcome: CommandOutcome): CommandOutcome {
  const [, line = '', stdout = ''] = /^\s*([^\n]*)\n?([^]*)$/.exec(outcome.stdout) ?? [];
  if (!isHello(line) && !isHelloOfOther(line)) return outcome;
  // Any other end speaks for itself.
  const hasEndedWell = outcome.ending === 'exit' && outcome.exitCode === 0;
  const isUnheard = hasEndedWell && (stdout.trim() === '' || isOfProtocol(stdout));
  if (!isUnheard) return { ...outcome, stdout };
  return { ...outcome, stdout, ending: 'broken', exitCode: null, error: new Error(UNHEARD) };
}

const UNHEARD =
  'said the hello of persistent hooks where it was started for one event alone, and did not answer that as an ordinary hook: say hello only where HOOKSTACK_PERSISTENT is set';

const BOTH = 'answered with both "output" and "stdout", of which one counts: leave the other out';
const UNKNOWN_FIELD =
  'answered with a field that is none of id, output, stdout, exitCode, stderr and last: what an ordinary hook prints belongs in "output"';

function describeId(answered: unknown, asked: number): string {
  if (answered === undefined) return `answered without the id of the event (${asked})`;
  return typeof answered === 'number'
    ? `answered for another event (id ${answered}, asked was ${asked})`
    : `answered with an id that is not that of the event (${asked})`;
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const decoder = new TextDecoder();

/** Without a byte order mark. */
export function decode(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

const BLANKS = new Set([0x09, 0x0a, 0x0d, 0x20]);

/** Where empty lines and spaces end. */
export function startOfText(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length && BLANKS.has(bytes[index] ?? 0)) index += 1;
  return index;
}

export function isBlank(bytes: Uint8Array): boolean {
  return startOfText(bytes) === bytes.length;
}
