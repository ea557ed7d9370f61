import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { paint } from './account.mjs';

/**
 * Prints which of the seven effects the hooks had, each with what shows it.
 *
 * @param run what there was to see: `prompt`, `workingDir`, the agent's `result`, the `requests` that reached the
 *   model, and the `account`
 * @returns an exit code: 1 when one of the effects did not happen
 */
export function reportEffects(run) {
  console.log(`\n${paint('bold', 'What the hooks did')}`);
  const states = EFFECTS.map((effect) => reportEffect(effect, run));
  const count = (state) => states.filter((each) => each === state).length;
  const skipped = count('skipped') > 0 ? `, ${count('skipped')} skipped` : '';
  console.log(`\n${count('done')} of ${EFFECTS.length} effects happened${skipped}.`);
  return count('MISSING') > 0 ? 1 : 0;
}

function reportEffect({ title, needs, find }, run) {
  const evidence = find(run);
  if (evidence) return printEffect('done', 'green', `${title}: ${evidence}`);
  if (needs === undefined || isInstalled(needs)) return printEffect('MISSING', 'red', title);
  return printEffect('skipped', 'yellow', `${title}: its hook needs ${needs}`);
}

function printEffect(state, style, text) {
  console.log(`  ${paint(style, state.padEnd(7))}  ${text}`);
  return state;
}

const EFFECTS = [
  { title: 'tool call blocked', find: findBlockedCall },
  { title: 'tool call rewritten', find: findRewrittenCall },
  { title: 'tool result annotated', needs: 'python3', find: findAnnotation },
  { title: 'request changed', find: findChangedRequest },
  { title: 'answer redacted', find: findRedaction },
  { title: 'tool choice restricted', find: findRestriction },
  { title: 'agent stopped', find: findStop },
];

function findBlockedCall({ result }) {
  const call = result.toolCalls.find((each) => each.result.error?.type === 'blocked_by_hook');
  return (
    call &&
    `${call.name} of ${call.originalInput.file_path} did not run, "${call.result.error.message}"`
  );
}

function findRewrittenCall({ result, workingDir }) {
  const call = result.toolCalls.find((each) => !isDeepStrictEqual(each.input, each.originalInput));
  if (!call) return undefined;
  const { originalInput, input } = call;
  const isThere = (file) => (existsSync(path.join(workingDir, file)) ? 'exists' : 'does not');
  return `${input.file_path} ${isThere(input.file_path)}, ${originalInput.file_path} ${isThere(originalInput.file_path)}`;
}

function findAnnotation({ result, requests, account }) {
  for (const { originalInput, result: final } of result.toolCalls) {
    const before = account.results.get(originalInput)?.llmContent;
    if (before === undefined || final.llmContent === before) continue;
    const added = final.llmContent.slice(before.length).trim();
    const inJson = JSON.stringify(added).slice(1, -1);
    if (requests.some((request) => JSON.stringify(request).includes(inJson))) {
      return `the model also read "${added}"`;
    }
  }
  return undefined;
}

function findChangedRequest({ prompt, requests }) {
  const arrived = requests[0]?.contents[0].parts[0].text;
  return arrived !== prompt && `the model read "${arrived}"`;
}

function findRedaction({ account: { answers, shown } }) {
  const turn = answers.findIndex((answer, index) => answer !== shown[index]);
  return turn >= 0 && `of "${answers[turn]}" the user saw "${shown[turn]}"`;
}

function findRestriction({ result, requests }) {
  const allowed = requests[0]?.config.toolConfig?.functionCallingConfig?.allowedFunctionNames;
  const refused = result.toolCalls.find((call) => call.result.error?.type === 'tool_not_allowed');
  return (
    allowed && refused && `to ${allowed.join(' and ')}; the call of ${refused.name} was refused`
  );
}

function findStop({ result: { stopped } }) {
  return stopped && `at ${stopped.event}, "${stopped.reason}"`;
}

function isInstalled(program) {
  return spawnSync(program, ['--version']).status === 0;
}
