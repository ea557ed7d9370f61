import { isBlocking } from '../protocol/hookOutput.js';
import { isBrokenJson, parseAnswer } from '../protocol/readHookOutput.js';
import { isRecord } from '../util/records.js';
import type { ToolAnswer } from './sdk.js';

/** Characters of a server's error in a message. */
const MAX_TOLD = 500;

/**
 * The text of a tool's answer that is read as what a command prints: of all JSON objects in it, the first that denies,
 * else the first that asks, else the first; without any, all of its text. Texts come before what is structured, which mostly says the same.
 *
 * @param isGuard whether an answer that says nothing, or of which a part cannot be read, is an error
 * @throws Error that says why it is none
 */
export function readToolAnswer(answer: ToolAnswer, isGuard: boolean): string {
  const { content = [], structuredContent, isError = false, task } = answer;
  const texts = content.flatMap(({ text, resource }) => text ?? resource?.text ?? []);
  if (isError) throw new Error(`it answered with an error: ${texts.join('\n').slice(0, MAX_TOLD)}`);
  if (task !== undefined) throw new Error('it answered with a task, for which no hook waits');
  const all =
    structuredContent === undefined ? texts : [...texts, JSON.stringify(structuredContent)];
  const said = all.filter((text) => text.trim() !== '');
  if (isGuard && said.length === 0) throw new Error(NOTHING);
  const objects = said.flatMap((text) => {
    const object = parseAnswer(text.trim());
    if (!object && isGuard && isBrokenJson(text.trim())) throw new Error(BROKEN);
    return object ? { text, object } : [];
  });
  const counted =
    objects.find(({ object }) => denies(object)) ??
    objects.find(({ object }) => decisionsOf(object).includes('ask')) ??
    objects[0];
  return counted?.text ?? said.join('\n');
}

const NOTHING =
  'it answered no text and nothing structured: let a guard that has no objection answer {}';

const BROKEN =
  'a part of its answer looks like JSON and is no JSON object: let a guard answer one object';

function denies(said: Record<string, unknown>): boolean {
  return said['continue'] === false || decisionsOf(said).some((each) => isBlocking(each));
}

/** In our words, or in those of Claude Code. */
function decisionsOf({ decision, hookSpecificOutput }: Record<string, unknown>): unknown[] {
  const { permissionDecision, decision: inner } = isRecord(hookSpecificOutput)
    ? hookSpecificOutput
    : {};
  const behavior = isRecord(inner) ? inner['behavior'] : undefined;
  return [decision, permissionDecision, behavior];
}
