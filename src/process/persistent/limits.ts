import { COMMAND_TIMINGS, type CommandTimings } from '../command/limits.js';

/** When kept processes are ended, and how long one waits for them. */
export interface PersistentLimits extends CommandTimings {
  /** Ms from the start of a process to its hello, after which it has failed. */
  readonly helloMs: number;
  /** Ms between the end of its stdin and the signals that end it. */
  readonly farewellMs: number;
  /** Ms without an event after which it is ended. */
  readonly idleMs: number;
  /** Events after which it is started anew. */
  readonly maxEvents: number;
  /** Ms between two looks at its memory. */
  readonly memoryMs: number;
  /** Ms that the next start waits after the first fault; twice as long after each further one. */
  readonly pauseMs: number;
  /** Faults after which it is not started any more. */
  readonly maxFaults: number;
  /** Good answers in a row that make its faults forgotten. */
  readonly goodAnswers: number;
}

/** Those of every host; tests change them. */
export const PERSISTENT_LIMITS: PersistentLimits = {
  ...COMMAND_TIMINGS,
  helloMs: 2_000,
  farewellMs: 1_000,
  idleMs: 5 * 60_000,
  maxEvents: 10_000,
  memoryMs: 1_000,
  pauseMs: 100,
  maxFaults: 5,
  goodAnswers: 100,
};
