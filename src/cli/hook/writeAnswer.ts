import { errorMessage } from '../../util/errorMessage.js';
import { removeControls } from '../../protocol/sanitizeText.js';

/** Exit codes: the answer is on stdout, or the event is blocked for the reason on stderr. */
export const ANSWERED = 0;
export const BLOCKED = 2;

const writeOut = process.stdout.write.bind(process.stdout);

/**
 * What code of extensions prints goes to stderr: agents that find anything but one JSON object in stdout take it for a
 * text, and a text for a yes.
 */
export function keepStdout(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

/** Without this, an output that is full or closed would end the process with a code that agents take for a yes. */
export function surviveOutputs(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.removeAllListeners('error');
    stream.on('error', () => undefined);
  }
}

/**
 * Writes the answer of the hooks. Where that fails, the event is blocked, unless they had nothing to say.
 *
 * @param reason why hooks block
 * @returns the exit code
 */
export async function writeAnswer(json: object, reason = ''): Promise<number> {
  const error = await new Promise<Error | null | undefined>((resolve) => {
    writeOut(`${JSON.stringify(json)}\n`, resolve);
  });
  if (!error || Object.keys(json).length === 0) return ANSWERED;
  const problem = `the answer of the hooks could not be written (${errorMessage(error)})`;
  return block([`Blocked, as ${problem}`, reason].filter(Boolean).join(': '));
}

/** Says on stderr why an event is blocked, where agents look for it. */
export function block(text: string): number {
  process.stderr.write(`${removeControls(text)}\n`);
  return BLOCKED;
}
