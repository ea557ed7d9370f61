import { newResult } from '../protocol/hookAnswer.js';
import { cleanOutput, isBlocking, type ServerWord } from '../protocol/hookOutput.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { sanitizeText } from '../protocol/sanitizeText.js';
import type { ForeignEffects, ToolOutput } from '../protocol/types.js';
import { expecting, flag, listOfText, objectOf, text } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import {
  HEADERS,
  NOTE_KEY,
  PROTOCOL_VERSION,
  type Asking,
  type FleetAnswer,
  type Question,
} from './question.js';
import { answerWithoutSecret, withoutSecret } from './secret.js';

/** What hooks of a policy server did, beside the mark of its answer. */
export interface FleetNote extends ServerWord {
  /** Whether every hook of the server was healthy. */
  readonly success: boolean;
  readonly hooks?: readonly {
    readonly name: string;
    readonly success: boolean;
    readonly durationMs: number;
    readonly why?: string;
  }[];
  /** Effects that only hooks of other agents have. */
  readonly foreign?: object;
}

/** An answer that is one, or the refusal of a server. */
export interface ReadAnswer {
  readonly status: number;
  /** All that the server said, without the secret. */
  readonly text: string;
  /** The same without the mark: what a hook would have printed. */
  readonly said: string;
  readonly foreign?: ForeignEffects;
  readonly server?: ServerWord;
  /** That hooks of the server have failed, in words that complete "The hook …". */
  readonly fault?: string;
}

/**
 * Marks an answer as one to this question.
 *
 * @param said what a hook would print
 * @returns JSON
 */
export function markAnswer(said: object, { id }: Pick<Question, 'id'>, note?: FleetNote): string {
  const mark = { version: PROTOCOL_VERSION, question: id, ...note };
  return JSON.stringify(Object.assign({}, said, { [NOTE_KEY]: mark }));
}

/** A part of an answer, with the mark of the whole. */
export function withMarkOf(answer: Readonly<Record<string, unknown>>, part: object): object {
  const mark = answer[NOTE_KEY];
  if (!isRecord(mark)) return part;
  const { version, question, success, policy } = mark;
  return { ...part, [NOTE_KEY]: { version, question, policy, success } };
}

/**
 * Reads what a server said. Of what is no refusal, only what is marked is an answer.
 *
 * @throws Error, which completes "The hook …", for anything else
 */
export function readAnswer(
  answer: FleetAnswer,
  asking: Pick<Asking, 'question' | 'secret' | 'mayBeUnmarked'>,
): ReadAnswer {
  const { status, isCut } = answer;
  const said = answerWithoutSecret(answer.text, asking.secret);
  if (status < 200 || status > 299) return { status, text: said, said };
  if (isCut) throw new Error('was answered with more than it reads');
  const parsed = parseAnswer(said);
  const isUnmarked = parsed?.[NOTE_KEY] === undefined;
  if (isUnmarked && asking.mayBeUnmarked) return { status, text: said, said };
  if (!parsed) throw new Error(`was answered with status ${status} and no JSON object: ${ADVICE}`);
  const { [NOTE_KEY]: mark, ...rest } = parsed;
  return { status, text: said, said: JSON.stringify(rest), ...readMark(mark, asking) };
}

const ADVICE = `have the server write "${NOTE_KEY}": { "version": ${PROTOCOL_VERSION}, "question": ID } beside its answer, with the ID of the header ${HEADERS.question}`;

function readMark(
  mark: unknown,
  { question: { id }, secret }: Pick<Asking, 'question' | 'secret'>,
): Pick<ReadAnswer, 'foreign' | 'fault' | 'server'> {
  if (!isRecord(mark) || typeof mark['version'] !== 'number') {
    throw new Error(`was answered with what is not marked as an answer: ${ADVICE}`);
  }
  const { version, question, policy, decidedBy, success = true, hooks, foreign } = mark;
  if (version !== PROTOCOL_VERSION) throw new Error(mismatchOf(version));
  if (question !== id) throw new Error(`was given the answer to another question: ${ADVICE}`);
  const isReadable = foreignEffects.is(foreign);
  if (!isReadable && foreign !== undefined) return { fault: UNREADABLE };
  return {
    ...(isReadable && { foreign: cleaned(foreign) }),
    server: {
      ...(typeof policy === 'string' && { policy: sanitizeText(policy).slice(0, MAX_POLICY) }),
      ...(listOfText.is(decidedBy) && { decidedBy: decidedBy.slice(0, MAX_HOOKS).map(nameOf) }),
    },
    ...(success !== true && { fault: withoutSecret(faultOf(hooks), secret) }),
  };
}

const nameOf = (name: string) => sanitizeText(name).slice(0, MAX_NAMES);
const MAX_HOOKS = 64;
/** In characters. */
const MAX_POLICY = 64;
const MAX_NAMES = 300;
const MAX_REFUSAL = 500;

const UNREADABLE =
  'was answered with effects that cannot be read here: use the same version of hookstack on both sides';

function mismatchOf(version: number): string {
  const older =
    version > PROTOCOL_VERSION ? 'update hookstack where the agent runs' : 'update the server';
  return `was answered in version ${version} of the protocol, and version ${PROTOCOL_VERSION} is read here: ${older}`;
}

/** By their names alone, as their words may quote what a guard has to withhold. */
function faultOf(hooks: unknown): string {
  const failed = (Array.isArray(hooks) ? hooks : []).flatMap((hook: unknown) =>
    isRecord(hook) && hook['success'] !== true && text.is(hook['name']) ? [hook['name']] : [],
  );
  const names = failed.map((name) => `"${name}"`).join(', ');
  const which = names && ` (${sanitizeText(names).slice(0, MAX_NAMES)})`;
  return `was answered by a server whose own hooks have failed${which}: see what it logs`;
}

const foreignEffects = objectOf<ForeignEffects>('effects of hooks of other agents', {
  droppedArguments: listOfText,
  toolOutput: expecting<ToolOutput>(
    'a result',
    (value) => newResult.is(value) && flag.is((value as ToolOutput).isDenial),
  ),
  contextOfResult: text,
  prevents: flag,
  withheld: text,
});

/** As the texts of a hook that says the same here. */
function cleaned({
  droppedArguments,
  toolOutput,
  contextOfResult,
  prevents,
  withheld,
}: ForeignEffects): ForeignEffects {
  return {
    ...(droppedArguments && { droppedArguments }),
    ...(toolOutput && { toolOutput: cleanOutput(toolOutput) }),
    ...(contextOfResult !== undefined && { contextOfResult: sanitizeText(contextOfResult) }),
    ...(prevents !== undefined && { prevents }),
    ...(withheld !== undefined && { withheld: sanitizeText(withheld) }),
  };
}

/** Why a server refused, in its own words; `undefined` where it has none. */
export function refusalIn(answered: string): string | undefined {
  const { error } = parseAnswer(answered) ?? {};
  return typeof error === 'string' ? sanitizeText(error).slice(0, MAX_REFUSAL) : undefined;
}

/** Whether an answer, in whichever format, is a no, or ends the agent. */
export function forbids(said: Readonly<Record<string, unknown>>): boolean {
  const { decision, hookSpecificOutput: specific } = said;
  if (isBlocking(decision) || said['continue'] === false) return true;
  if (!isRecord(specific)) return false;
  const { permissionDecision, decision: permission } = specific;
  return (
    isBlocking(permissionDecision) || (isRecord(permission) && permission['behavior'] === 'deny')
  );
}
