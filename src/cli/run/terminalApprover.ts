import { setTimeout as delay } from 'node:timers/promises';
import expand from '@inquirer/expand';
import input from '@inquirer/input';
import type { Approval, ApprovalRequest, Approver } from '../../protocol/approval.js';
import { formatQuestion } from './questionText.js';

/** Ms without a key, after which what was typed ahead has come. */
const QUIET_MS = 150;

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
  signal.throwIfAborted();
  process.stderr.write(`\n${formatQuestion(request, process.stderr.columns)}\n`);
  await dropTypedAhead();
  const context = { signal, output: process.stderr };
  try {
    const answer = await expand(
      {
        message: 'Allow it?',
        expanded: true,
        default: 'n',
        choices: [
          { key: 'y', name: 'Yes, this once', value: 'once' },
          { key: 's', name: 'Yes, and the same again in this session', value: 'session' },
          { key: 'n', name: 'No', value: 'no' },
          { key: 'r', name: 'No, with a reason for the model', value: 'reason' },
        ],
      },
      context,
    );
    const by = 'terminal';
    if (answer === 'once') return { decision: 'allow', by };
    if (answer === 'session') return { decision: 'allow', remember: 'session', by };
    if (answer === 'no') return { decision: 'deny', by };
    return { decision: 'deny', by, reason: await input({ message: 'Why not?' }, context) };
  } catch (error) {
    // While a prompt is shown, the terminal hands ^C on as a key.
    if (isInterrupt(error)) process.kill(process.pid, 'SIGINT');
    throw error;
  }
}

/** A prompt must not be answered by what was typed before anybody could read it. */
async function dropTypedAhead(): Promise<void> {
  const { stdin } = process;
  let isQuiet = false;
  const note = () => {
    isQuiet = false;
  };
  stdin.setRawMode(true);
  stdin.on('data', note);
  stdin.resume();
  while (!isQuiet) {
    isQuiet = true;
    // Whoever goes on typing is not asked yet.
    await delay(QUIET_MS);
  }
  stdin.off('data', note);
  stdin.pause();
  stdin.setRawMode(false);
}

function isInterrupt(error: unknown): boolean {
  return error instanceof Error && error.name === 'ExitPromptError' && /SIGINT/.test(error.message);
}
