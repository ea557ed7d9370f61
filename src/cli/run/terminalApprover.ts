import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WriteStream } from 'node:tty';
import expand from '@inquirer/expand';
import input from '@inquirer/input';
import {
  MIN_READ_MS,
  type Approval,
  type ApprovalRequest,
  type Approver,
} from '../../protocol/approval.js';
import { formatQuestion } from './questionText.js';

/** Ms without a key, after which what was typed ahead has come. */
const QUIET_MS = 150;
/** As raw mode hands them on. */
const CTRL_C = 3;
const CTRL_D = 4;

/** Asks on the terminal, one question after the other. */
export function terminalApprover(): Approver {
  let turn: Promise<unknown> = Promise.resolve();
  return (request, { signal }) => {
    const asked = turn.then(() => ask(request, signal));
    turn = asked.catch(() => undefined);
    return asked;
  };
}

async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<Approval> {
  // Those whose time ended together with that of the question before.
  await delay(1);
  signal.throwIfAborted();
  process.stderr.write(`\n${formatQuestion(request, process.stderr.columns)}\n`);
  const release = holdOutput();
  const closed = watchKeys();
  const over = AbortSignal.any([signal, closed.signal]);
  try {
    await dropTypedAhead(over);
    return await choose(over);
  } catch (error) {
    // It is on its way.
    if (isInterrupt(error)) await once(over, 'abort');
    over.throwIfAborted();
    throw error;
  } finally {
    closed.dispose();
    release();
  }
}

async function choose(signal: AbortSignal): Promise<Approval> {
  const answer = await expand(
    {
      message: 'Allow it?',
      expanded: true,
      default: 'n',
      choices: [
        { key: 'y', name: 'Yes, this once', value: 'once' },
        {
          key: 's',
          name: 'Yes, all session: for the same hooks, tool, input, directory and agent',
          value: 'session',
        },
        { key: 'n', name: 'No', value: 'no' },
        { key: 'r', name: 'No, with a reason for the model', value: 'reason' },
      ],
    },
    { signal, output: openScreen() },
  );
  const by = 'terminal';
  if (answer === 'once') return { decision: 'allow', by };
  if (answer === 'session') return { decision: 'allow', remember: 'session', by };
  if (answer === 'no') return { decision: 'deny', by };
  const reason = await input({ message: 'Why not?' }, { signal, output: openScreen() });
  return { decision: 'deny', by, reason };
}

/** For a prompt alone, which ends it. Where the terminal is gone, stdin says so. */
function openScreen(): WriteStream {
  return new WriteStream(process.stderr.fd).on('error', () => undefined);
}

/** What others write meanwhile would stand between the rows of the prompt, or over them. */
function holdOutput(): () => void {
  const shown = [process.stdout, process.stderr].filter(({ isTTY }) => isTTY);
  for (const stream of shown) stream.cork();
  return () => {
    for (const stream of shown) stream.uncork();
  };
}

/** While a question is shown, the terminal hands ^C and ^D on as keys. */
function watchKeys(): { readonly signal: AbortSignal; dispose: () => void } {
  const { stdin } = process;
  const closed = new AbortController();
  const look = (typed: Buffer) => {
    if (typed.includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
    if (typed.includes(CTRL_D)) closed.abort(new Error('the terminal takes no more answers'));
  };
  stdin.on('data', look).on('end', hangUp).on('error', hangUp);
  const dispose = () => stdin.off('data', look).off('end', hangUp).off('error', hangUp);
  return { signal: closed.signal, dispose };
}

/** Once the terminal is gone, what Node does to restore it would crash the process; its signal may come later. */
function hangUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}

/** A prompt must not be answered by what was typed before anybody could read it. */
async function dropTypedAhead(signal: AbortSignal): Promise<void> {
  const { stdin } = process;
  // What comes soon after it was meant for what stood there before.
  const readable = performance.now() + MIN_READ_MS;
  let isQuiet = false;
  const note = () => {
    isQuiet = false;
  };
  stdin.setRawMode(true);
  stdin.on('data', note);
  stdin.resume();
  try {
    while (!isQuiet || performance.now() < readable) {
      isQuiet = true;
      // Whoever goes on typing is not asked yet.
      await delay(QUIET_MS, undefined, { signal });
    }
  } finally {
    stdin.off('data', note);
    stdin.pause();
    stdin.setRawMode(false);
  }
}

function isInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === 'ExitPromptError' && /SIGINT/.test(error.message);
}
