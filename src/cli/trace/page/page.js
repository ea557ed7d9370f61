// The behaviour of a trace's page. Only the rows that can be seen exist, so that ten thousand spans are no burden.
// Whatever a span says is put in as text, never as markup.

const ROW_PX = 28;
/** Where little fits beside or above the rows. */
const NARROW_PX = 720;
/** What the label of a time on the axis takes. */
const TICK_PX = 64;
const VERDICTS = ['allow', 'ask', 'change', 'block', 'stop', 'fail'];
const byId = (id) => document.getElementById(id);
const grid = byId('grid');
const rows = byId('rows');
const details = byId('details');

const { name, replay, spans } = JSON.parse(byId('data').textContent);
/** Where the parent of each span is, -1 without one; and behind which span the ones within it end. */
const { parents, ends } = findPlaces();
const sessions = findSessions();
const decisions = findDecisions();
/** What the text of each span is searched in, made ahead of a search. */
const contents = [];

const filters = { event: '', hook: '', text: '', verdicts: new Set() };
const folded = new Set();
/** -1 for all of them. */
let session = sessions.length - 1;
/** Whether all rows are drawn, as paper does not scroll. */
let isPrinting = false;
let isSlowestFirst = false;
/** Indices of the spans that have a row, in order; and those among them that match the filters. */
let shown = [];
let matching = new Set();
/** Index of the span that the keyboard is at, and of the one whose details are shown. */
let active = -1;
let chosen = -1;

start();

function start() {
  byId('name').textContent = name;
  document.title = `${String(name)} · hookstack trace`;
  byId('session-label').hidden = sessions.length < 2;
  fillSelect('session', [
    [`all ${sessions.length}`, -1],
    ...sessions.map(({ title }, index) => [title, index]),
  ]);
  byId('session').value = String(session);
  fillSelect('event', [['all', ''], ...choices((span) => span.event)]);
  fillSelect('hook', [['all', ''], ...choices((span) => span.kind === 'hook' && span.name)]);
  addVerdicts();
  byId('overview').open = innerWidth > NARROW_PX;
  listen();
  update();
  openLinked();
  prepareSearch(0);
}

/** A few spans at a time, so that neither the page nor the first search waits for it. */
function prepareSearch(from) {
  const to = Math.min(spans.length, from + 500);
  for (let index = from; index < to; index++) contents[index] ??= contentOf(spans[index]);
  if (to < spans.length) setTimeout(prepareSearch, 0, to);
}

function findPlaces() {
  const parentOf = [];
  const endOf = spans.map((_, index) => index);
  const open = [];
  spans.forEach(({ depth }, index) => {
    open.length = depth;
    open[depth] = index;
    parentOf.push(depth > 0 ? open[depth - 1] : -1);
    for (const each of open) endOf[each] = index;
  });
  return { parents: parentOf, ends: endOf };
}

/** Stretches of the story: each session, and what was fired between them. */
function findSessions() {
  const found = [];
  spans.forEach((span, index) => {
    if (span.depth > 0) return;
    const last = found.at(-1);
    const isSession = span.kind === 'session';
    if (last && !isSession && !last.isSession) last.to = ends[index];
    else {
      const when = new Date(span.start).toLocaleString();
      const title = `${isSession ? span.point.slice(0, 40) || 'session' : 'events'}, ${when}`;
      found.push({ isSession, title, when, from: index, to: ends[index] });
    }
  });
  for (const each of found) {
    const times = spans.slice(each.from, each.to + 1);
    each.start = times.reduce((first, span) => Math.min(first, span.start), Infinity);
    each.end = times.reduce((last, span) => Math.max(last, span.start + span.durationMs), 0);
  }
  return found;
}

function choices(pick) {
  const found = new Set(spans.map(pick).filter(Boolean));
  return [...found].toSorted((a, b) => a.localeCompare(b)).map((choice) => [choice, choice]);
}

function fillSelect(id, options) {
  byId(id).replaceChildren(
    ...options.map(([text, value]) => element('option', { value: String(value) }, text)),
  );
}

function addVerdicts() {
  for (const verdict of VERDICTS) {
    const count = spans.filter((span) => span.verdict === verdict).length;
    if (count === 0) continue;
    const button = element(
      'button',
      { type: 'button', class: `chip v-${verdict}`, 'aria-pressed': 'false' },
      `${verdict} ${count}`,
    );
    button.addEventListener('click', () => {
      const isOn = !filters.verdicts.delete(verdict);
      if (isOn) filters.verdicts.add(verdict);
      button.setAttribute('aria-pressed', String(isOn));
      update();
    });
    byId('verdicts').append(button);
  }
}

function listen() {
  for (const field of ['event', 'hook', 'text']) {
    byId(field).addEventListener('input', ({ target }) => {
      filters[field] = target.value;
      update();
    });
  }
  byId('session').addEventListener('input', ({ target }) => {
    session = Number(target.value);
    active = -1;
    grid.scrollTop = 0;
    close();
    update();
  });
  byId('next-block').addEventListener('click', goToNextBlock);
  byId('slowest').addEventListener('click', ({ currentTarget }) => {
    isSlowestFirst = !isSlowestFirst;
    currentTarget.setAttribute('aria-pressed', String(isSlowestFirst));
    update();
  });
  byId('filters').addEventListener('submit', (event) => event.preventDefault());
  grid.addEventListener('scroll', () => requestAnimationFrame(drawRows), { passive: true });
  new ResizeObserver(() => {
    if (isPrinting) return;
    drawAxis();
    drawRows();
  }).observe(grid);
  addEventListener('hashchange', openLinked);
  addEventListener('beforeprint', () => setPrinting(true));
  addEventListener('afterprint', () => setPrinting(false));
  matchMedia('print').addEventListener('change', (query) => setPrinting(query.matches));
  rows.addEventListener('click', onClick);
  grid.addEventListener('keydown', onKey);
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !details.hidden) close();
  });
}

function setPrinting(isOn) {
  if (isOn === isPrinting) return;
  isPrinting = isOn;
  if (isOn) byId('overview').open = true;
  drawAxis();
  drawRows();
}

/** The sessions that are shown. */
function parts() {
  return sessions[session] ? [sessions[session]] : sessions;
}

function sessionOf(index) {
  return sessions.findLast(({ from }) => from <= index);
}

/** Each session has its own beginning at the left; the longest one takes all of the width. */
function laneMs() {
  return Math.max(0.001, ...parts().map(({ start: begin, end }) => end - begin));
}

/** Finds which spans have a row, and draws them. */
function update() {
  const from = parts()[0]?.from ?? 0;
  const to = parts().at(-1)?.to ?? -1;
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const isFiltered = filters.event || filters.hook || filters.text || filters.verdicts.size > 0;
  matching = new Set(all.filter(matches));
  if (isSlowestFirst) {
    shown = [...matching].toSorted((a, b) => spans[b].ownMs - spans[a].ownMs);
  } else if (isFiltered) {
    const around = new Set(matching);
    for (const index of matching) {
      for (let at = parents[index]; at >= 0 && !around.has(at); at = parents[at]) around.add(at);
    }
    shown = all.filter((index) => around.has(index));
  } else shown = unfolded(all);
  if (!shown.includes(active)) active = shown[0] ?? -1;
  byId('time-head').textContent = isSlowestFirst ? 'Own time' : 'Time';
  byId('nothing').hidden = shown.length > 0;
  byId('next-block').disabled = !decisions.some((index) => matching.has(index));
  byId('summary').textContent = summary(matching.size, all.length);
  grid.setAttribute('aria-rowcount', String(shown.length + 1));
  rows.style.height = `${shown.length * ROW_PX}px`;
  drawSummary(parts());
  drawAxis();
  drawRows();
}

function unfolded(all) {
  const list = [];
  for (let at = 0; at < all.length; at++) {
    const index = all[at];
    list.push(index);
    if (folded.has(index)) at += ends[index] - index;
  }
  return list;
}

function matches(index) {
  const span = spans[index];
  const { event, hook, text, verdicts } = filters;
  if (event && span.event !== event) return false;
  if (hook && !(span.kind === 'hook' && span.name === hook)) return false;
  if (verdicts.size > 0 && !verdicts.has(span.verdict)) return false;
  if (!text) return true;
  contents[index] ??= contentOf(span);
  return contents[index].includes(text.toLowerCase());
}

/** Quotation marks within JSON are found as they were written. */
function contentOf({ id, kind, name: title, event, point, ...others }) {
  const { command, reason, error, change, input, output, stderr } = others;
  const said = [id, kind, title, event, point, command, reason, error, change];
  const all = [...said, input, output, stderr].join('\n').toLowerCase();
  return all.includes('\\"') ? `${all}\n${all.replaceAll('\\"', '"')}` : all;
}

function summary(count, total) {
  const which = count === total ? `${total}` : `${count} of ${total}`;
  const ms = parts().reduce((sum, { start: begin, end }) => sum + end - begin, 0);
  return `${which} spans · ${formatMs(ms)}`;
}

function drawAxis() {
  const total = laneMs();
  const fitting = Math.min(7, Math.max(1, byId('axis').clientWidth / TICK_PX));
  const magnitude = 10 ** Math.floor(Math.log10(total / fitting));
  const step = [1, 2, 5, 10]
    .map((each) => each * magnitude)
    .find((each) => each * fitting >= total);
  const ticks = [];
  for (let at = 0; at === 0 || at <= total - total / fitting; at += step) {
    const tick = element('span', { class: 'tick' }, formatMs(at));
    tick.style.left = `${(100 * at) / total}%`;
    ticks.push(tick);
  }
  byId('axis').replaceChildren(...ticks);
}

function drawRows() {
  const first = isPrinting ? 0 : Math.max(0, Math.floor(grid.scrollTop / ROW_PX) - 10);
  const fitting = isPrinting ? Infinity : Math.ceil(grid.clientHeight / ROW_PX) + 20;
  const last = Math.min(shown.length, first + fitting);
  rows.replaceChildren(...shown.slice(first, last).map((index, at) => drawRow(index, first + at)));
  const isActiveDrawn = byId(`span-${active}`) !== null;
  if (isActiveDrawn) grid.setAttribute('aria-activedescendant', `span-${active}`);
  else grid.removeAttribute('aria-activedescendant');
}

function drawRow(index, place) {
  const span = spans[index];
  const level = isSlowestFirst ? 0 : span.depth;
  const isFolder = !isSlowestFirst && ends[index] > index;
  const isAround = !matching.has(index);
  const states = [index === active && 'active', isAround && 'around', level === 0 && 'begins'];
  const row = element('div', {
    id: `span-${index}`,
    role: 'row',
    class: ['row', `k-${span.kind}`, `v-${span.verdict}`, ...states].filter(Boolean).join(' '),
    'aria-rowindex': String(place + 2),
    'aria-level': String(level + 1),
    'aria-selected': String(index === chosen),
    ...(isFolder && { 'aria-expanded': String(!folded.has(index)) }),
  });
  row.style.top = `${place * ROW_PX}px`;
  row.dataset.index = String(index);
  // The name of a session is its id.
  const names = span.kind === 'session' && span.point ? [span.point] : [span.name, span.point];
  const title = element('span', { role: 'gridcell', class: 'cell-name', title: names.join(' ') });
  title.style.paddingLeft = `${12 + 14 * Math.min(level, 20)}px`;
  title.append(
    element('span', { class: 'fold', 'aria-hidden': 'true' }, foldMark(isFolder, index)),
    element('span', { class: 'kind' }, span.kind),
    element('span', { class: 'title' }, names[0]),
    element('span', { class: 'point' }, names[1] ?? ''),
  );
  const verdict = element('span', { class: 'badge' }, span.verdict);
  const time = formatMs(isSlowestFirst ? span.ownMs : span.durationMs);
  row.append(
    title,
    element('span', { role: 'gridcell', class: 'cell-verdict' }, verdict),
    element('span', { role: 'gridcell', class: 'cell-time' }, time),
    drawLane(span, sessionOf(index)),
  );
  if (isPrinting && ends[index] === index && span.reason) {
    row.append(element('p', { class: 'reason' }, span.reason));
  }
  return row;
}

function foldMark(isFolder, index) {
  if (!isFolder) return '';
  return folded.has(index) ? '▸' : '▾';
}

function drawLane(span, { start: begin }) {
  const total = laneMs();
  const bar = element('span', { class: 'bar' });
  bar.style.left = `${(100 * (span.start - begin)) / total}%`;
  bar.style.width = `${(100 * span.durationMs) / total}%`;
  const when = `after ${formatMs(span.start - begin)}`;
  return element('span', { role: 'gridcell', class: 'cell-lane', 'aria-label': when }, bar);
}

function onClick({ target }) {
  const row = target.closest('.row');
  if (!row) return;
  const index = Number(row.dataset.index);
  active = index;
  if (target.closest('.fold') && row.hasAttribute('aria-expanded')) fold(index);
  else choose(index);
}

const keys = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  PageDown: () => move(pageRows()),
  PageUp: () => move(-pageRows()),
  Home: () => move(-Infinity),
  End: () => move(Infinity),
  ArrowRight: () => (folded.has(active) ? fold(active) : ends[active] > active && move(1)),
  ArrowLeft: () => {
    if (ends[active] > active && !folded.has(active) && !isSlowestFirst) fold(active);
    else if (shown.includes(parents[active])) goTo(parents[active]);
  },
  Enter: () => (active === chosen ? details.focus() : choose(active)),
  ' ': () => choose(active),
  b: goToNextBlock,
};

function onKey(event) {
  const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
  if (!action || active < 0) return;
  event.preventDefault();
  action();
}

function pageRows() {
  return Math.max(1, Math.floor(grid.clientHeight / ROW_PX) - 2);
}

function move(count) {
  const place = Math.min(Math.max(shown.indexOf(active) + count, 0), shown.length - 1);
  goTo(shown[place]);
}

/** Brings a row into view; the details follow where they are open. */
function goTo(index) {
  active = index;
  const top = shown.indexOf(index) * ROW_PX;
  const height = grid.clientHeight - 2 * ROW_PX;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top > grid.scrollTop + height) grid.scrollTop = top - height;
  if (details.hidden) drawRows();
  else choose(index);
}

function goToNextBlock() {
  const found = decisions.filter((index) => matching.has(index));
  const next = found.find((index) => index > active) ?? found[0];
  if (next !== undefined) reveal(next);
}

/** Shows a span that is not filtered out, with its details. */
function reveal(index) {
  for (let at = parents[index]; at >= 0; at = parents[at]) folded.delete(at);
  update();
  // First, as the details take some of the rows' height.
  choose(index);
  goTo(index);
}

/** The span that the address names. */
function openLinked() {
  const index = spans.findIndex(({ id }) => `#${encodeURIComponent(id)}` === location.hash);
  if (index < 0) return;
  if (sessions[session]) session = sessions.indexOf(sessionOf(index));
  byId('filters').reset();
  byId('session').value = String(session);
  Object.assign(filters, { event: '', hook: '', text: '', verdicts: new Set() });
  for (const button of byId('verdicts').children) button.setAttribute('aria-pressed', 'false');
  reveal(index);
}

function fold(index) {
  if (!folded.delete(index)) folded.add(index);
  update();
}

function choose(index) {
  chosen = index;
  details.replaceChildren(...describe(spans[index], index));
  details.className = `v-${spans[index].verdict}`;
  details.hidden = false;
  details.scrollTop = 0;
  drawRows();
}

function close() {
  chosen = -1;
  details.hidden = true;
  grid.focus();
  drawRows();
}

function describe(span, index) {
  const button = element('button', { type: 'button', class: 'close' }, 'Close');
  button.addEventListener('click', close);
  const badge = element('span', { class: 'badge' }, span.verdict);
  const heading = element('h2', {}, element('span', { class: 'kind' }, span.kind), span.name);
  return [
    button,
    heading,
    badge,
    ...(span.reason ? [element('p', { class: 'reason' }, span.reason)] : []),
    describeFacts(span, sessionOf(index)),
    ...section('Change', span.change, drawDiff),
    ...section('Input', span.input),
    ...section('Output', span.output, (text) => element('pre', {}, indented(text))),
    ...section('stderr', span.stderr),
    ...describeReplay(index),
    element(
      'p',
      {},
      element('a', { href: `#${encodeURIComponent(span.id)}` }, 'Link to this span'),
    ),
  ];
}

function describeFacts(span, { start: begin }) {
  const { sizes = {} } = span;
  const began = span.start - begin;
  const facts = {
    Took: formatMs(span.durationMs),
    'By itself': span.ownMs < span.durationMs && formatMs(span.ownMs),
    Began: `after ${formatMs(began)}, ${new Date(span.start).toLocaleTimeString()}`,
    Event: span.moment ? `${span.event} (${span.moment})` : span.event,
    'Decided by': span.decidedBy?.join(', '),
    Command: span.command !== span.name && span.command,
    'Exit code': span.exitCode === undefined ? undefined : String(span.exitCode),
    Signal: span.signal,
    Process: span.process,
    Sizes: Object.entries(sizes)
      .map(([what, size]) => `${what} ${size}`)
      .join(', '),
    Error: span.error !== span.reason && span.error,
  };
  const said = Object.entries(facts).filter(([, value]) => value);
  const pairs = said.flatMap(([term, value]) => [
    element('dt', {}, term),
    element('dd', {}, value),
  ]);
  return element('dl', {}, ...pairs);
}

function section(title, text, draw = (content) => element('pre', {}, content)) {
  if (!text) return [];
  const box = draw(text);
  box.tabIndex = 0;
  box.setAttribute('aria-label', title);
  box.setAttribute('role', 'region');
  return [element('h3', {}, title), box];
}

function drawDiff(text) {
  const classes = { '+': 'added', '-': 'removed', '@': 'place' };
  const lines = text.split('\n').map((line) => {
    const kind = classes[line[0]];
    return element('span', kind ? { class: kind } : {}, line || ' ');
  });
  return element('pre', { class: 'diff' }, ...lines);
}

/** What a hook printed, easier to read where it is JSON. */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function formatMs(ms) {
  if (ms >= 1000) return `${Number((ms / 1000).toFixed(2))} s`;
  return ms >= 10 || ms === 0 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

function element(tag, attributes, ...content) {
  const made = document.createElement(tag);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...content);
  return made;
}
