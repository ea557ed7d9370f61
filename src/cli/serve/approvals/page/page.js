// The behaviour of the page of questions. Whatever a question says is put in as text, never as markup.

/** Less time than this is pointed out, in ms. */
const SHORT_MS = 30_000;
/** How many that are over are listed. */
const MAX_OVER = 50;
/** How often it is looked whether a question has moved, in ms. */
const LOOK_MS = 100;
/** Ms after which nobody is on the way to a question that is over. */
const LEFT_MS = 30_000;
const byId = (id) => document.getElementById(id);
/** Open questions by key: what shows them, where, since when there, and until when. */
const shown = new Map();
/** Of those, what a new connection has not told again yet. */
const untold = new Set();
/** Answers that their agent has not taken yet, by key: what tells of them. */
const waiting = new Map();
let session;
let hasTriedProxy = false;
let source;
let cards = 0;
let isLooking = false;
let lastOver = 0;

void begin();

async function begin() {
  byId('sign-in').addEventListener('submit', (event) => void signIn(event));
  byId('sign-out').addEventListener('click', () => void signOut());
  byId('clear').addEventListener('click', clear);
  setInterval(countDown, 1000);
  setInterval(look, LOOK_MS);
  await resume();
}

/** Goes on with a session that there is; asks for a token where there is none. */
async function resume() {
  const response = await fetch('/approvals/session').catch(() => undefined);
  if (response?.ok) open(await response.json());
  else if (response?.status === 401) close((await response.json()).signIn);
  else {
    byId('board').hidden = false;
    say('The server cannot be reached. It is tried again.');
    setTimeout(() => void resume(), 3000);
  }
}

async function signIn(event) {
  event.preventDefault();
  const field = byId('token');
  byId('refused').textContent = '';
  const { ok, body } = await post('/approvals/sign-in', { token: field.value });
  field.value = '';
  if (ok) open(body);
  else {
    byId('refused').textContent = body.error;
    field.focus();
  }
}

/** A proxy has asked who it is. */
async function signInByProxy() {
  if (hasTriedProxy) return;
  hasTriedProxy = true;
  const { ok, body } = await post('/approvals/sign-in', {});
  if (ok) open(body);
  else byId('who').replaceChildren(...marked(body.error));
}

async function signOut() {
  await post('/approvals/sign-out', {});
  // Who is known to a proxy is not signed in again at once.
  hasTriedProxy = true;
  close(session.signIn);
}

function open(begun) {
  session = begun;
  hasTriedProxy = false;
  byId('who').replaceChildren('signed in as ', ...marked(session.name));
  for (const id of ['board', 'sign-out']) byId(id).hidden = false;
  for (const id of ['sign-in', 'provider']) byId(id).hidden = true;
  say('Connecting …');
  source?.close();
  source = new EventSource('/approvals/events');
  source.addEventListener('begin', () => {
    for (const key of shown.keys()) untold.add(key);
  });
  source.addEventListener('ready', () => {
    for (const key of untold) end({ key });
    count();
  });
  source.addEventListener('question', ({ data }) => add(JSON.parse(data)));
  source.addEventListener('over', ({ data }) => end(JSON.parse(data)));
  source.addEventListener('error', () => {
    say('The connection was lost: what is shown may be out of date. It is tried again.');
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => void resume(), 1000);
  });
}

/** @param way how to sign in, where that is known */
function close(way) {
  session = undefined;
  source?.close();
  shown.clear();
  untold.clear();
  waiting.clear();
  for (const id of ['questions', 'over']) byId(id).replaceChildren();
  clear();
  byId('over-head').hidden = true;
  byId('who').textContent = '';
  for (const id of ['board', 'sign-out']) byId(id).hidden = true;
  byId('sign-in').hidden = way !== 'token';
  byId('provider').hidden = way !== 'oidc';
  if (way === 'token') byId('token').focus();
  if (way === 'proxy') void signInByProxy();
}

async function post(path, body) {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Hookstack-Csrf': session?.csrf ?? '' },
      body: JSON.stringify(body),
    });
    return { ok: response.ok, status: response.status, body: await response.json() };
  } catch {
    return { ok: false, status: 0, body: { error: 'The server cannot be reached: try again' } };
  }
}

function say(text) {
  byId('state').textContent = text;
}

function count() {
  const { size } = shown;
  say(
    size === 0
      ? 'No question waits.'
      : `${size} ${size === 1 ? 'question waits' : 'questions wait'}.`,
  );
  document.title = size === 0 ? 'hookstack approvals' : `(${size}) hookstack approvals`;
}

function add(question) {
  const { key, digest } = question;
  untold.delete(key);
  if (shown.get(key)?.digest === digest) return;
  // Another one in its place would be answered for it.
  end({ key, state: 'changed' });
  const left = element('span', { class: 'left' });
  const title = element('h2', { id: `title-${(cards += 1)}` });
  title.append(...marked(question.from), ' · ', ...marked(question.tool ?? question.event));
  const card = element('article', {
    class: 'fresh',
    'aria-labelledby': title.id,
    tabindex: '-1',
  });
  const head = element('div', { class: 'head' });
  head.append(title, left);
  const form = answers(question, title);
  const { allowedBy, may } = question;
  card.append(head, facts(question), ...what(question));
  if (allowedBy) card.append(textOf('p', `Allowed by ${allowedBy}: a second person has to.`));
  card.append(may === 'answer' ? form : element('p', {}, 'You may look on, and not answer.'));
  const item = element('li');
  item.append(card);
  // Behind all others: nothing moves that somebody may be pointing at.
  byId('questions').append(item);
  const subject = `${question.from} · ${question.tool ?? question.event}`;
  const until = performance.now() + question.leftMs;
  shown.set(key, { item, card, head, left, digest, what: subject, until, since: Infinity });
  countDown();
  count();
}

function facts({ event, hooks, session: id, directory, agent, call }) {
  const list = element('dl');
  for (const { name, source: where, reason } of hooks) {
    list.append(
      element('dt', {}, 'Hook'),
      textOf('dd', `${name} (${where})${reason ? `: ${reason}` : ''}`),
    );
  }
  const rows = [
    ['Event', event],
    ['Session', id],
    ['Directory', directory],
    ['Agent', agent],
    ['Call', call],
  ];
  for (const [name, value] of rows) {
    if (value) list.append(element('dt', {}, name), textOf('dd', value));
  }
  return list;
}

/** What will run, and what hooks have changed of it. */
function what({ input, diff }) {
  const parts = input.flatMap(({ name, value }) => [textOf('h3', name), textOf('pre', value)]);
  if (input.length === 0) parts.push(element('p', {}, 'It has no arguments.'));
  if (diff.length === 0) return parts;
  const block = element('pre', { class: 'diff' });
  const kinds = { '+': 'added', '-': 'removed', '@': 'place' };
  for (const line of diff) {
    const row = element('span', { class: kinds[line.charAt(0)] ?? '' });
    row.append(...marked(line));
    block.append(row);
  }
  return [...parts, element('h3', {}, 'Changed by hooks'), block];
}

function answers({ key, revision, digest, shown: told, tool, from }, title) {
  const form = element('form', { class: 'answer' });
  const id = `reason-${cards}`;
  const reason = element('input', { id, class: 'reason', maxlength: '2000', autocomplete: 'off' });
  const remember = element('input', { type: 'checkbox' });
  const keep = element('label');
  keep.append(
    remember,
    ' do not ask again in this session: same hooks, tool, arguments, directory and agent',
  );
  const said = element('p', { class: 'told', role: 'alert' });
  const buttons = ['allow', 'deny'].map((decision) => {
    const text = decision === 'allow' ? 'Allow' : 'Deny';
    const button = element(
      'button',
      { type: 'button', class: decision, 'aria-describedby': title.id },
      text,
    );
    button.addEventListener('click', (event) => void send(decision, event));
    return button;
  });
  // Enter in the field must not decide.
  form.addEventListener('submit', (event) => event.preventDefault());
  form.append(element('label', { for: id }, 'Reason'), reason, ...buttons, keep, said);
  return form;

  async function send(decision, event) {
    if (!isInSight(key, event)) {
      said.textContent = TOO_SOON;
      return;
    }
    for (const button of buttons) button.disabled = true;
    said.textContent = '';
    const { ok, status, body } = await post(`/approvals/${key}`, {
      revision,
      digest,
      shown: told,
      decision,
      ...(reason.value !== '' && { reason: reason.value }),
      ...(decision === 'allow' && remember.checked && { remember: 'session' }),
    });
    const { state } = body;
    if (ok && state === 'first') said.textContent = 'Allowed by you: a second person has to.';
    else if (ok) return end({ key, state: STATES[state], by: session.name, decision });
    if (ok) return;
    const isOver = [404, 409, 410].includes(status);
    if (isOver)
      return note(key, `${from} · ${tool ?? ''}: your answer did not count, ${body.error}`);
    said.replaceChildren(...marked(body.error));
    for (const button of buttons) button.disabled = false;
    if (status === 401) await resume();
  }
}

/** What a server says of an answer, as it says it to all pages. */
const STATES = { given: 'answered', counts: 'taken' };

const TOO_SOON =
  'Nothing was sent: the question has only just come here. Read it, and answer again.';

/**
 * Whether a question had been in its place for long enough when somebody clicked, or pressed a key. The time is that of
 * the event: the page may have been busy since.
 */
function isInSight(key, { timeStamp }) {
  notePlaces();
  return timeStamp - (shown.get(key)?.since ?? Infinity) >= session.readMs;
}

function look() {
  if (isLooking) return;
  isLooking = true;
  // Not while the page is hidden.
  requestAnimationFrame(() => {
    isLooking = false;
    notePlaces();
    const isIdle = shown.size === 0 && performance.now() - lastOver > LEFT_MS;
    const list = byId('questions');
    if (isIdle && !list.matches(':hover') && !list.contains(document.activeElement)) clear();
  });
}

/** Since when each question is where it is. Scrolling does not count: the person does that. */
function notePlaces() {
  const now = performance.now();
  for (const known of shown.values()) {
    const { left, top, width, height } = known.item.getBoundingClientRect();
    const place = [left + scrollX, top + scrollY, width, height].map(Math.round).join();
    if (known.place !== place) {
      known.place = place;
      known.since = now;
    }
    known.card.classList.toggle('fresh', now - known.since < session.readMs);
  }
}

function end({ key, state, by, decision }) {
  const verdict = `${decision === 'allow' ? 'allowed' : 'denied'} by ${by}`;
  const how = {
    answered: `${verdict}: waiting for the agent, which has not taken it yet`,
    taken: `${verdict}: it counts, the agent has it`,
    expired: 'nobody has answered in time',
    withdrawn: by ? `${verdict}: it does not count, the agent is gone` : 'taken back',
    changed: 'somebody has allowed it: see below',
  };
  const known = shown.get(key) ?? waiting.get(key);
  if (!known) return;
  waiting.delete(key);
  const texts = note(key, `${known.what}: ${how[state] ?? 'gone'}`, known.texts);
  if (state === 'answered') waiting.set(key, { what: known.what, texts });
}

/**
 * What was open is over.
 *
 * @param texts where it has been told before
 */
function note(key, text, texts = []) {
  const known = shown.get(key);
  shown.delete(key);
  untold.delete(key);
  for (const each of texts) each.replaceChildren(...marked(text));
  if (texts.length > 0) return texts;
  const dead = known ? [bury(known, text)] : [];
  byId('over-head').hidden = false;
  const line = element('li');
  const said = textOf('span', text);
  line.append(`${new Date().toLocaleTimeString()} `, said);
  byId('over').prepend(line);
  while (byId('over').childElementCount > MAX_OVER) byId('over').lastElementChild.remove();
  count();
  return [said, ...dead];
}

/** A card keeps its place, without anything to click: no other one comes under the pointer. */
function bury({ item, card, head, left }, text) {
  const hadFocus = card.contains(document.activeElement);
  lastOver = performance.now();
  item.style.height = `${item.getBoundingClientRect().height}px`;
  left.replaceChildren('over');
  const told = textOf('p', text);
  card.replaceChildren(head, told);
  card.className = 'dead';
  if (hadFocus) card.focus({ preventScroll: true });
  byId('clear').disabled = false;
  return told;
}

/** Takes away what is over. All others move then, and count as new for a moment. */
function clear() {
  for (const dead of document.querySelectorAll('article.dead')) dead.parentElement.remove();
  byId('clear').disabled = true;
}

function countDown() {
  for (const { left, until } of shown.values()) {
    const ms = Math.max(0, until - performance.now());
    const seconds = Math.ceil(ms / 1000);
    const minutes = Math.floor(seconds / 60);
    left.textContent = minutes > 0 ? `${minutes} min ${seconds % 60} s left` : `${seconds} s left`;
    left.classList.toggle('short', ms < SHORT_MS);
  }
}

function textOf(tag, text) {
  const made = element(tag);
  made.append(...marked(text));
  return made;
}

/** The server spells out what nobody could see, between two characters that stand nowhere else. */
function marked(text) {
  return text.split(/(\u{E000}[^\u{E001}]*\u{E001})/u).map((part) => {
    if (!part.startsWith('\u{E000}')) return part;
    return element(
      'mark',
      { title: 'a character that cannot be seen, or that looks like another' },
      part.slice(1, -1),
    );
  });
}

function element(tag, attributes = {}, text = '') {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text) made.textContent = text;
  return made;
}
