import { errorMessage } from '../util/errorMessage.js';
import {
  expecting,
  flag,
  oneOf,
  readFields,
  text as anyText,
  type FieldTable,
} from '../util/checks.js';
import { orUndefined } from '../util/paths.js';
import { isRecord } from '../util/records.js';
import { maskedNames, secretMasker, type HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { cutText, removeControls } from '../protocol/sanitizeText.js';
import type { ProcessAge } from '../protocol/types.js';
import { diffValues } from './diff.js';
import { SPAN_KINDS, SPAN_VERDICTS, type Span, type SpanKind, type SpanVerdict } from './span.js';

/** In characters, of each text. */
const MAX_TEXT = 16 * 1024;
/** Deeper values are left out. */
const MAX_DEPTH = 60;

/** A span that has ended, as a line of a trace file has it: masked, cut, and without control characters. */
export interface SpanRecord {
  readonly id: string;
  /** 32 hexadecimal digits, the same in all that one span has led to, also on policy servers. */
  readonly trace?: string;
  readonly parent: string | null;
  readonly kind: SpanKind;
  readonly name: string;
  /** Of an event and of its hooks. */
  readonly event?: string;
  /** Of an event, where it is a moment that other agents tell apart. */
  readonly moment?: string;
  /** Ms since 1970. */
  readonly start: number;
  readonly durationMs: number;
  /** Of middleware: without what `next()` took. */
  readonly ownMs?: number;
  readonly verdict: SpanVerdict;
  readonly reason?: string;
  /** The hooks that decided so, of an event or a call. */
  readonly decidedBy?: readonly string[];
  readonly command?: string;
  readonly exitCode?: number;
  readonly signal?: string;
  /** Of a persistent hook: whether its process was new, or had answered another event before. */
  readonly process?: ProcessAge;
  readonly sizes?: Readonly<Record<string, number>>;
  readonly error?: string;
  /** What was replaced, in the manner of a unified diff. */
  readonly change?: string;
  readonly input?: string;
  readonly output?: string;
  readonly stderr?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly tool?: string;
  readonly call?: string;
  /** The person who answered a question of hooks about it. */
  readonly approver?: string;
  /** The version of the policy that has answered, of what a policy server does and of the remote hook that asks it. */
  readonly policy?: string;
  /** Within a shadow: has no effect on anything. */
  readonly isShadow?: boolean;
  /** Of a shadow: the verdict that counted in its place, and the version of its policy. */
  readonly counted?: string;
  readonly countedPolicy?: string;
  /** In the record of a fleet: the `team/agent` that it came from. */
  readonly from?: string;
}

/**
 * Writes a span down.
 *
 * @param policy values of the variables that `redact` names are replaced by their names; without it, those of
 *   `@secrets`
 */
export function toSpanRecord(span: Span, policy: HookEnvironmentPolicy = {}): SpanRecord {
  const mask = secretMasker(maskingOf(policy));
  const clean = (text: string) => cutText(removeControls(mask(text)), MAX_TEXT);
  const write = (value: unknown) => textOf(value, mask, clean);
  const { id, trace, parent, kind, exitCode, signal, sizes, ownMs } = span;
  return {
    id,
    trace,
    parent,
    kind,
    name: clean(span.name),
    event: span.event,
    moment: span.moment,
    agent: write(span.agent),
    session: write(span.session),
    tool: write(span.tool),
    call: write(span.call),
    start: toMicroseconds(span.start),
    durationMs: toMicroseconds(span.durationMs ?? 0),
    ownMs: ownMs === undefined ? undefined : toMicroseconds(ownMs),
    verdict: span.verdict ?? 'allow',
    reason: write(span.reason),
    decidedBy: span.decidedBy?.map(clean),
    approver: write(span.approver),
    command: write(span.command),
    exitCode,
    signal,
    process: span.process,
    sizes,
    error: span.error === undefined ? undefined : clean(errorMessage(span.error)),
    change: writeChanges(span, mask),
    input: write(span.input),
    output: write(span.output),
    stderr: write(span.stderr),
    policy: span.policy,
    isShadow: span.isShadow,
    counted: span.counted?.verdict,
    countedPolicy: span.counted?.policy,
  };
}

/**
 * As JSON would have it; cyclic or too deep values become a word. `write` changes each text, keys included.
 *
 * @param above the objects that the value is in
 */
function plainCopy(
  value: unknown,
  write: (text: string) => string,
  above: readonly object[] = [],
): unknown {
  if (typeof value === 'string') return write(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (above.includes(value)) return '[cyclic]';
  if (above.length >= MAX_DEPTH) return '[nested too deeply]';
  const within = [...above, value];
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, write, within));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  // Defines keys instead of assigning them, so that `__proto__` is a key like any other.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [write(key), plainCopy(item, write, within)]),
  );
}

function writeChanges({ changes = [] }: Span, mask: (text: string) => string): string | undefined {
  const lines = changes.flatMap(({ what, before, after }) =>
    diffValues(what, plainCopy(before, mask), plainCopy(after, mask)),
  );
  return lines.length > 0 ? cutText(removeControls(lines.join('\n')), MAX_TEXT) : undefined;
}

/** Everything but text becomes indented JSON. */
function textOf(
  value: unknown,
  mask: (text: string) => string,
  clean: (text: string) => string,
): string | undefined {
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return clean(value);
  return cutText(JSON.stringify(plainCopy(value, mask), null, 2) ?? '', MAX_TEXT);
}

function maskingOf(policy: HookEnvironmentPolicy): HookEnvironmentPolicy {
  return { ...policy, redact: policy.redact?.length ? policy.redact : ['@secrets'] };
}

/** Names of masked secrets, and words for what was left out. */
export function findPlaceholders(text: string, policy: HookEnvironmentPolicy): string[] {
  const names = maskedNames(text, maskingOf(policy)).map((name) => `[${name}]`);
  return [...names, ...new Set(text.match(/\[(?:cyclic|nested too deeply|\d+ bytes)\]/g))];
}

export function isCut(text: string): boolean {
  return /\n\[… \d+ more characters cut\]$/.test(text);
}

function toMicroseconds(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** In ms. Two of them together are still a date. */
const MAX_TIME = 4e15;

const isNumber = (value: unknown): value is number => typeof value === 'number';
const time = expecting<number>(
  'a time',
  (value) => isNumber(value) && value >= 0 && value <= MAX_TIME,
);
const numbers = expecting<Record<string, number>>(
  'numbers by name',
  (value) => isRecord(value) && Object.values(value).every(isNumber),
);

/** What a reader may find missing, and has a default. */
type ReadSpan = Omit<SpanRecord, 'parent' | 'verdict' | 'decidedBy'> &
  Partial<Pick<SpanRecord, 'verdict'> & { parent: string }>;

/** The file may come from anywhere: only fields of the right type are taken. */
const FIELDS: FieldTable<ReadSpan> = {
  id: { struct: anyText, required: true },
  trace: { struct: anyText },
  parent: { struct: anyText },
  kind: { struct: oneOf(...SPAN_KINDS), required: true },
  name: { struct: anyText, required: true },
  event: { struct: anyText },
  moment: { struct: anyText },
  agent: { struct: anyText },
  session: { struct: anyText },
  tool: { struct: anyText },
  call: { struct: anyText },
  approver: { struct: anyText },
  start: { struct: time, required: true },
  durationMs: { struct: time, required: true },
  ownMs: { struct: time },
  verdict: { struct: oneOf(...SPAN_VERDICTS) },
  reason: { struct: anyText },
  command: { struct: anyText },
  exitCode: { struct: expecting('a number', isNumber) },
  signal: { struct: anyText },
  process: { struct: oneOf('new', 'kept') },
  sizes: { struct: numbers },
  error: { struct: anyText },
  change: { struct: anyText },
  input: { struct: anyText },
  output: { struct: anyText },
  stderr: { struct: anyText },
  policy: { struct: anyText },
  isShadow: { struct: flag },
  counted: { struct: anyText },
  countedPolicy: { struct: anyText },
  from: { struct: anyText },
};

/** Takes a line of a trace, from wherever; `undefined` where it is no span. */
export function readSpan(line: string): SpanRecord | undefined {
  const value = orUndefined<unknown>(() => JSON.parse(line));
  if (!isRecord(value)) return undefined;
  const fields = readFields(value, FIELDS, 'span', () => undefined);
  const { decidedBy } = value;
  return (
    fields && {
      parent: null,
      verdict: 'allow',
      ...fields,
      ...(Array.isArray(decidedBy) && { decidedBy: decidedBy.filter((each) => anyText.is(each)) }),
    }
  );
}
