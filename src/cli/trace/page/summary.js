// What a trace's page tells on top: what was asked, what came of it, and what each hook took.

/** @param parts the sessions that are shown */
function drawSummary(parts) {
  const ofKind = (wanted) =>
    parts.map(({ from, to }) => spans.slice(from, to + 1).filter(({ kind }) => kind === wanted));
  const hooks = ofKind('hook');
  const took = hooks.reduce((sum, list) => sum + coveredMs(list), 0);
  const total = parts.reduce((sum, { start: begin, end }) => sum + end - begin, 0);
  const waited = ofKind('question').reduce((sum, list) => sum + coveredMs(list), 0);
  const people = waited > 0 ? `; people were asked for ${formatMs(waited)}` : '';
  byId('took').textContent = `Hooks took ${formatMs(took)} of ${formatMs(total)}${people}`;
  byId('told').replaceChildren(...parts.map(tellSession));
  const lines = describeHooks(hooks.flat()).map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, String(cell)))),
  );
  byId('hooks').hidden = lines.length === 0;
  byId('hooks').tBodies[0].replaceChildren(...lines);
  byId('overview').hidden = parts.length === 0;
}

function tellSession({ isSession, from, to, when }) {
  const { verdict, point, name: id, reason, output } = spans[from];
  const count = decisions.filter((index) => index >= from && index <= to).length;
  const blocks = count > 0 ? `${count} blocked or stopped. ` : '';
  const outcome = isSession ? (reason ?? output ?? '') : '';
  return element(
    'p',
    { class: `v-${verdict}` },
    element('span', { class: 'kind' }, when),
    element('strong', {}, isSession ? point || id : 'Events without a session'),
    ' ',
    ...(isSession ? [element('span', { class: 'badge' }, verdict), ' '] : []),
    `${blocks}${outcome.length > 300 ? `${outcome.slice(0, 300)}…` : outcome}`,
  );
}

/** Name, runs, median, longest and blocks of each hook; first those that took most. */
function describeHooks(list) {
  const groups = Map.groupBy(list, ({ name: hook, event }) => JSON.stringify([hook, event]));
  return [...groups.values()]
    .toSorted((a, b) => sumOf(b) - sumOf(a))
    .map((runs) => {
      const times = runs.map(({ durationMs }) => durationMs).toSorted((a, b) => a - b);
      const middle = (times.length - 1) / 2;
      const median = (times[Math.floor(middle)] + times[Math.ceil(middle)]) / 2;
      const [{ name: hook, event }] = runs;
      const blocks = runs.filter(isDecision).length;
      const title = event ? `${hook} (${event})` : hook;
      return [title, runs.length, formatMs(median), formatMs(times.at(-1)), blocks];
    });
}

function sumOf(runs) {
  return runs.reduce((sum, { durationMs }) => sum + durationMs, 0);
}

/** Time in which two ran side by side counts once. */
function coveredMs(list) {
  let covered = 0;
  let until = -Infinity;
  for (const { start: begin, durationMs } of list.toSorted((a, b) => a.start - b.start)) {
    const end = begin + durationMs;
    covered += Math.max(0, end - Math.max(until, begin));
    until = Math.max(until, end);
  }
  return covered;
}

function isDecision({ verdict }) {
  return verdict === 'block' || verdict === 'stop';
}

/** The innermost spans that blocked or stopped something. */
function findDecisions() {
  const found = [];
  let next = Infinity;
  for (let index = spans.length - 1; index >= 0; index--) {
    if (!isDecision(spans[index])) continue;
    if (next > ends[index]) found.push(index);
    next = index;
  }
  return found.toReversed();
}

/** The command that fires the event again that a span is, or is in. */
function describeReplay(index) {
  let at = index;
  while (at >= 0 && spans[at].kind !== 'event') at = parents[at];
  const id = spans[at]?.id ?? '';
  if (!replay || !/^[\da-f]{16}$/.test(id)) return [];
  const [heading, box] = section('Replay', `${replay} ${id}`);
  const button = element('button', { type: 'button', class: 'copy' }, 'Copy the command');
  button.addEventListener('click', () => copy(box, button));
  return [heading, box, button];
}

async function copy(box, button) {
  try {
    await navigator.clipboard.writeText(box.textContent);
    button.textContent = 'Copied';
  } catch {
    getSelection().selectAllChildren(box);
    button.textContent = 'Selected: press Ctrl+C';
  }
}
