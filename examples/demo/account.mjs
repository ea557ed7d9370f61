import { styleText } from 'node:util';

/** Tells what happens while it happens, and keeps what things were like before the hooks saw them. */
export class Account {
  /** What the model said in each of its answers, before AfterModel. */
  answers = [];
  /** What the user was shown of each answer. */
  shown = [];
  /** What each tool gave back before AfterTool, by the arguments of the call. */
  results = new Map();

  /** Adds middleware that looks on: outside of the hooks, and between the hooks and the operation. */
  watch(config) {
    config.use('model', (call, next) => this.#announce(call, next), { name: 'announce' });
    config.use('model', (call, next) => this.#noteAnswer(call, next), {
      name: 'noteAnswer',
      after: 'afterModel',
    });
    config.use('tool', (call, next) => this.#noteResult(call, next), {
      name: 'noteResult',
      after: 'afterTool',
    });
  }

  /** Prints an event of the agent. */
  tell(event) {
    if (event.type === 'hook') this.#tellHook(event);
    if (event.type === 'text') this.#tellText(event);
    if (event.type === 'tool') this.#tellTool(event.call);
  }

  async #announce(_call, next) {
    this.answers.push('');
    this.shown.push('');
    console.log(`\n${paint('bold', `Model call ${this.answers.length}`)}`);
    await next();
  }

  async #noteAnswer(call, next) {
    await next();
    call.stream = this.#listen(call.stream);
  }

  async *#listen(chunks) {
    for await (const chunk of chunks) {
      const parts = chunk.candidates?.[0]?.content?.parts ?? [];
      this.answers[this.answers.length - 1] += parts.map((part) => part.text ?? '').join('');
      yield chunk;
    }
  }

  async #noteResult(call, next) {
    await next();
    this.results.set(call.originalInput, call.result);
  }

  #tellHook({ event, hook, durationMs, exitCode, decision }) {
    const said = decision ? `, decision ${decision}` : '';
    const line = `hook   ${hook} (${event}): exit code ${exitCode}${said}, ${durationMs} ms`;
    console.log(`  ${paint('dim', line)}`);
  }

  #tellText({ text }) {
    this.shown[this.shown.length - 1] += text;
    console.log(`  model  ${text}`);
  }

  #tellTool({ name, input, status, result }) {
    if (status === 'scheduled') console.log(`  tool   ${name} ${JSON.stringify(input)}`);
    if (result) console.log(`  tool   ${name}: ${status}, ${firstLine(result.returnDisplay)}`);
  }
}

/** Colours for people at a terminal that has not asked for none. */
export function paint(style, text) {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}

function firstLine(text) {
  return text.split('\n', 1)[0];
}
