import { Console } from 'node:console';
import { text } from 'node:stream/consumers';
import type { Said } from './author/answerEvents.js';
import type { HookEventTypes, HookOutput, HookSpecificOutputs } from './protocol/types.js';

export type { HookSpecificOutputs } from './protocol/types.js';

/** The name of an event, such as `BeforeTool`. */
export type EventName = keyof HookEventTypes;

/** What a hook of event `E` answers. Every field is optional. */
export type HookAnswer<E extends EventName> = Omit<HookOutput, 'hookSpecificOutput' | 'foreign'> & {
  hookSpecificOutput?: HookSpecificOutputs[E];
};

/** What a hook of event `E` reads. */
export type HookReads<E extends EventName> = HookEventTypes[E]['input'];

/** Throw it from anywhere in a hook to block the operation. Its message is the reason. */
export class Block extends Error {
  override readonly name = 'Block';
}

/**
 * Runs this script as a hook: reads the event from stdin, calls `hook` with it, writes what it returns to stdout as
 * JSON, and ends the process. Started as a persistent hook, it answers one event after the other, until stdin ends.
 *
 * The exit code is 0 for an answer, also for one that blocks, unless the hook has set `process.exitCode`; nothing
 * returned means: go on. A {@link Block} that is thrown is answered as `{ "decision": "block" }`. Any other error, an
 * answer that is no object, an input that is not an event of this name, and a promise that never settles end with exit
 * code 1 and a message on stderr that says where: the hook has failed, and `onFailure` in the settings says what that
 * means.
 *
 * `console.log` writes to stderr from here on, as anything but the answer on stdout would spoil it.
 *
 * @param event the event that the hook is for
 * @param hook takes what the hook reads; returns, or resolves to, its answer
 * @returns never settles: the process ends
 */
export async function defineHook<E extends EventName>(
  event: E,
  hook: (input: HookReads<E>) => HookAnswer<E> | void | Promise<HookAnswer<E> | void>,
): Promise<never> {
  globalThis.console = new Console(process.stderr);
  // The reader may leave before the answer is written, and there is nobody else to tell.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  process.once('beforeExit', endUnanswered);
  const answer = async (readInput: () => unknown): Promise<Said> => {
    try {
      const input = checkEvent(event, readInput());
      const said: unknown = await blockable(async () => hook(input));
      return { exitCode: process.exitCode ?? 0, stdout: writeAnswer(said) };
    } catch (error) {
      return { exitCode: 1, stderr: `${tellError(error)}\n` };
    }
  };
  try {
    const stdin = isPersistent() ? await answerLines(answer) : await readStdin(event);
    return await end(await answer(() => readJson(event, stdin)));
  } catch (error) {
    return end({ exitCode: 1, stderr: `${tellError(error)}\n` });
  }
}

/** The variable is for this process, and not for those that the hook starts. */
function isPersistent(): boolean {
  const isAsked = process.env['HOOKSTACK_PERSISTENT'] === '1';
  delete process.env['HOOKSTACK_PERSISTENT'];
  return isAsked;
}

/** Resolves where stdin turns out to be the input of an ordinary hook. */
async function answerLines(answer: (readInput: () => unknown) => Promise<Said>): Promise<string> {
  const { answerEvents } = await import('./author/answerEvents.js');
  return answerEvents((input) => answer(() => input));
}

/** What the message alone explains; its place is in here, and not in the hook. */
class Misuse extends Error {}

function readStdin(event: EventName): Promise<string> {
  if (process.stdin.isTTY) {
    process.stderr.write(
      `This hook waits for an event on stdin: type one as JSON and end it with Ctrl+D, or try the hook with: hookstack fire ${event}\n`,
    );
  }
  return text(process.stdin);
}

function writeAnswer(answer: unknown): string {
  if (answer === undefined || answer === null) return '';
  if (typeof answer === 'object' && !Array.isArray(answer)) return `${toJson(answer)}\n`;
  const kind = Array.isArray(answer) ? 'array' : typeof answer;
  throw new Misuse(
    `The hook returned ${/^[aeiou]/.test(kind) ? 'an' : 'a'} ${kind}, which says nothing: return an object, such as { decision: 'block', reason: '…' } or { systemMessage: '…' }, or nothing to let the operation go on`,
  );
}

function toJson(answer: object): string {
  try {
    return JSON.stringify(answer);
  } catch (cause) {
    throw new Misuse(`The hook returned what cannot be written as JSON (${String(cause)})`, {
      cause,
    });
  }
}

/** With the places that it came through, but for those of Node. */
function tellError(error: unknown): string {
  if (!(error instanceof Error)) {
    return `The hook threw ${String(error)}, which tells no place: throw new Error('…')`;
  }
  if (error instanceof Misuse) return error.message;
  const lines = (error.stack ?? String(error)).split('\n');
  return lines.filter((line) => !/^\s+at .*\bnode:/.test(line)).join('\n');
}

function readJson(event: EventName, stdin: string): unknown {
  if (stdin.trim() !== '') return parseJson(stdin);
  throw new Misuse(`No event on stdin. Try this hook with: hookstack fire ${event}`);
}

function checkEvent<E extends EventName>(event: E, input: unknown): HookReads<E> {
  const name = (input as { hook_event_name?: unknown } | null)?.hook_event_name;
  if (name === event) return input as HookReads<E>;
  throw new Misuse(
    `This hook is for ${event} and was started for ${JSON.stringify(name)}: move it in the settings`,
  );
}

function parseJson(stdin: string): unknown {
  try {
    return JSON.parse(stdin) as unknown;
  } catch (cause) {
    const message = `stdin is not JSON (${String(cause)}); a hook reads one JSON object`;
    throw new Misuse(message, { cause });
  }
}

async function blockable<T>(run: () => Promise<T>) {
  try {
    return await run();
  } catch (error) {
    if (error instanceof Block) return { decision: 'block', reason: error.message };
    throw error;
  }
}

/** Waits for the text to be written: an exit would cut what is still in the pipe. */
function end({ exitCode, stdout = '', stderr }: Said): Promise<never> {
  process.off('beforeExit', endUnanswered);
  const [stream, last] = stderr === undefined ? [process.stdout, stdout] : [process.stderr, stderr];
  return new Promise(() => {
    stream.write(last, () => process.exit(exitCode));
  });
}

function endUnanswered(): void {
  void end({
    exitCode: 1,
    stderr: 'The hook never answered: a promise in it does not settle\n',
  });
}
