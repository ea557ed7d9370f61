/** What a process that stays does now. */
export type State = 'starting' | 'heard' | 'waiting' | 'asked' | 'gone';

/** What changes that. */
export type Step = 'hello' | 'turn' | 'ask' | 'answer' | 'leave' | 'fail';

interface Row {
  /** What a line on its stdout is. */
  readonly stdout: 'hello' | 'answer' | 'fault' | 'ignored';
  /** Whether its event fails with it. Else that is put to another process. */
  readonly ownsEvent: boolean;
  readonly when: string;
  /** Where each step leads; one that is missing changes nothing. */
  readonly steps: Readonly<Partial<Record<Step, State>>>;
}

const BETWEEN = { stdout: 'fault', ownsEvent: false, when: 'while nothing was asked' } as const;
const END = { leave: 'gone', fail: 'gone' } as const;

/** The states of a process that stays, and the steps between them. */
export const STATES: Readonly<Record<State, Row>> = {
  starting: {
    stdout: 'hello',
    ownsEvent: true,
    when: 'before it said hello',
    steps: { hello: 'heard', ...END },
  },
  /** Has said hello, or answered, in this very turn of the event loop. */
  heard: { ...BETWEEN, steps: { turn: 'waiting', ask: 'asked', ...END } },
  /** May have ended, and nobody has noticed yet. */
  waiting: { ...BETWEEN, steps: { ask: 'asked', ...END } },
  asked: {
    stdout: 'answer',
    ownsEvent: true,
    when: 'while it owed an answer',
    steps: { answer: 'heard', fail: 'gone' },
  },
  gone: { ...BETWEEN, stdout: 'ignored', steps: {} },
};
