import type { Config } from '../config/config.js';
import type { ConsentReview, HookConsent } from '../config/consent.js';
import type { ConsentItem, ProjectHook } from '../trust/consentItem.js';
import type { DebugLogger } from '../debugLogger.js';
import { events } from './events.js';
import { forbiddenVariables } from './hookEnvironment.js';
import type { HookRegistryEntry } from './hookRegistry.js';
import { hookIdentity } from './identity.js';
import { ConfigSource, HookEventName, type CommandHookConfig } from './types.js';

/** What to do about a hook that is not allowed. */
const ADVICE = 'to see and allow it, run in the project: hookstack trust';

/** Lets hooks that came with the project run only as the user has allowed them. All others pass at no cost. */
export class ConsentGate {
  readonly #hooks = new WeakMap<CommandHookConfig, ProjectHook>();
  #consent: HookConsent | undefined;

  constructor(
    private readonly config: Config,
    private readonly logger: DebugLogger,
  ) {}

  /** Decides which entries may run, and tells once why the others do not. */
  async admit(entries: readonly HookRegistryEntry[]): Promise<HookRegistryEntry[]> {
    const ofProject = entries.filter(
      (entry) => isFromProject(entry) && entry.skipped !== 'untrusted',
    );
    if (ofProject.length === 0) return [...entries];
    if (!this.config.needsConsent()) return entries.map((entry) => this.#refuseForbidden(entry));
    this.#consent = await this.config.getConsent();
    for (const problem of this.#consent.problems) this.logger.warn(problem);
    const hooks = ofProject.map(toProjectHook);
    const reviews = await this.#consent.review(hooks);
    const admitted = new Map(
      ofProject.map((entry, index) => {
        const [hook, review] = [hooks[index], reviews[index]];
        if (!hook || !review) throw new RangeError('There must be one review for each hook');
        return [entry, this.#admitReviewed(entry, hook, review)] as const;
      }),
    );
    this.#tellNew(reviews.filter(({ status }) => status === 'new').length);
    return entries.map((entry) => admitted.get(entry) ?? entry);
  }

  /** Makes `copy` need the same consent as `original`. */
  follow(copy: CommandHookConfig, original: CommandHookConfig): void {
    const hook = this.#hooks.get(original);
    if (hook) this.#hooks.set(copy, hook);
  }

  /**
   * Why a hook must not be started now, as the end of "The hook …".
   *
   * @param onObjection called before the objection is returned
   */
  findObjection(
    config: CommandHookConfig,
    onObjection: (reason: string) => void,
  ): string | undefined | Promise<string | undefined> {
    const hook = this.#hooks.get(config);
    if (!hook) return undefined;
    const tell = (reason: string | undefined) => {
      if (reason === undefined) return undefined;
      onObjection(reason);
      return `was not started, because it ${reason}; ${ADVICE}`;
    };
    const reason = this.#consent?.recheck(hook);
    return reason instanceof Promise ? reason.then(tell) : tell(reason);
  }

  /** The one warning about a hook that does not run any more. */
  warnSkipped({ config, eventName }: HookRegistryEntry, reason: string): void {
    // A long command must not hide what to do.
    const hook = hookIdentity(config).slice(0, 60);
    this.logger.warn(`The hook "${hook}" is skipped; ${ADVICE}. It ${reason}`, {
      event: eventName,
    });
  }

  #admitReviewed(
    entry: HookRegistryEntry,
    hook: ProjectHook,
    review: ConsentReview,
  ): HookRegistryEntry {
    const { status, reason = '', previous } = review;
    if (status === 'allowed') {
      this.#hooks.set(entry.config, hook);
      return { ...entry, review };
    }
    const guard = previous && asItWas(entry, previous.definition);
    if (entry.enabled && guard && events[guard.eventName].canBlock) {
      // It was to be asked and cannot be: so it is planned, where it was, and denies.
      this.warnSkipped(entry, `${reason}, and blocks what it guarded`);
      const config = { ...entry.config, onFailure: 'deny' } as const;
      this.#hooks.set(config, hook);
      return { ...guard, config, review };
    }
    if (status !== 'new') this.warnSkipped(entry, reason);
    const skipped = status === 'refused' ? 'refused' : 'untrusted';
    return { ...entry, review, enabled: false, skipped };
  }

  #tellNew(count: number): void {
    if (count === 0) return;
    const [what, them] = count === 1 ? ['1 hook', 'it'] : [`${count} hooks`, 'them'];
    this.logger.warn(
      `${what} of this project skipped until you allow ${them}; to see and allow ${them}, run in the project: hookstack trust`,
    );
  }

  #refuseForbidden(entry: HookRegistryEntry): HookRegistryEntry {
    const refusal = isFromProject(entry) ? forbiddenVariables(entry.config.env) : undefined;
    if (refusal === undefined || !entry.enabled) return entry;
    this.logger.warn(`The hook "${hookIdentity(entry.config)}" is refused: ${refusal}`, {
      event: entry.eventName,
    });
    return { ...entry, enabled: false, skipped: 'refused' };
  }
}

/** A guard at the event and with the matcher that the user allowed. `undefined` for what was no guard. */
function asItWas(
  entry: HookRegistryEntry,
  { event, matcher, onFailure }: ConsentItem['definition'],
): HookRegistryEntry | undefined {
  if (onFailure !== 'deny') return undefined;
  const eventName = Object.values(HookEventName).find((name) => name === event);
  if (!eventName) return undefined;
  return { ...entry, eventName, matcher: typeof matcher === 'string' ? matcher : undefined };
}

/** Whether a hook came with the project, as opposed to one of the user, the system or the host. */
function isFromProject({ source, origin, extension }: HookRegistryEntry): boolean {
  if (source === ConfigSource.Extensions) return extension?.scope === 'project';
  return origin?.scope === 'project';
}

function toProjectHook({ eventName, group, config, extension }: HookRegistryEntry): ProjectHook {
  return { event: eventName, group, config, extension };
}
