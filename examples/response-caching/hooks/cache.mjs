// Asks the model once a day for what needs no tool: the same question gets the same answer.
//
// Hooks see the text of a request, and not the results of tools in it. So what is kept is the answer to a first
// message, and only when no tool was called until the agent had finished.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { json } from 'node:stream/consumers';

const MAX_AGE_MS = 24 * 60 * 60 * 1000;
const WITH_TOOLS = 'with tools';

const event = await json(process.stdin);
const folder = path.join(event.cwd, '.llxprt', 'cache');
// What others have named is not a name for a file.
const question = path.join(folder, `${hash(event.session_id)}.question`);

const steps = { BeforeModel: lookUp, BeforeTool: giveUp, AfterAgent: keep };
await steps[event.hook_event_name]();

async function lookUp() {
  const { model, messages, config } = event.llm_request;
  const asked = await read(question);
  if (messages.length !== 1 || asked?.key === WITH_TOOLS) return;
  const key = hash(JSON.stringify({ model, messages, config }));
  const cached = await read(answerFile(key));
  if (cached && Date.now() - cached.time < MAX_AGE_MS) {
    const answer = { decision: 'block', reason: 'Answered from the cache' };
    answer.hookSpecificOutput = { llm_response: { text: cached.text } };
    console.log(JSON.stringify(answer));
  } else if (!asked) {
    await write(question, { key });
  }
}

async function giveUp() {
  await write(question, { key: WITH_TOOLS });
}

async function keep() {
  const { key } = (await read(question)) ?? {};
  await rm(question, { force: true });
  const text = event.prompt_response;
  if (!key || key === WITH_TOOLS || text === '' || event.stop_hook_active) return;
  await write(answerFile(key), { time: Date.now(), text });
}

function answerFile(key) {
  return path.join(folder, `${key}.answer`);
}

async function read(file) {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Nobody ever reads half of a file: it is written under another name first. */
async function write(file, content) {
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(content), { mode: 0o600 });
  await rename(draft, file);
}

function hash(text) {
  return createHash('sha256').update(text).digest('hex');
}
