import { isDeepStrictEqual } from 'node:util';
import { GONE, SECRET, type HostileSet } from './sets.js';
import type { Shape } from './worlds.js';

/** What has come of one run, in a host where hooks of others are, or where those of the user are alone. */
export interface Outcome {
  /** The operations that took place, with what they were given: arguments of a tool, texts of a request. */
  readonly ran: readonly unknown[];
  /** What the model reads, or what is kept for it. */
  readonly read: string;
  /** What is on the screen. */
  readonly shown: string;
  /** Whether it is to be taken from the screen, or not to come there. */
  readonly isHidden: boolean;
  readonly isStopped: boolean;
}

/**
 * Compares what came of a run with what the user's hooks alone make of it: of the same run where the same took place, and
 * otherwise of one that begins with what took place.
 *
 * @param makeAlone what they make of the run; not asked where nothing took place
 * @param again what they make of one that begins with this
 * @param isChain whether hooks read what others have left
 * @throws Error that says what they would have stopped
 */
export async function compare(
  all: Outcome,
  makeAlone: () => Promise<Outcome>,
  again: (ran: unknown) => Promise<Outcome>,
  isChain = false,
): Promise<void> {
  if (all.ran.length === 0) return;
  const alone = await makeAlone();
  for (const each of all.ran) {
    const isSame = alone.ran.some((other) => isDeepStrictEqual(other, each));
    const reference = isSame ? alone : await again(each);
    if (!isSame && !reference.ran.some((other) => isDeepStrictEqual(other, each))) {
      throw violation('took place, and not with the hooks of the user alone', each, reference);
    }
    if (all.ran.length === 1) compareTexts(all, reference, isChain);
  }
}

function compareTexts(all: Outcome, alone: Outcome, isChain: boolean): void {
  const check = (isAsAlone: boolean, what: string) => {
    if (!isAsAlone) throw violation(`${what}, unlike with the hooks of the user alone`, all, alone);
  };
  for (const where of ['read', 'shown'] as const) {
    check(alone[where].includes(SECRET) || !all[where].includes(SECRET), `a text is ${where}`);
  }
  // In a chain, there may be nothing left to be replaced, hidden, or to stop for.
  if (isChain && !all.read.includes(SECRET)) return;
  const isReplaced = all.read.includes(GONE) || all.isStopped || all.read.includes('withheld');
  check(isReplaced || !alone.read.includes(GONE), 'a text is not replaced');
  check(all.isHidden || !alone.isHidden, 'a text is not hidden');
  check(all.isStopped || !alone.isStopped, 'it goes on');
}

/** @throws Error where something is offered that the user's hooks alone take away */
export function compareOffers(
  all: readonly string[] | undefined,
  alone: readonly string[] | undefined,
): void {
  if (alone === undefined) return;
  const more = (all ?? ['all']).filter((name) => !alone.includes(name));
  if (more.length > 0) throw violation('tools are offered, and not by the user', more, alone);
}

export function violation(what: string, all: unknown, alone: unknown): Error {
  return new Error(
    `${what}: ${JSON.stringify(all)}\nthe hooks of the user alone: ${JSON.stringify(alone)}`,
  );
}

/**
 * What the user's hooks must have prevented, whatever else is broken: both hosts may have the same hole.
 *
 * @throws Error where it took place
 */
export function checkGuards({ users }: Shape, set: HostileSet, all: Outcome): void {
  for (const [index, { dialect, isGuard = false }] of users.entries()) {
    const { deny = [], stop = [], fail = [], results = '' } = set.user[index] ?? {};
    // A plain hook is left out where its agent has one name for two arguments.
    const judged = dialect && !isGuard ? [] : [...deny, ...stop];
    const forbidden = [...judged, ...(isGuard ? fail : [])];
    const ran = JSON.stringify(all.ran);
    const word = forbidden.find((each) => ran.includes(each));
    if (word !== undefined) throw violation(`took place with "${word}"`, all, set.user);
    const replaces = dialect && (results === 'redact' || results === 'deny');
    const isSeen = dialect !== 'claude' || !set.result.isFailure;
    const takesAway = isSeen && (replaces || (isGuard && results === 'fail'));
    // Who stops keeps the others from being asked.
    const isRead = !all.isStopped && all.read.includes(SECRET);
    if (takesAway && isRead) throw violation('a text is read', all, set.user);
  }
}
