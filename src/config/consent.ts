import { realpathSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { forbiddenVariables } from '../hooks/hookEnvironment.js';
import { compareItems, findPrevious, summarize } from './consentChanges.js';
import { consentFileIn, readConsents, writeConsents } from './consentStore.js';
import {
  inspectHook,
  inspectModule,
  signatureOfHook,
  wordsOfHook,
  type ConsentItem,
  type HookInspection,
  type Inspection,
  type ProjectHook,
  type ProjectModule,
} from './hookDigest.js';
import { readLock } from './hooksLock.js';
import { signatureOf } from './namedFiles.js';

/** Whether something of a project may run. `changed`: it was allowed as it was before. */
export type ConsentStatus = 'allowed' | 'new' | 'changed' | 'refused';

/** What is known of one hook or module of a project. */
export interface ConsentReview {
  readonly status: ConsentStatus;
  /** Completes "The hook …", unless it is allowed. */
  readonly reason?: string;
  readonly item: ConsentItem;
  /** What was allowed in its place, where something was. */
  readonly previous?: ConsentItem;
}

/** What `HookConsent.open` takes. */
export interface ConsentOptions {
  /** The project. */
  readonly workingDir: string;
  /** Consents are in `.llxprt/trusted-hooks.json` in here. Default: the home directory. */
  readonly home?: string;
  /** The digest of a `.llxprt/hooks.lock` that allows what it lists. Default: HOOKSTACK_TRUST_LOCK. */
  readonly trustedLock?: string;
}

/** What of a project's hooks and middleware the user has allowed, by what they are and by the bytes of their files. */
export class HookConsent {
  readonly #hooks = new WeakMap<ProjectHook, KnownHook>();
  #allowed: readonly ConsentItem[] = [];
  #locked: readonly ConsentItem[] = [];
  #storeSignature: string | undefined;
  #storeRefusal: string | undefined;
  #lockRefusal: string | undefined;

  private constructor(
    /** Absolute real path. */
    readonly project: string,
    private readonly workingDir: string,
    private readonly file: string,
  ) {}

  /** Reads what is allowed. Never rejects: what cannot be read allows nothing, and is among the `problems`. */
  static async open({
    workingDir,
    home,
    trustedLock = process.env['HOOKSTACK_TRUST_LOCK'],
  }: ConsentOptions): Promise<HookConsent> {
    const path = resolve(workingDir);
    const project = await realpath(path).catch(() => path);
    const consent = new HookConsent(project, path, consentFileIn(home));
    await consent.#refresh();
    if (trustedLock) {
      const { content = [], refusal } = await readLock(consent.project, trustedLock);
      consent.#locked = content;
      if (refusal !== undefined) {
        consent.#lockRefusal = `HOOKSTACK_TRUST_LOCK allows nothing, because ${refusal}`;
      }
    }
    return consent;
  }

  /** Why consents, or the lock, do not count. */
  get problems(): readonly string[] {
    return [this.#storeRefusal, this.#lockRefusal].filter((problem) => problem !== undefined);
  }

  /** Looks at hooks together with their files. One review for each, in the same order. */
  async review(hooks: readonly ProjectHook[]): Promise<ConsentReview[]> {
    await this.#refresh();
    const inspections: HookInspection[] = [];
    for (const hook of hooks) {
      const words = wordsOfHook(hook);
      const inspection = await inspectHook(hook, this.project, words);
      inspections.push(withForbidden(inspection, hook));
    }
    const present = new Set(inspections.map(({ item }) => item.digest));
    return inspections.map((inspection, index) => {
      const review = this.#judge(inspection, present);
      const hook = hooks[index];
      if (hook) this.#remember(hook, { words: wordsOfHook(hook), inspection, review });
      return review;
    });
  }

  /** Looks at middleware modules, with all files of their extensions. One review for each, in the same order. */
  async reviewModules(modules: readonly ProjectModule[]): Promise<ConsentReview[]> {
    await this.#refresh();
    const inspections: Inspection[] = [];
    for (const module of modules) inspections.push(await inspectModule(module, this.project));
    const present = new Set(inspections.map(({ item }) => item.digest));
    return inspections.map((inspection) => this.#judge(inspection, present));
  }

  /**
   * Looks again at a hook that was reviewed, right before it starts. Reads its files only where the system says that
   * one of them is another than before.
   *
   * @returns why it must not be started, as the end of "The hook …"; synchronously when nothing has changed
   */
  recheck(hook: ProjectHook): string | undefined | Promise<string | undefined> {
    const known = this.#hooks.get(hook);
    if (!known) return 'has not been looked at';
    if (!this.#leadsToProject())
      return 'would run in another directory than the one it is allowed in';
    const { inspection, review, words, judgedBy } = known;
    const isSame =
      inspection.isSettled &&
      judgedBy === this.#signStore() &&
      inspection.signature === signatureOfHook(hook, this.project, words);
    return isSame ? review.reason : this.#reviewAgain(hook, known);
  }

  /**
   * Allows what was reviewed, exactly as it was then, and nothing else of the project.
   *
   * @throws Error when the consents cannot be written
   */
  async allow(reviews: readonly ConsentReview[]): Promise<void> {
    const items = reviews.filter(({ status }) => status !== 'refused').map(({ item }) => item);
    await writeConsents(this.file, this.project, items);
    await this.#refresh();
  }

  /**
   * Takes back what was allowed for the project.
   *
   * @returns how many hooks and modules that were
   * @throws Error when the consents cannot be written
   */
  async forget(): Promise<number> {
    await this.#refresh();
    const count = this.#allowed.length;
    if (count > 0) await writeConsents(this.file, this.project, []);
    await this.#refresh();
    return count;
  }

  /** A link to the project may have been turned elsewhere. */
  #leadsToProject(): boolean {
    try {
      return realpathSync(this.workingDir) === this.project;
    } catch {
      return false;
    }
  }

  async #reviewAgain(hook: ProjectHook, { review, words }: KnownHook): Promise<string | undefined> {
    await this.#refresh();
    const inspection = withForbidden(await inspectHook(hook, this.project, words), hook);
    const again = this.#judge(inspection, new Set([inspection.item.digest]), review.item);
    this.#remember(hook, { words, inspection, review: again });
    return again.reason;
  }

  #remember(hook: ProjectHook, known: Omit<KnownHook, 'judgedBy'>): void {
    this.#hooks.set(hook, { ...known, judgedBy: this.#storeSignature });
  }

  #judge(
    { item, refusal }: Inspection,
    present: ReadonlySet<string>,
    before?: ConsentItem,
  ): ConsentReview {
    const allowed = [...this.#allowed, ...this.#locked];
    const isAllowed = allowed.some(({ digest }) => digest === item.digest);
    if (isAllowed && refusal === undefined) return { status: 'allowed', item };
    const gone = allowed.filter(({ digest }) => digest === item.digest || !present.has(digest));
    const earlier = gone.find(({ digest }) => digest === before?.digest);
    const previous = earlier ?? findPrevious(item, gone);
    if (refusal !== undefined) {
      return { status: 'refused', reason: `is refused: ${refusal}`, item, previous };
    }
    if (!previous) return { status: 'new', reason: 'has not been allowed yet', item };
    const what = summarize(compareItems(previous, item));
    const reason = `has changed since it was allowed (${what})`;
    return { status: 'changed', reason, item, previous };
  }

  async #refresh(): Promise<void> {
    const signature = this.#signStore();
    if (signature === this.#storeSignature) return;
    const { content, refusal } = await readConsents(this.file);
    this.#storeRefusal = refusal;
    this.#allowed = content?.get(this.project) ?? [];
    this.#storeSignature = signature;
  }

  #signStore(): string {
    try {
      return signatureOf(statSync(this.file, { bigint: true, throwIfNoEntry: false }));
    } catch {
      return '';
    }
  }
}

interface KnownHook {
  readonly words: readonly string[];
  readonly inspection: HookInspection;
  readonly review: ConsentReview;
  /** The state of the consents that the review is of. */
  readonly judgedBy: string | undefined;
}

function withForbidden(inspection: HookInspection, { config }: ProjectHook): HookInspection {
  const refusal = forbiddenVariables(config.env) ?? inspection.refusal;
  return { ...inspection, refusal };
}
