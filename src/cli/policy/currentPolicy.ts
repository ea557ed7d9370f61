import { unwatchFile, watchFile } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { errorMessage } from '../../util/errorMessage.js';
import { openPolicy, type Policy } from './policy.js';
import { printNotice } from '../shared/terminal.js';

/** Ms between two looks at the file. */
const LOOK_MS = 500;
/** For who is not done with writing it, in ms. */
const GAP_MS = 200;

interface CurrentPolicyOptions {
  readonly cwd?: string | undefined;
  /** Whether its hooks ask nobody. Default false. */
  readonly asksNobody?: boolean;
  /** Whether a change of the file counts by itself. */
  readonly watch: boolean;
}

/** The policy of a file that counts now. One that is replaced goes on until its questions are answered. */
export class CurrentPolicy {
  #turn: Promise<void> = Promise.resolve();
  #isBroken = false;
  /** Called when the file was read anew, and is no policy. */
  onFailure: (() => void) | undefined;

  /** @throws UsageError for a file that is no policy */
  static async open(file: string, options: CurrentPolicyOptions): Promise<CurrentPolicy> {
    return new CurrentPolicy(file, options, await openPolicy(file, options));
  }

  private constructor(
    private readonly file: string,
    private readonly options: CurrentPolicyOptions,
    private policy: Policy,
  ) {
    if (options.watch) watchFile(file, { interval: LOOK_MS }, this.#onChange);
  }

  get now(): Policy {
    return this.policy;
  }

  /** For whoever may know no more: which policy counts, and whether the file says so now. */
  get state(): { readonly version: string; readonly note?: string } {
    const note = 'the file as it is now does not count: the log says why';
    return { version: this.policy.version, ...(this.#isBroken && { note }) };
  }

  /** Has count what the file says now; what is no policy is told, and leaves the one before. Never rejects. */
  reload(): Promise<void> {
    return (this.#turn = this.#turn.then(() => this.#reload(true)));
  }

  async close(): Promise<void> {
    unwatchFile(this.file, this.#onChange);
    await this.#turn;
    await this.policy.release();
  }

  readonly #onChange = () => {
    this.#turn = this.#turn.then(() => setTimeout(GAP_MS)).then(() => this.#reload(false));
  };

  async #reload(isAsked: boolean): Promise<void> {
    const { policy: before } = this;
    try {
      const { config } = before;
      const [cwd, sessionId] = [config.getWorkingDir(), config.getSessionId()];
      const next = await openPolicy(this.file, { ...this.options, cwd, sessionId });
      const isMended = this.#isBroken;
      this.#isBroken = false;
      const isSame = next.version === before.version;
      if (isSame && !isAsked && !isMended) return await next.release();
      next.config.getHookSystem()?.continueAsyncOf(config.getHookSystem());
      this.policy = next;
      printNotice('note', `policy ${next.version} of ${this.file} counts${isSame ? ', anew' : ''}`);
      // Not waited for: its questions may take long.
      void before.release();
    } catch (error) {
      this.#isBroken = true;
      this.onFailure?.();
      const text = `policy ${before.version} goes on to count: ${errorMessage(error)}`;
      printNotice('error', text);
    }
  }
}
