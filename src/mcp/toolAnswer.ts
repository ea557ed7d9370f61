import { isDeepStrictEqual } from 'node:util';
import { isBlocking } from '../protocol/hookOutput.js';
import { isBrokenJson, parseAnswer } from '../protocol/readHookOutput.js';
import { isRecord } from '../util/records.js';
import type { ToolAnswer } from './sdk.js';

/** Characters of a server's error in a message. */
const MAX_TOLD = 500;

/**
 * The text of a tool's answer that is read as what a command prints: of its parts, the one that counts most; without any
 * JSON object, all of its text. Texts come before what is structured, which mostly says the same.
 *
 * @param isGuard whether an answer that says nothing, or of which a part cannot be read, is an error
 * @throws Error that says why it is none
 */
export function readToolAnswer(answer: ToolAnswer, isGuard: boolean): string {
  const { content = [], structuredContent, isError = false, task } = answer;
  const texts = content.flatMap(({ text, resource }) => text ?? resource?.text ?? []);
  if (isError) throw new Error(`it answered with an error: ${texts.join('\n').slice(0, MAX_TOLD)}`);
  if (task !== undefined) throw new Error('it answered with a task, for which no hook waits');
  const structured = structuredContent === undefined ? '' : JSON.stringify(structuredContent);
  const said = [...texts, structured].filter((text) => text.trim() !== '');
  if (isGuard && said.length === 0) throw new Error(NOTHING);
  const parts = said.map((text) => toPart(text, isGuard));
  if (isGuard && parts.some((part) => !part.answer && isBrokenJson(part.text.trim())))
    throw new Error(BROKEN);
  const most = Math.max(...parts.map(({ weight }) => weight));
  const counted = parts.filter(({ weight }) => weight === most);
  const [first] = counted;
  if (
    isGuard &&
    most === SAYS &&
    counted.some((part) => !isDeepStrictEqual(part.answer, first?.answer))
  )
    throw new Error(SEVERAL);
  return first?.answer ? first.text : said.join('\n');
}

/** A part of an answer, and how much it counts beside others. */
interface Part {
  readonly text: string;
  readonly weight: number;
  /** `undefined` for what is no JSON object. */
  readonly answer?: Record<string, unknown>;
}

const [EMPTY, SAYS, ASKS, DENIES] = [0, 2, 3, 4];

function toPart(text: string, isGuard: boolean): Part {
  const object = parseAnswer(text.trim());
  // Beside an object that says nothing, it may be the denial of a guard.
  if (!object) return { text, weight: isGuard ? 1 : -1 };
  // Some servers put what a function returns into a "result".
  const inner = Object.keys(object).length === 1 ? object['result'] : undefined;
  return isRecord(inner)
    ? { text: JSON.stringify(inner), weight: weightOf(inner), answer: inner }
    : { text, weight: weightOf(object), answer: object };
}

function weightOf(answer: Record<string, unknown>): number {
  const { decision, continue: goesOn, hookSpecificOutput } = answer;
  const { permissionDecision, decision: inner } = isRecord(hookSpecificOutput)
    ? hookSpecificOutput
    : {};
  // In our words, or in those of Claude Code.
  const decisions = [decision, permissionDecision, isRecord(inner) ? inner['behavior'] : undefined];
  if (goesOn === false || decisions.some((each) => isBlocking(each))) return DENIES;
  if (decisions.includes('ask')) return ASKS;
  return Object.keys(answer).length > 0 ? SAYS : EMPTY;
}

const NOTHING =
  'it answered no text and nothing structured: let a guard that has no objection answer {}';

const SEVERAL =
  'it answered several JSON objects that say different things: let a guard answer one object';

const BROKEN =
  'a part of its answer looks like JSON and is no JSON object: let a guard answer one object';
