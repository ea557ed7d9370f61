import { existsSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { HookEventName, type DialectName } from '../../../protocol/types.js';
import { readGuardedFile } from '../../../util/guardedFile.js';
import { UsageError } from '../../shared/usageError.js';
import { commandOf, HOOK, LIMIT, says, type Answer, type Answers } from './guard.js';
import type { ModelRequest, Part, Step } from './model.js';
import type { Stage } from './stage.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart } = HookEventName;
const { ask, block, context, reason, specific } = says;

/** A step of the model whose calls have marks, and what the hook says of each. */
export interface Case {
  readonly asked: Readonly<Record<string, { readonly [E in HookEventName]?: Answer }>>;
  /** Default: a command of the shell. */
  readonly call?: (mark: string, stage: Stage) => Part | undefined;
}

/** Plays scenarios on a stage of their own. */
export class Live {
  readonly #stage: Stage;
  readonly #agent: DialectName;
  readonly #seen: Map<string, string>;

  constructor(stage: Stage, agent: DialectName, seen: Map<string, string>) {
    this.#stage = stage;
    this.#agent = agent;
    this.#seen = seen;
  }

  saw(id: string, what = 'nothing'): void {
    this.#seen.set(id, what);
  }

  /** Our names of those that the hook was asked about. */
  async tools(): Promise<readonly string[]> {
    const file = path.join(this.#stage.home, 'seen');
    const reading = await readGuardedFile(file, { groupMayWrite: false });
    const lines = reading.status === 'read' ? reading.text.split('\n') : [];
    return lines.flatMap((line) => /^BeforeTool (.+)/.exec(line)?.[1] ?? []);
  }

  /** Installs hookstack as its user would, with a hook that answers so. */
  async #install(answers: Answers, ...options: readonly string[]): Promise<void> {
    const { home } = this.#stage;
    const script = this.#stage.write(home, 'hook.mjs', HOOK);
    const command = `'${process.execPath}' '${script}'`;
    const events = [SessionStart, BeforeAgent, BeforeTool, AfterTool, AfterAgent];
    const hookOf = (event: HookEventName) => ({
      type: 'command',
      command,
      timeout: LIMIT,
      ...(event === BeforeTool && { onFailure: 'deny' }),
    });
    const hooks = Object.fromEntries(events.map((event) => [event, [{ hooks: [hookOf(event)] }]]));
    this.#stage.write(home, '.llxprt/settings.json', { enableHooks: true, hooks });
    this.#stage.write(home, 'answers.json', answers);
    await this.#stage.hookstack('install', '--into', this.#agent, ...options);
  }

  /** One step of the model for each. Where one of them ends the agent, those after it are tried in another run. */
  async playSteps(scenarios: readonly { id: string; step?: Case }[]): Promise<void> {
    const cases = scenarios.flatMap(({ id, step }) => {
      const marks = Object.keys(step?.asked ?? {});
      const call = step?.call ?? ((mark: string) => this.#stage.program.shell(commandOf(mark)));
      const calls = marks.flatMap((mark) => call(mark, this.#stage) ?? []);
      if (calls.length < marks.length) this.saw(id, 'there is no such tool');
      return calls.length < marks.length ? [] : { id, marks, calls };
    });
    await this.#install(answersOf(scenarios));
    while (cases.length > 0) {
      const steps: Step[] = [...cases.map(({ calls }) => calls), [{ text: 'End.' }]];
      const { requests, err } = await this.#stage.run(steps);
      const served = Math.max(0, ...stepsOf(requests).map(({ step }) => step + 1));
      const main = stepsOf(requests)[0]?.script;
      const reached = cases.splice(0, Math.max(served, 1));
      for (const [at, { id, marks, calls }] of reached.entries()) {
        const isIt = ({ script, step }: ModelRequest) => script === main && step === at;
        const after = requests.slice(requests.findIndex(isIt) + 1);
        const seen = served === 0 ? `the model was not asked: ${err}` : this.#tell(marks, after);
        const isEnd = at + 1 >= served;
        this.saw(id, [seen, ...helperOf(calls, after), ...(isEnd ? [ENDED] : [])].join('; '));
      }
    }
  }

  /** What became of calls, by the files that are there, and what the model read since. */
  #tell(marks: readonly string[], since: readonly ModelRequest[]): string {
    const text = JSON.stringify(since.map(({ body }) => body));
    const each = marks.map((mark) => {
      const isThere = (what: string) =>
        existsSync(path.join(this.#stage.project, `MARK-${mark}.${what}`));
      const read = Object.entries(WORDS).filter(([word]) => text.includes(`${word}-${mark}.`));
      const hasRun = isThere('ran') || read.some(([word]) => word === 'SECRET');
      const ran = isThere('changed') ? 'ran as changed' : hasRun ? 'ran' : 'did not run';
      const words = read.map(([, what]) => what).join(', ');
      return words === '' ? ran : `${ran}; the model read ${words}`;
    });
    return [...new Set(each)].join(' / ');
  }

  /** What one call of the shell comes to, in a run of its own. */
  async #playCall(mark: string, options: Parameters<Stage['run']>[1] = {}): Promise<string> {
    const { requests } = await this.#stage.run(
      [[this.#stage.program.shell(commandOf(mark))], [{ text: 'End.' }]],
      options,
    );
    if (stepsOf(requests).length === 0)
      return `${this.#tell([mark], [])}, as the model was not asked`;
    return this.#tell([mark], requests.slice(1));
  }

  /** A program whose own shell loses what a command prints now and then is started anew, at most five times. */
  async #runPlain(tries = 1): Promise<readonly ModelRequest[]> {
    const { program, project } = this.#stage;
    const { requests, err, out } = await this.#stage.run([
      [program.shell('echo one')],
      [program.shell('echo two')],
      [program.shell('echo three; exit 3')],
      [program.write(path.join(project, 'four.txt'), 'four')],
      [{ text: 'End.' }],
    ]);
    if (stepsOf(requests).length < 5) {
      throw new UsageError(`It does not work without hooks, against a model here: ${err}${out}`);
    }
    rmSync(path.join(project, 'four.txt'));
    const last = JSON.stringify(requests.at(-1)?.body);
    // In the command, and in what it printed; some repeat the command there.
    const isPrinted = ['one', 'two', 'three'].every((word) => last.split(word).length > 2);
    const isWhole = isPrinted && !/(?:Output|Stdout): \(empty\)/.test(last);
    return isWhole || tries === 5 ? requests : this.#runPlain(tries + 1);
  }

  async playSilent(): Promise<string> {
    // Programs are not always like themselves.
    const plain = [comparable(await this.#runPlain()), comparable(await this.#runPlain())];
    await this.#install({});
    for (let tries = 0; ; tries += 1) {
      const after = comparable(await this.#runPlain());
      const found = plain.map((before) => differenceOf(before, after));
      if (found.includes(undefined)) return 'the same';
      if (tries >= 2) return found[0] ?? 'the same';
    }
  }

  /** The model is asked three times, and reads all that came before each time. */
  async playContext(): Promise<string> {
    await this.#install({
      [SessionStart]: { '': specific(context('start')) },
      [BeforeAgent]: { '': specific(context('prompt')) },
    });
    const { shell } = this.#stage.program;
    const { requests } = await this.#stage.run([[shell('true 1')], [shell('true 2')]]);
    const last = JSON.stringify(stepsOf(requests).at(-1)?.body) ?? '';
    const count = (mark: string) => last.split(`CONTEXT-${mark}.`).length - 1;
    return `start ${count('start')}, prompt ${count('prompt')}`;
  }

  /** What an answer does that is, or may become, the end of the agent. */
  async playEnd(event: HookEventName, answer: Answer, more = ''): Promise<string> {
    const { shell } = this.#stage.program;
    await this.#install({ [event]: { end: answer } });
    const { requests } = await this.#stage.run([
      [shell(commandOf('end', more))],
      [shell(commandOf('next'))],
      [{ text: 'End.' }],
    ]);
    const served = stepsOf(requests);
    const seen = this.#tell(['end'], served.slice(1));
    if (served.length < 2) return `${seen}; ${ENDED}`;
    const next = this.#tell(['next'], []);
    return next === 'ran' ? seen : `${seen}; the next tool ${next}`;
  }

  async playAnswered(): Promise<string> {
    const people = this.#stage.program.person ? (['yes', 'no'] as const) : [];
    await this.#install({ [BeforeTool]: { yes: ask('yes'), no: ask('no') } });
    const seen: string[] = [];
    for (const person of people) seen.push(await this.#playCall(person, { person }));
    return seen.join(' / ');
  }

  async playPrompt(): Promise<string> {
    await this.#install({ [BeforeAgent]: { '': block('prompt') } });
    return this.#playCall('prompt');
  }

  async playAgain(): Promise<string> {
    const { program } = this.#stage;
    // Some do not tell what the model said.
    await this.#install({ [AfterAgent]: { '': block('again'), again: block('again') } });
    const said = [{ text: 'MARK-again' }];
    const { requests } = await this.#stage.run([said, [program.shell(commandOf('again'))], said]);
    const steps = stepsOf(requests);
    const times = ['never', 'never', 'never', 'once'][steps.length] ?? 'more than once';
    const isRead = JSON.stringify(steps.at(-1)?.body).includes(reason('again'));
    return `went on ${times}${isRead ? '; the model read the reason' : ''}`;
  }

  async playModes(): Promise<string> {
    const modes = this.#stage.program.modes.slice(1);
    const marks = modes.map((mode) => mode.replaceAll(/\W/gu, ''));
    await this.#install({
      [BeforeTool]: Object.fromEntries(marks.map((mark) => [mark, block(mark)])),
    });
    const seen: string[] = [];
    for (const [at, mode] of modes.entries()) {
      seen.push(await this.#playCall(marks[at] ?? '', { mode }));
    }
    return [...new Set(seen)].join(' / ') || 'there is no other';
  }

  async playAbsent(...options: readonly string[]): Promise<string> {
    await this.#install({ [BeforeTool]: { absent: block('absent') } }, ...options);
    this.#stage.unlink();
    return whether(await this.#playCall('absent'));
  }

  async playDevice(): Promise<string> {
    await this.#install({});
    const settings = path.join(this.#stage.home, '.llxprt/settings.json');
    rmSync(settings);
    symlinkSync('/dev/zero', settings);
    return whether(await this.#playCall('device'));
  }
}

/** Whether it ran, and nothing else: a prompt may be refused before any tool. */
function whether(seen: string): string {
  return seen.replace(/[;,].*/u, '');
}

const ENDED = 'the agent ended';
const WORDS = {
  REASON: 'the reason',
  CONTEXT: 'the context',
  REPLACED: 'the replacement',
  SECRET: 'the output',
};

function answersOf(scenarios: readonly { id: string; step?: Case }[]): Answers {
  const all: Record<string, Record<string, Answer>> = {};
  for (const { step } of scenarios) {
    for (const [mark, byEvent] of Object.entries(step?.asked ?? {})) {
      for (const [event, answer] of Object.entries(byEvent)) (all[event] ??= {})[mark] = answer;
    }
  }
  return all;
}

/** Requests that a step of the prompt's own script answered, in their order. */
function stepsOf(requests: readonly ModelRequest[]): (ModelRequest & { readonly step: number })[] {
  const script = requests.find(({ step }) => step !== undefined)?.script;
  return requests.flatMap((each) =>
    each.script === script && each.step !== undefined ? { ...each, step: each.step } : [],
  );
}

/** Whether a subagent has worked on what it was told. */
function helperOf(calls: readonly Part[], requests: readonly ModelRequest[]): string[] {
  const [, script] = /SCRIPT-(\d+)-/u.exec(JSON.stringify(calls)) ?? [];
  const hasWorked = requests.some((each) => String(each.script) === script);
  return script === undefined || hasWorked ? [] : ['no subagent has worked'];
}

/** What the model reads of requests, without what is another in each run: times and names that are made up. */
function comparable(requests: readonly ModelRequest[]): string[] {
  return stepsOf(requests).map(({ body }) =>
    JSON.stringify({ ...body, metadata: undefined, client_metadata: undefined })
      // What a program says of the tools that it has found so far.
      .replaceAll(/<system-reminder>.*?<\/system-reminder>/gu, '')
      // Folders of the project, among which are those of the agent's hooks.
      .replaceAll(/[│├└][^\\]*\\n/gu, '')
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}|\b[\da-f]{6,}\b/gu, '#')
      .replaceAll(/\d+/gu, '#'),
  );
}

/** Where the requests of two runs differ first. */
function differenceOf(before: readonly string[], after: readonly string[]): string | undefined {
  const at = after.findIndex((text, index) => text !== before[index]);
  if (at < 0) return before.length === after.length ? undefined : 'fewer requests';
  const [one = '', other = ''] = [before[at], after[at]];
  let from = 0;
  while (one[from] === other[from]) from += 1;
  const [was, is] = [one, other].map((text) => text.slice(from, from + 80));
  return `request ${at + 1}: ${was} became ${is}`;
}
