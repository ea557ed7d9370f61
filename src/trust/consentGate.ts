import type { HookGate, HookHost } from '../hooks/host.js';
import type { HookConsent } from './consent.js';
import type { ConsentReview, ConsentItem, HookRegistryEntry } from '../hooks/entry.js';
import { harmOf, isSameDefinition, itemOfHook, type ProjectHook } from './consentItem.js';
import { readFields } from '../util/checks.js';
import { FILE_GROUP_FIELDS, readHookFields } from '../hooks/hookFields.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { readDisabled } from '../hooks/disabledHooks.js';
import { failsClosed } from '../protocol/events.js';
import { commandKey } from '../run/sameCommand.js';
import { commandLine, isFromProject, shortIdentity } from '../protocol/identity.js';
import { HookEventName, MOMENTS, type CommandHookConfig } from '../protocol/types.js';

const ADVICE = adviseFor('it');

/** At most this many hooks that do not run have a warning of their own. */
const MAX_WARNINGS = 10;

/** At most this many characters of a command in a message. */
const MAX_QUOTED = 60;

interface ConsentHost extends Pick<HookHost, 'needsConsent' | 'getDisabledHooks'> {
  /** What the user has allowed; rejects when that cannot be found out. */
  getConsent(): Promise<HookConsent>;
}

/**
 * Lets hooks that came with the project run only as the user has allowed them. All others pass at no cost, whatever is
 * wrong with those of the project.
 */
export class ConsentGate implements HookGate {
  /** What is asked right before a hook starts, or a guard in its place would. */
  readonly #checks = new WeakMap<CommandHookConfig, Check>();
  /** Whether the last `admit` could find out what is allowed. Where it could not, the next event is to ask again. */
  isSettled = true;
  /** The guards of the project that were allowed when the project was last looked at. */
  #guards: readonly HookRegistryEntry[] = [];
  /** Guards that deny in the place of hooks that are different from what was allowed, by the digest of that. */
  readonly #standIns = new Map<string, StandIn>();
  readonly #warned = new Set<string>();
  /** Skipped hooks by reason, for one warning each: a changed file may concern all hooks of its folder. */
  #skips = new Map<string, HookRegistryEntry[]>();

  constructor(
    private readonly config: ConsentHost,
    private readonly logger: DebugLogger,
  ) {}

  /** Decides which entries may run, and warns once of those that may not. Never rejects. */
  async admit(entries: readonly HookRegistryEntry[]): Promise<HookRegistryEntry[]> {
    this.isSettled = true;
    const ofProject = entries.filter(
      (entry) => isFromProject(entry) && entry.skipped !== 'untrusted',
    );
    if (ofProject.length + this.#guards.length === 0) return [...entries];
    if (!this.config.needsConsent()) return entries.map((entry) => this.#refuseHarmful(entry));
    try {
      return await this.#admitAllowed(entries, ofProject);
    } catch (error) {
      this.isSettled = false;
      return this.#refuseAll(entries, ofProject, errorMessage(error));
    }
  }

  /** Makes `copy` need the same consent as `original`. */
  shareConsent(copy: CommandHookConfig, original: CommandHookConfig): void {
    const check = this.#checks.get(original);
    if (check) this.#checks.set(copy, check);
  }

  /**
   * Why a hook must not be started now, as the end of "The hook …". Never throws or rejects.
   *
   * @param onObjection called before the objection is returned; `isLasting` unless the hook could not be looked at now
   */
  findObjection(
    config: CommandHookConfig,
    onObjection: (reason: string, isLasting: boolean) => void,
  ): string | undefined | Promise<string | undefined> {
    const check = this.#checks.get(config);
    if (!check) return undefined;
    const objectTo = (reason: string | undefined, isLasting = true) => {
      if (reason === undefined) return undefined;
      onObjection(reason, isLasting);
      return `was not started, because it ${reason}; ${ADVICE}`;
    };
    const objectToFault = (error: unknown) =>
      objectTo(`could not be looked at (${errorMessage(error)})`, false);
    try {
      const reason = check();
      return reason instanceof Promise ? reason.then(objectTo, objectToFault) : objectTo(reason);
    } catch (error) {
      return objectToFault(error);
    }
  }

  warnSkipped({ config, eventName }: HookRegistryEntry, reason: string): void {
    // What is refused cannot be allowed.
    const advice = reason.startsWith('is refused') ? '' : `; ${ADVICE}`;
    this.logger.warn(`The hook "${shortIdentity(config)}" is skipped${advice}. It ${reason}`, {
      event: eventName,
    });
  }

  async #admitAllowed(
    entries: readonly HookRegistryEntry[],
    ofProject: readonly HookRegistryEntry[],
  ): Promise<HookRegistryEntry[]> {
    const consent = await this.config.getConsent();
    for (const problem of consent.problems) this.#warnOnce(problem);
    const hooks = ofProject.map(toProjectHook);
    const reviews = await consent.review(hooks);
    this.#skips = new Map();
    this.#standIns.clear();
    const admitted = new Map(
      ofProject.map((entry, index) => {
        const [hook, review] = [hooks[index], reviews[index]];
        if (!hook || !review) throw new RangeError('There must be one review for each hook');
        const admission = this.#admitReviewed(entry, review, () => consent.recheck(hook));
        return [entry, admission] as const;
      }),
    );
    const kept = await this.#keepGone(consent, hooks, reviews);
    this.#warnOfSkips();
    const planned = [
      ...admitted.values(),
      ...kept,
      ...Array.from(this.#standIns.values(), ({ guard }) => guard),
    ];
    this.#guards = planned.filter(
      ({ enabled, config, eventName }) => enabled && failsClosed(config, eventName),
    );
    this.isSettled = !reviews.some(({ isTemporary }) => isTemporary);
    this.#warnOfNew(reviews.filter(({ status }) => status === 'new').length);
    return [...entries.map((entry) => admitted.get(entry) ?? entry), ...kept];
  }

  /** Guards that the project has had, and that are still allowed: what runs under a guard may write its file. */
  async #keepGone(
    consent: HookConsent,
    hooks: readonly ProjectHook[],
    reviews: readonly ConsentReview[],
  ): Promise<HookRegistryEntry[]> {
    const standIns = Array.from(this.#standIns.values(), ({ guard }) => openItemOf(guard));
    const there = [...reviews.map(({ item }) => item), ...standIns];
    const gone = this.#guards
      .filter((guard) => !there.some((item) => isSameDefinition(item, openItemOf(guard))))
      .filter((guard) => !this.#isOff(guard))
      .map((guard) => ({ guard, hook: toProjectHook(guard) }));
    if (gone.length === 0) return [];
    // Together, as what was allowed in the place of a guard is no earlier form of it.
    const others = hooks.map((hook) => ({ ...hook }));
    const again = await consent.review([...others, ...gone.map(({ hook }) => hook)]);
    return gone.flatMap(({ guard, hook }, index) => {
      const review = again[hooks.length + index];
      const { status, previous, item } = review ?? {};
      const wasSame = previous !== undefined && item && isSameDefinition(previous, item);
      if (!review || (status !== 'allowed' && !wasSame)) return [];
      this.#warnOnce(
        `The guard "${shortIdentity(guard.config)}" of this project is gone, and stays in force until this program is started anew, or it is not allowed any more`,
      );
      const entry = { ...guard, enabled: true, skipped: undefined };
      return [this.#admitReviewed(entry, review, () => consent.recheck(hook))];
    });
  }

  /** Where consents cannot be read, nothing of the project runs, and guards that were allowed before deny. */
  #refuseAll(
    entries: readonly HookRegistryEntry[],
    ofProject: readonly HookRegistryEntry[],
    why: string,
  ): HookRegistryEntry[] {
    this.#warnOnce(
      `The hooks of this project are refused, as it could not be found out which of them are allowed (${why}); the next event tries again`,
    );
    const reason = `is refused: it could not be found out whether it is allowed (${why})`;
    const refused = new Set(ofProject);
    const others = entries.map((entry) => (refused.has(entry) ? refuse(entry, reason) : entry));
    return [...this.#guards, ...others];
  }

  #keepSkip(entry: HookRegistryEntry, reason: string): void {
    const same = this.#skips.get(reason);
    if (same) same.push(entry);
    else this.#skips.set(reason, [entry]);
  }

  #warnOfSkips(): void {
    const groups = [...this.#skips];
    for (const [reason, entries] of groups.slice(0, MAX_WARNINGS)) {
      const [entry, ...others] = entries;
      if (entry && others.length === 0) this.warnSkipped(entry, reason);
      else this.#warnAllSkipped(entries, reason);
    }
    const left = groups.slice(MAX_WARNINGS).flatMap(([, entries]) => entries).length;
    if (left > 0) {
      this.logger.warn(`${left} more hooks of this project are skipped; ${ADVICE}`);
    }
  }

  #warnAllSkipped(entries: readonly HookRegistryEntry[], reason: string): void {
    const names = entries.slice(0, MAX_WARNINGS).map(({ config }) => `"${shortIdentity(config)}"`);
    const left = entries.length - names.length;
    const more = left > 0 ? ` and ${left} more` : '';
    this.logger.warn(
      `The hooks ${names.join(', ')}${more} are skipped; ${adviseFor('them')}. Each of them ${reason}`,
    );
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.logger.warn(message);
  }

  #admitReviewed(entry: HookRegistryEntry, review: ConsentReview, check: Check): HookRegistryEntry {
    const { status, reason = '', previous } = review;
    if (status === 'allowed') {
      this.#checks.set(entry.config, check);
      return { ...entry, review };
    }
    const guard = previous && guardAsAllowed(entry, previous.definition);
    const counts = guard && failsClosed(guard.config, guard.eventName) && !this.#isOff(guard);
    // The user relied on this guard, and it cannot be asked: so it is planned where it was, and denies.
    if (counts && isSameDefinition(previous, review.item)) {
      this.#keepSkip(entry, `${reason}, and blocks what it guarded`);
      this.#checks.set(entry.config, check);
      return { ...entry, review, enabled: true, skipped: undefined };
    }
    const standIn = counts ? this.#standInOf(guard, previous, entry, { check, reason }) : undefined;
    const blocks = standIn
      ? `, and what "${shortIdentity(standIn.config)}" guarded is blocked`
      : '';
    if (status !== 'new') this.#keepSkip(entry, `${reason}${blocks}`);
    const skipped = status === 'refused' ? 'refused' : 'untrusted';
    return { ...entry, review, enabled: false, skipped, ...(standIn && { standIn }) };
  }

  /** One for all hooks that took the place of the same guard. */
  #standInOf(
    guard: HookRegistryEntry,
    { digest }: ConsentItem,
    { config }: HookRegistryEntry,
    { check, reason }: { readonly check: Check; readonly reason: string },
  ): HookRegistryEntry {
    const standIn = this.#standIns.get(digest) ?? { guard, reason, names: [] };
    if (!this.#standIns.has(digest)) {
      this.#standIns.set(digest, standIn);
      const isSame = commandKey(guard.config) === commandKey(config);
      this.#checks.set(guard.config, isSame ? check : () => denialReason(standIn));
    }
    standIn.names.push(shortIdentity(config));
    return standIn.guard;
  }

  #isOff(guard: HookRegistryEntry): boolean {
    return readDisabled(this.config.getDisabledHooks(), [guard]).has(guard);
  }

  #warnOfNew(count: number): void {
    if (count === 0) return;
    const [what, them] = count === 1 ? ['1 hook', 'it'] : [`${count} hooks`, 'them'];
    this.logger.warn(`${what} of this project skipped until you allow ${them}; ${adviseFor(them)}`);
  }

  /** Refuses hooks that no consent can allow. */
  #refuseHarmful(entry: HookRegistryEntry): HookRegistryEntry {
    if (!isFromProject(entry) || !entry.enabled) return entry;
    const refusal = harmOf(toProjectHook(entry));
    if (refusal === undefined) return entry;
    this.logger.warn(`The hook "${shortIdentity(entry.config)}" is refused: ${refusal}`, {
      event: entry.eventName,
    });
    return refuse(entry, `is refused: ${refusal}`);
  }
}

/** Why something must not start now, as the end of "The hook …". */
type Check = () => string | undefined | Promise<string | undefined>;

/** A guard that was allowed and that the project has replaced: it never starts, and denies. */
interface StandIn {
  readonly guard: HookRegistryEntry;
  /** What is wrong with the first hook in its place. */
  readonly reason: string;
  /** Of the hooks in its place. */
  readonly names: string[];
}

/** Says how it is defined, and of no files. */
function openItemOf(entry: HookRegistryEntry): ConsentItem {
  return itemOfHook(toProjectHook(entry), { class: 'open', files: {} });
}

function denialReason({ guard, reason, names }: StandIn): string {
  const others = names
    .filter((name) => name !== shortIdentity(guard.config))
    .slice(0, MAX_WARNINGS);
  if (others.length === 0) return reason;
  return `${reason}, and in its place is now ${others.map((name) => `"${name}"`).join(', ')}`;
}

function adviseFor(them: string): string {
  return `to see and allow ${them}, run in the project: hookstack trust`;
}

function refuse(entry: HookRegistryEntry, reason: string): HookRegistryEntry {
  const hook = toProjectHook(entry);
  const command = commandLine(hook.config);
  const short = command.length > MAX_QUOTED ? `${command.slice(0, MAX_QUOTED)}…` : command;
  const shown = { ...hook, config: { ...hook.config, command: short, args: undefined } };
  const item = itemOfHook(shown, { class: 'open', files: {} });
  const facts = { item, class: 'open', covers: '', scripts: [] } as const;
  const review = { status: 'refused', reason, ...facts } as const;
  return { ...entry, review, enabled: false, skipped: 'refused' };
}

/** A guard as the user allowed it, in every field. `undefined` for what was no guard. */
function guardAsAllowed(
  entry: HookRegistryEntry,
  definition: ConsentItem['definition'],
): HookRegistryEntry | undefined {
  if (definition['onFailure'] !== 'deny') return undefined;
  const eventName = Object.values(HookEventName).find((name) => name === definition['event']);
  const ofGroup = { ...definition, when: definition['groupWhen'], hooks: [] };
  const group = readFields(ofGroup, FILE_GROUP_FIELDS, 'group', ignoreProblem);
  const fields = readHookFields(definition, ignoreProblem);
  if (!eventName || !group || !fields) return undefined;
  const { matcher, sequential, dialect, when } = group;
  const moment = MOMENTS.find((each) => each === definition['moment']);
  const { extensionPath } = entry.config;
  const config = {
    ...fields,
    ...(dialect && { dialect }),
    ...(moment && { moment }),
    ...(when !== undefined && { groupWhen: when }),
    ...(extensionPath && { extensionPath }),
    scope: 'project' as const,
  };
  return {
    ...entry,
    eventName,
    matcher,
    sequential,
    group: { matcher, sequential, dialect, moment, when },
    config,
    enabled: true,
    skipped: undefined,
  };
}

/** It was reported when the settings were read. */
function ignoreProblem(): void {}

function toProjectHook({ eventName, group, config, extension }: HookRegistryEntry): ProjectHook {
  return { event: eventName, group, config, extension };
}
