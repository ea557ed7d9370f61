/** How long a hook may run when its settings say nothing, in ms. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Node's timers count in 32 bits: one step further, and they fire at once. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * Bytes kept of each output stream where nothing else is asked for; the rest is read and dropped. More than anybody
 * reads, and little enough for many commands to run beside each other.
 */
export const MAX_KEPT_BYTES = 1024 * 1024;

/** Bytes kept of the stdout of a hook: its answer may hold a long text, and one that is cut is lost. */
export const MAX_KEPT_ANSWER_BYTES = 8 * MAX_KEPT_BYTES;

/** How long each step of a command's end may take, all in ms. */
export interface CommandTimings {
  /** From SIGTERM to SIGKILL, after the deadline or an abort. */
  readonly graceMs: number;
  /** After the exit: silence that counts as the end of the output. */
  readonly quietMs: number;
  /** After the exit: the longest wait for more output, however much still comes. */
  readonly drainMs: number;
  /** From SIGTERM to SIGKILL for what a command left behind on its pipes. */
  readonly stragglerGraceMs: number;
  /** From the deadline to the answer, at the latest. */
  readonly answerMs: number;
}

/** Hook authors are promised five seconds to clean up. */
const GRACE_MS = 5_000;
/** A background job may write for ever, and the verdict has been spoken. */
const DRAIN_MS = 1_000;

/** The timings of every run; tests shorten them. */
export const COMMAND_TIMINGS: CommandTimings = {
  graceMs: GRACE_MS,
  // The leader is gone, so what it wrote is already in the pipe: a busy machine needs no longer to hand it over.
  quietMs: 150,
  drainMs: DRAIN_MS,
  // Nobody waits for a straggler's answer, so it gets less time than a hook.
  stragglerGraceMs: 2_000,
  answerMs: GRACE_MS + DRAIN_MS,
};

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
