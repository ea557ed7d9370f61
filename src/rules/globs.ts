/**
 * Whether two patterns of file names may mean the same file. Both are read as automata, and it is looked for a text that
 * both take; no file system is asked.
 */

type Takes = (character: string) => boolean;

interface Step {
  /** One character, or a class of them. */
  readonly takes: string | Takes;
  readonly to: number;
}

/** States with numbers; the last one is the end. */
interface Automaton {
  readonly steps: readonly (readonly Step[])[];
  readonly jumps: readonly (readonly number[])[];
}

export interface GlobOptions {
  /** Whether `*` and `?` at the start of a name take a dot, as in .gitignore, and not in a shell. */
  readonly dot: boolean;
  /** Whether what lies below a directory that matches matches as well. */
  readonly below?: boolean;
}

/** Stands in a glob for any text, slashes included: what only the shell knows. */
export const ANY_TEXT = '\0';

const isAny: Takes = () => true;
const isInName: Takes = (character) => character !== '/';
const isFirstInName: Takes = (character) => character !== '/' && character !== '.';

/** What was read of a glob, one for each way to write out its braces. */
export type ReadGlob = readonly Automaton[];

/** A glob that was read, to be compared with many. Case is no difference. */
export function readGlob(glob: string, options: GlobOptions): ReadGlob {
  return withoutBraces(glob.toLowerCase()).map((each) => automatonOf(each, options));
}

const TOKEN =
  /\*\*\/|\/\*\*$|\*+|\?|\[[!^]?\]?(?:\[[:.=][^\]]*\]|\\.|[^\]\\])+\]|[@!+?*]\([^)]*\)|\\[^]|[^]/g;

function automatonOf(glob: string, { dot, below }: GlobOptions): Automaton {
  const steps: Step[][] = [[]];
  const jumps: number[][] = [[]];
  const last = () => steps.length - 1;
  const add = () => {
    steps.push([]);
    jumps.push([]);
    return last();
  };
  const step = (takes: string | Takes) => {
    const from = last();
    steps[from]?.push({ takes, to: add() });
  };
  const repeat = (takes: Takes, first: Takes = takes) => {
    const from = last();
    const inside = add();
    steps[from]?.push({ takes: first, to: inside });
    steps[inside]?.push({ takes, to: inside });
    jumps[from]?.push(add());
    jumps[inside]?.push(last());
  };
  let isStart = true;
  for (const [token] of glob.matchAll(TOKEN)) {
    const inName = isStart && !dot ? isFirstInName : isInName;
    if (token === ANY_TEXT) repeat(isAny);
    else if (token === '**/') directories();
    else if (token === '/**') downwards();
    else if (token.startsWith('**')) repeat(isAny);
    else if (token === '*' || /^[@!+?*]\(/.test(token)) repeat(isInName, inName);
    else if (token === '?') step(inName);
    else if (token.length > 2 && token.startsWith('[')) step(classOf(token, inName));
    else step(token.length > 1 ? token.slice(1) : token);
    isStart = token.endsWith('/');
  }
  if (below) downwards();
  return { steps, jumps };

  /** The directory itself, or anything in it. */
  function downwards() {
    const from = last();
    step('/');
    repeat(isAny);
    jumps[from]?.push(last());
  }

  /** None, or any number of names with a slash behind. */
  function directories() {
    const from = last();
    const named = add();
    const after = add();
    jumps[from]?.push(after);
    // A shell looks into no hidden directory.
    steps[after]?.push({ takes: dot ? isInName : isFirstInName, to: named });
    steps[named]?.push({ takes: isInName, to: named }, { takes: '/', to: after });
  }
}

function classOf(token: string, inName: Takes): Takes {
  const [, not = '', body = ''] = /^\[([!^]?)([^]*)\]$/.exec(token) ?? [];
  // A class by name is any character.
  if (body.includes('[:')) return inName;
  const text = body.replaceAll(/\\(.)/g, '$1');
  const ranges = [...text.matchAll(/(.)-(.)|(.)/g)].map(([, from, to, one = '']) => [
    from ?? one,
    to ?? one,
  ]);
  return (character) =>
    inName(character) &&
    ranges.some(([from = '', to = '']) => character >= from && character <= to) === (not === '');
}

/** Whether there is a text that both take. */
export function globsMeet(a: ReadGlob, b: ReadGlob): boolean {
  return a.some((one) => b.some((other) => doMeet(one, other)));
}

function doMeet(a: Automaton, b: Automaton): boolean {
  const seen = new Set<number>();
  const open: [number, number][] = [[0, 0]];
  const ends = [a.steps.length - 1, b.steps.length - 1];
  for (let pair = open.pop(); pair; pair = open.pop()) {
    const [inA, inB] = pair;
    const id = inA * b.steps.length + inB;
    if (seen.has(id)) continue;
    seen.add(id);
    if (inA === ends[0] && inB === ends[1]) return true;
    for (const to of a.jumps[inA] ?? []) open.push([to, inB]);
    for (const to of b.jumps[inB] ?? []) open.push([inA, to]);
    for (const one of a.steps[inA] ?? []) {
      for (const other of b.steps[inB] ?? []) {
        if (canBoth(one.takes, other.takes)) open.push([one.to, other.to]);
      }
    }
  }
  return false;
}

/** Characters that stand for all others of two classes. */
const SAMPLES = ['~', ...Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at)), 'é'];

function canBoth(a: string | Takes, b: string | Takes): boolean {
  if (typeof a === 'string') return typeof b === 'string' ? a === b : b(a);
  if (typeof b === 'string') return a(b);
  return SAMPLES.some((character) => a(character) && b(character));
}

/**
 * A test for texts in which `*` of the pattern is any characters. Its time grows with the text, unlike that of an expression
 * with several of them: texts come from a model, and patterns from whoever wrote a project.
 */
export function wildcardTest(pattern: string): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return (text) => text === first;
  return (text) => {
    if (!text.startsWith(first) || !text.endsWith(last)) return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of parts) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return at <= end;
  };
}

/** At most so many for one pattern. */
const MAX_VARIANTS = 64;

/** `{a,b}` written out. */
export function withoutBraces(glob: string): readonly string[] {
  const done: string[] = [];
  const open = [glob];
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    const [all, before = '', choices = '', after = ''] =
      /^((?:\\.|[^{\\])*)\{([^{}]*,[^{}]*)\}([^]*)$/.exec(each) ?? [];
    if (all === undefined || done.length + open.length > MAX_VARIANTS) done.push(each);
    else open.push(...choices.split(',').map((choice) => before + choice + after));
  }
  return done;
}

/** A text as a glob that means nothing else. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}()!+@|^$]/g, String.raw`\$&`);
}
