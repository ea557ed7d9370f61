import { stat } from 'node:fs/promises';
import { setInterval } from 'node:timers/promises';
import { errorMessage } from '../../util/errorMessage.js';
import { oneAtATime } from '../../util/oneAtATime.js';
import { stampOf } from '../../util/paths.js';
import { printNotice } from '../shared/terminal.js';
import type { Masking } from './masking.js';
import { openPolicy, type Policy } from './policy.js';

/** Ms between two looks at the file. What is different is read once it stays the same from one look to the next. */
const LOOK_MS = 250;

interface CurrentPolicyOptions {
  readonly cwd?: string | undefined;
  /** Whether it is asked beside another one, and does not count. Default false. */
  readonly isShadow?: boolean;
  /** Whether a change of the file counts by itself. */
  readonly watch: boolean;
  /** Told of each policy before it counts. */
  readonly masking?: Masking;
}

/** The policy of a file that counts now. One that is replaced goes on until its questions are answered. */
export class CurrentPolicy {
  readonly #read = oneAtATime(() => this.#readAnew());
  readonly #over = new AbortController();
  /** Whether somebody asked for it to be read. Then it counts anew, even if it says the same. */
  #isAsked = false;
  #isBroken = false;
  /** Called when the file was read anew, and is no policy. */
  onFailure: (() => void) | undefined;

  /** @throws UsageError for a file that is no policy */
  static async open(file: string, options: CurrentPolicyOptions): Promise<CurrentPolicy> {
    const stamp = await stampAt(file);
    const policy = await openPolicy(file, options);
    options.masking?.add(policy);
    return new CurrentPolicy(file, options, stamp, policy);
  }

  private constructor(
    private readonly file: string,
    private readonly options: CurrentPolicyOptions,
    /** Of the file before it was read. */
    private stamp: string,
    private policy: Policy,
  ) {
    if (options.watch) void this.#watch();
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
    this.#isAsked = true;
    return this.#read();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#read();
    await this.policy.release();
  }

  async #watch(): Promise<void> {
    const { signal } = this.#over;
    let seen = this.stamp;
    try {
      for await (const _ of setInterval(LOOK_MS, undefined, { signal, ref: false })) {
        const before = seen;
        seen = await stampAt(this.file);
        // Who is not done with writing it is waited for.
        if (seen === before && seen !== this.stamp) await this.#read();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #readAnew(): Promise<void> {
    if (this.#over.signal.aborted) return;
    const isAsked = this.#isAsked;
    this.#isAsked = false;
    const { file, options, policy: before } = this;
    const [what, counts, goesOn] = options.isShadow
      ? ['shadow policy', 'is asked', 'goes on to be asked']
      : ['policy', 'counts', 'goes on to count'];
    try {
      this.stamp = await stampAt(file);
      const { config } = before;
      const [cwd, sessionId] = [config.getWorkingDir(), config.getSessionId()];
      const next = await openPolicy(file, { ...options, cwd, sessionId });
      const isMended = this.#isBroken;
      this.#isBroken = false;
      const isSame = next.version === before.version;
      if (isSame && !isAsked && !isMended) return await next.release();
      next.config.getHookSystem()?.continueFrom(config.getHookSystem());
      options.masking?.add(next);
      this.policy = next;
      printNotice('note', `${what} ${next.version} of ${file} ${counts}${isSame ? ', anew' : ''}`);
      // Not waited for: its questions may take long.
      void before.release();
    } catch (error) {
      this.#isBroken = true;
      this.onFailure?.();
      printNotice('error', `${what} ${before.version} ${goesOn}: ${errorMessage(error)}`);
    }
  }
}

/** Empty where there is nothing, or it cannot be looked at. */
async function stampAt(file: string): Promise<string> {
  return stampOf(await stat(file).catch(() => undefined));
}
