import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ConsentItem, ConsentReview } from '../hooks/entry.js';
import type { ProjectHook, ProjectModule } from './consentItem.js';
import { inspectHooks, inspectModules, inspectSettings, type Inspection } from './inspection.js';
import { findPrevious, reasonOfChange, unseenOfOld } from './consentChanges.js';
import {
  AllowedItems,
  consentFileIn,
  readConsents,
  readLock,
  writeConsents,
} from './consentStore.js';
import { readAllowedText } from './allowedTexts.js';
import { hostEnvironment } from '../util/requester.js';
import { realPathOf, stampOf, statsOf } from '../util/paths.js';

/** Of which project what is allowed is read, and from where. */
export interface ConsentOptions {
  /** The project. */
  readonly workingDir: string;
  /** Consents are in `.llxprt/trusted-hooks.json` in here. Default: the home directory. */
  readonly home?: string;
  /** The digest of a `.llxprt/hooks.lock` that allows what it lists. Default: HOOKSTACK_TRUST_LOCK. */
  readonly trustedLock?: string;
}

/**
 * What of a project's hooks, middleware and settings the user has allowed. A hook starts only while its definition and
 * every file of the folder of its script are, byte for byte, those that were seen. A hook for which that cannot be checked
 * is open, and is only allowed where the user asks for open hooks as well.
 */
export class HookConsent {
  readonly #hooks = new WeakMap<ProjectHook, KnownHook>();
  readonly #store = new AllowedItems();
  readonly #lock = new AllowedItems();

  private constructor(
    /** Absolute real path. */
    readonly project: string,
    private readonly workingDir: string,
    private readonly file: string,
    private readonly trustedLock: string | undefined,
  ) {}

  /** Reads what is allowed. Never rejects: what cannot be read allows nothing, and is among the `problems`. */
  static async read({
    workingDir,
    home,
    trustedLock = hostEnvironment()['HOOKSTACK_TRUST_LOCK'],
  }: ConsentOptions): Promise<HookConsent> {
    const path = resolve(workingDir);
    const project = await realpath(path).catch(() => path);
    const consent = new HookConsent(project, path, consentFileIn(home), trustedLock);
    await consent.#refresh();
    return consent;
  }

  /** Why consents, or the lock, do not count. */
  get problems(): readonly string[] {
    return [this.#store.refusal, this.#lock.refusal].filter((problem) => problem !== undefined);
  }

  /** What the user has allowed of the project, as last read; without what a lock allows. */
  get allowed(): readonly ConsentItem[] {
    return this.#store.items;
  }

  /**
   * Looks at hooks together with the files that consent covers. One that cannot be looked at is refused, and so are all
   * of a project that wants too much to be looked at.
   *
   * @returns one review for each, in the same order; never rejects
   */
  async review(hooks: readonly ProjectHook[]): Promise<ConsentReview[]> {
    await this.#refresh();
    const inspections = await inspectHooks(hooks, this.project);
    const reviews = this.#judgeAll(inspections);
    for (const [index, inspection] of inspections.entries()) {
      this.#remember(hooks[index], inspection, reviews[index]);
    }
    return reviews;
  }

  /** Looks at middleware modules, with all files of their extensions. One review for each, in the same order. */
  async reviewModules(modules: readonly ProjectModule[]): Promise<ConsentReview[]> {
    await this.#refresh();
    return this.#judgeAll(await inspectModules(modules, this.project));
  }

  /** Looks at what the project's settings file says besides its hooks. Never rejects. */
  async reviewSettings(settings: Readonly<Record<string, unknown>>): Promise<ConsentReview> {
    await this.#refresh();
    const inspection = inspectSettings(settings);
    return this.#judge(inspection, new Set([inspection.item.digest]));
  }

  /**
   * Looks again at a hook that was reviewed, right before it starts. Reads its files only where the system says that
   * one of them is another than before.
   *
   * @returns why it must not be started, as the end of "The hook …"; synchronously when nothing has changed. Rejects
   *   where it cannot be looked at now
   */
  recheck(hook: ProjectHook): string | undefined | Promise<string | undefined> {
    const known = this.#hooks.get(hook);
    if (!known) return 'has not been looked at';
    // The project's path may be a link, which may lead elsewhere by now.
    if (realPathOf(this.workingDir) !== this.project) {
      return 'would run in another directory than the one it is allowed in';
    }
    const { isUnchanged, review, judgedBy, readAt } = known;
    const isSame =
      performance.now() - readAt < UNREAD_MS && judgedBy === this.#signStore() && isUnchanged();
    return isSame ? review.reason : this.#reviewAgain(hook, known);
  }

  /**
   * Allows what was reviewed, exactly as it was then, and nothing else of the project.
   *
   * @param options.open whether to allow hooks as well of which only the definition is covered. Default: only those that
   *   are allowed already
   * @param options.keep what stays allowed as it was: of `allowed`, and of `previous` of reviews
   * @throws Error when the consents cannot be written
   */
  async allow(
    reviews: readonly ConsentReview[],
    { open = false, keep = [] }: AllowOptions = {},
  ): Promise<void> {
    await this.#refresh();
    const kept = new Set(keep.map(({ digest }) => digest));
    const items = reviews
      .filter((review) => review.status !== 'refused')
      .filter((review) => open || review.class !== 'open' || review.status === 'allowed')
      .map(({ item }) => item);
    for (const { digest } of items) kept.delete(digest);
    const before = this.#store.items.filter(({ digest }) => kept.has(digest));
    await this.#write([...items, ...before]);
  }

  /**
   * Allows the project's settings as they were reviewed, and leaves its hooks and modules as they are.
   *
   * @param review `undefined` where the file says nothing any more that needs it
   * @throws Error when the consents cannot be written
   */
  async allowSettings(review: ConsentReview | undefined): Promise<void> {
    await this.#refresh();
    const others = this.#store.items.filter(({ kind }) => kind !== 'settings');
    const items = review ? [...others, review.item] : others;
    if (items.length + this.#store.items.length > 0) await this.#write(items);
  }

  /** The text that had a digest when it was allowed, only to be shown; `undefined` where no copy of it is kept. */
  readAllowedText(digest: string): Promise<string | undefined> {
    return readAllowedText(this.file, digest);
  }

  /**
   * Takes back what was allowed for the project.
   *
   * @returns how many items that were
   * @throws Error when the consents cannot be written
   */
  async forget(): Promise<number> {
    await this.#refresh();
    const count = this.#store.items.length;
    if (count > 0) await this.#write([]);
    return count;
  }

  async #write(items: readonly ConsentItem[]): Promise<void> {
    await writeConsents(this.file, this.project, items);
    await this.#refresh();
  }

  async #reviewAgain(hook: ProjectHook, { review }: KnownHook): Promise<string | undefined> {
    await this.#refresh();
    const [inspection] = await inspectHooks([hook], this.project);
    if (!inspection) return 'has not been looked at';
    const again = this.#judge(inspection, new Set([inspection.item.digest]), review.item);
    if (again.isTemporary) throw new Error(inspection.refusal ?? this.#whyUnknown);
    this.#remember(hook, inspection, again);
    return again.reason;
  }

  #remember(hook?: ProjectHook, inspection?: Inspection, review?: ConsentReview): void {
    if (!hook || !inspection || !review) return;
    const { isUnchanged } = inspection;
    const readAt = performance.now();
    this.#hooks.set(hook, { isUnchanged, review, judgedBy: this.#store.signature, readAt });
  }

  #judgeAll(inspections: readonly Inspection[]): ConsentReview[] {
    const present = new Set(inspections.map(({ item }) => item.digest));
    return inspections.map((inspection) => this.#judge(inspection, present));
  }

  #judge(
    { item, refusal, isTemporary, covers, scripts }: Inspection,
    present: ReadonlySet<string>,
    before?: ConsentItem,
  ): ConsentReview {
    const covered = item.class === 'open' ? 'open' : 'pinned';
    const facts = { item, class: covered, covers, scripts } as const;
    const allowed = [...this.#store.items, ...this.#lock.items];
    const isAllowed = allowed.some(({ digest }) => digest === item.digest);
    const unseen = isAllowed ? undefined : unseenOfOld(allowed, item);
    if (refusal === undefined && (isAllowed || unseen?.length === 0)) {
      return { status: 'allowed', ...(!isAllowed && { isOld: true }), ...facts };
    }
    const gone = allowed.filter(({ digest }) => digest === item.digest || !present.has(digest));
    const earlier = gone.find(({ digest }) => digest === before?.digest);
    const previous = earlier ?? findPrevious(item, gone);
    const refused = refusal ?? this.#whyUnknown;
    if (refused !== undefined) {
      const reason = `is refused: ${refused}`;
      const mayPass = refusal === undefined || isTemporary;
      return { status: 'refused', reason, isTemporary: mayPass, previous, ...facts };
    }
    if (!previous) return { status: 'new', reason: 'has not been allowed yet', ...facts };
    const reason = reasonOfChange(previous, facts, unseen);
    return { status: 'changed', reason, previous, ...facts };
  }

  /** Reads what has changed since, and what could not be read for want of descriptors. */
  async #refresh(): Promise<void> {
    await this.#store.refresh(this.#signStore(), async () => {
      const reading = await readConsents(this.file);
      return reading.content ? { content: reading.content.get(this.project) ?? [] } : reading;
    });
    const { trustedLock } = this;
    if (!trustedLock) return;
    await this.#lock.refresh('read once', async () => {
      const reading = await readLock(this.project, trustedLock);
      if (reading.refusal === undefined) return reading;
      return {
        ...reading,
        refusal: `HOOKSTACK_TRUST_LOCK allows nothing, because ${reading.refusal}`,
      };
    });
  }

  /** Why it is not known now what is allowed. */
  get #whyUnknown(): string | undefined {
    return [this.#store, this.#lock].find(({ isInDoubt }) => isInDoubt)?.refusal;
  }

  #signStore(): string {
    return stampOf(statsOf(this.file));
  }
}

interface AllowOptions {
  readonly open?: boolean;
  readonly keep?: readonly ConsentItem[];
}

interface KnownHook {
  readonly isUnchanged: Inspection['isUnchanged'];
  readonly review: ConsentReview;
  /** The state of the consents that the review is of. */
  readonly judgedBy: string | undefined;
  /** When its files were read, in ms on the clock of `performance.now()`. */
  readonly readAt: number;
}

/**
 * Ms after which files are read again although their stats are the same: a write through a memory map changes a
 * file's times late.
 */
const UNREAD_MS = 10_000;
