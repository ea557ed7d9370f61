// What is looked at after the session of guards.mjs: what the model read, what ran, and which files are there.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { KEY, SECRET, STAND_INS } from './guardCalls.mjs';

/** Counts for each guard what was as it should be, and says what was not. */
export class Tally {
  rows = new Map();
  wrong = [];

  /** @param word what the guard did, for the table */
  note(guard, word, ok, what) {
    const row = this.rows.get(guard) ?? {};
    const { good = 0, all = 0 } = row[word] ?? {};
    this.rows.set(guard, { ...row, [word]: { good: good + (ok ? 1 : 0), all: all + 1 } });
    if (!ok) this.wrong.push(`${guard}: not ${word}: ${what}`);
  }
}

/** Calls with their results, as they stand in what the model read last. */
export function resultsIn(requests) {
  const last = requests.findLast(({ script }) => script !== undefined)?.body ?? {};
  const said = last.messages ?? last.contents ?? [];
  const parts = said.flatMap(({ content, parts: own }) => own ?? content);
  const results = new Map();
  for (const { tool_use_id: id, content, is_error: isError, functionResponse } of parts) {
    if (id) results.set(id, { text: textOf(content), isError });
    if (!functionResponse) continue;
    const { error, output } = functionResponse.response;
    results.set(functionResponse.id, {
      text: textOf(error ?? output),
      isError: error !== undefined,
    });
  }
  const ids = parts.flatMap(({ type, id, functionCall }) =>
    type === 'tool_use' ? id : (functionCall?.id ?? []),
  );
  return ids.map((id) => results.get(id) ?? { text: 'there is no result' });
}

function textOf(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What shells make of quotes is of no interest here. */
const plain = (text) => text.replaceAll(/["']/gu, '');

/** A call is stopped where the model has read why, and it did not run; that it ran is told by its stand-in. */
export function checkCalls(tally, calls, { results, ran, settings }) {
  const guards = [...new Set(calls.map(({ guard }) => guard))];
  const reasons = reasonsIn(settings, guards);
  for (const [index, { guard, title, kind, input }] of calls.entries()) {
    const { text, isError } = results[index] ?? { text: 'it was not called' };
    const by = guards.filter((name) => reasons[name].some((each) => text.includes(each)));
    const hasRun = ran.some((line) => plain(input.command ?? '').includes(line));
    const isOfStandIn = STAND_INS.some((name) => input.command?.startsWith(`${name} `));
    const hasPassed = !isError && by.length === 0 && (hasRun || !isOfStandIn);
    const ok = kind === 'stopped' ? by.includes(guard) && !hasRun : hasPassed;
    const what = `${hasRun ? 'ran; ' : ''}the model read ${JSON.stringify(text.slice(0, 300))}`;
    tally.note(guard, kind, ok, `${title}: ${what}`);
  }
}

/** By guard, the reasons of its rules. */
function reasonsIn({ hooks }, guards) {
  const all = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  const reasonsOf = (guard) =>
    all.flatMap(({ name, reason }) => (name === guard || name === `${guard}-ask` ? reason : []));
  return Object.fromEntries(
    guards.map((guard) => [guard, reasonsOf(guard).filter((reason) => reason !== undefined)]),
  );
}

/** The first results are those of the file and of the command that show a key. */
export function checkSecrets(tally, [file, command], bodies) {
  const note = (ok, what) => tally.note('protect-secrets', 'redacted', ok, what);
  const redacted = 'It is [redacted: token of a code host].';
  for (const result of [file, command]) note(result?.text.includes(redacted), result?.text);
  note(!bodies.includes(KEY), 'the model read the key');
  note(!bodies.includes(SECRET), 'the model read what nobody may read');
}

export function checkFiles(tally, project) {
  const isThere = (name) => existsSync(path.join(project, name));
  const note = (guard, ok, what) => tally.note(guard, 'files right', ok, what);
  note('protect-git', !isThere('.husky/pre-commit'), '.husky/pre-commit is there');
  note('protect-delete', isThere('src/app.ts'), 'src/app.ts is gone');
  note('protect-delete', !isThere('dist'), 'dist is there');
  note('stay-in-project', !isThere('../notes.txt'), '../notes.txt is there');
  note('stay-in-project', isThere('src/notes.txt'), 'src/notes.txt is not there');
}

export function checkFormatter(tally, project, bodies) {
  const note = (ok, what) => tally.note('format-after-edit', 'right', ok, what);
  for (const [name, expected] of [
    ['src/loud.ts', 'loud'],
    // A command has written it.
    ['src/shell.ts', 'LOUD'],
  ]) {
    const [content] = linesOf(path.join(project, name));
    note(content === expected, `${name} holds ${content}`);
  }
  note(bodies.includes('prettier has formatted src/loud.ts'), 'the model was not told of it');
}

/** Every call has its entry, also where it was stopped. */
export function checkLog(tally, calls, home) {
  const file = path.join(home, '.llxprt/audit.jsonl');
  const entries = linesOf(file).map((line) => JSON.parse(line));
  const note = (ok, what) => tally.note('audit-log', 'written', ok, what);
  for (const { title, tool, input } of calls) {
    // A file is told with its folder.
    const named = input.file_path ?? input.absolute_path;
    const words = named === undefined ? Object.values(input)[0] : path.basename(named);
    const isIt = (entry) =>
      entry.tool === tool && Object.values(entry.input).some((value) => `${value}`.includes(words));
    note(entries.some(isIt), `${title}: it is not in audit.jsonl`);
  }
  const mode = entries.length > 0 ? statSync(file).mode & 0o777 : 0;
  note(mode === 0o600, `audit.jsonl has mode ${mode.toString(8)}`);
  return entries.length;
}

/** The session may have as many calls as it has; then come two more. */
export function checkBudget(tally, { limit, logged, results, ran, requests }) {
  const note = (ok, what) => tally.note('budget', 'right', ok, what);
  note(results.length >= limit, `the agent ended after ${results.length} of ${limit} calls`);
  note(logged === limit + 1, `the agent made ${logged} calls, not ${limit} and one`);
  note(!ran.some((line) => line.startsWith('git log --more')), 'a call above the limit ran');
  const isAsked = JSON.stringify(requests.at(-1)?.body).includes('git log --more-1');
  note(!isAsked, 'the agent went on');
}

/** Those of a text file that need not be there. */
export function linesOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}
