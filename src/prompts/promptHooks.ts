import type { HookRun } from '../run/hookRun.js';
import type { Judge } from './judge.js';
import type { JudgeHost } from './promptModel.js';
import type { SharedUse } from './promptUse.js';

/** Hooks of a host that a model judges. What asks it is loaded with the first, as most hosts have none. */
export class PromptHooks {
  #judge: Promise<Judge> | undefined;
  #use: SharedUse = {};

  /** @param host without a model, each of these hooks fails */
  constructor(private readonly host: JudgeHost = {}) {}

  /** Has a model judge, and writes into `run` what a command that says the same would have come to. */
  async ask(run: HookRun, stdin: Uint8Array, signal?: AbortSignal): Promise<void> {
    this.#judge ??= import('./judge.js').then((module) => new module.Judge(this.host, this.#use));
    run.outcome = await (await this.#judge).ask(run, stdin, signal);
  }

  /** Has sessions go on with what they have used of those that this one replaces. To be called before it asks. */
  continueFrom(replaced: PromptHooks): void {
    this.#use = replaced.#use;
  }

  /** Forgets what a session has used, as it has ended. */
  endSession(session: string): void {
    this.#use.kept?.forget(session);
  }
}
