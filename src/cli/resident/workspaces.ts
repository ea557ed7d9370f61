import path from 'node:path';
import { Config, type ConfigOptions } from '../../config/config.js';
import { failsClosed } from '../../protocol/events.js';
import { buildHookEnvironment } from '../../run/preparedInput.js';
import { readTextSync } from '../../util/guardedRead.js';
import { hostEnvironment } from '../../util/requester.js';
import { writeAtomically } from '../../util/writeAtomically.js';
import type { Workspace } from '../shared/workspace.js';

/** Thrown where an event wants what a process that stays cannot give without a difference. */
export class NeedsOwnProcess extends Error {
  override readonly name = 'NeedsOwnProcess';
}

/**
 * Whether all hooks of the project stand as they did when they were read: none waits for the user, and none has changed
 * since the user allowed it. A process that asks for the first time looks at them anew.
 */
export async function isCurrent(config: Config): Promise<boolean> {
  const system = config.getHookSystem();
  if (!system?.isInitialized()) return true;
  const registry = system.getRegistry();
  for (const { config: hook, enabled, skipped } of registry.getAllHooks()) {
    if (hook.scope !== 'project') continue;
    if (skipped === 'untrusted' || skipped === 'refused') return false;
    if (enabled && (await registry.findObjection(hook)) !== undefined) return false;
  }
  return true;
}

/**
 * @throws NeedsOwnProcess where hooks could not be looked at, or would be started, or told of, in another way than by a
 *   process of their own
 */
export async function requireAnswerable({ config, settings }: Workspace): Promise<void> {
  const system = config.getHookSystem();
  await system?.initialize();
  if (system?.getAllHooks().some(({ skipped }) => skipped === 'refused')) {
    throw new NeedsOwnProcess('hooks of the project could not be looked at');
  }
  // What happens is told to all who listen in a process.
  if (settings.fleet?.record)
    throw new NeedsOwnProcess('what happens goes to the record of a fleet');
  const { PATH } = buildHookEnvironment(config.getHookEnvironment(), config.getWorkingDir());
  if (PATH === undefined) throw new NeedsOwnProcess('hooks get no search path of the agent');
}

interface Kept {
  readonly config: Config;
  /** All that the files said of which it was made. */
  readonly options: string;
  usedAt: number;
  /** Events that are being answered with it. */
  uses: number;
}

const MAX_KEPT = 32;

/** One `Config` for each project and environment, with the shells and processes that it keeps. */
export class KeptWorkspaces {
  readonly #kept = new Map<string, Kept>();

  /** @param now ms */
  constructor(private readonly now: () => number = () => performance.now()) {}

  get projects(): readonly string[] {
    return [...new Set([...this.#kept.values()].map(({ config }) => config.getWorkingDir()))];
  }

  /**
   * Answers an event with what is kept for its project, or with what is made for it.
   *
   * @param work given what makes a `Config`; also a new one where there is one already
   */
  async use<T>(
    work: (makeConfig: (options: ConfigOptions, isAnew: boolean) => Config) => Promise<T>,
  ): Promise<T> {
    const used: Kept[] = [];
    try {
      return await work((options, isAnew) => {
        const kept = this.#find(options, isAnew);
        kept.uses += 1;
        used.push(kept);
        this.#makeRoom();
        return kept.config;
      });
    } finally {
      for (const kept of used) this.#release(kept);
    }
  }

  /** Lets go of what nobody has used for some ms. */
  forgetUnused(ms: number): void {
    for (const [key, kept] of this.#kept) {
      if (kept.uses === 0 && this.now() - kept.usedAt > ms) this.#forget(key, kept);
    }
  }

  #find(options: ConfigOptions, isAnew: boolean): Kept {
    if (options.extensions?.some(({ middleware = [] }) => middleware.length > 0)) {
      throw new NeedsOwnProcess('an extension brings code of its own');
    }
    const key = JSON.stringify([options.workingDir, Object.entries(hostEnvironment())]);
    const { debugLogger: _logger, approver, ...plain } = options;
    const text = JSON.stringify(plain);
    const known = this.#kept.get(key);
    if (known && known.options === text && !isAnew && !approver) return known;
    if (known) this.#forget(key, known);
    const kept = { config: new Config(options), options: text, usedAt: this.now(), uses: 0 };
    this.#kept.set(key, kept);
    return kept;
  }

  #release(kept: Kept): void {
    kept.uses -= 1;
    kept.usedAt = this.now();
    if (kept.uses === 0 && ![...this.#kept.values()].includes(kept)) void kept.config.dispose();
  }

  #forget(key: string, kept: Kept): void {
    this.#kept.delete(key);
    if (kept.uses === 0) void kept.config.dispose();
  }

  #makeRoom(): void {
    const unused = [...this.#kept]
      .filter(([, { uses }]) => uses === 0)
      .toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    const excess = Math.max(0, this.#kept.size - MAX_KEPT);
    for (const [key, kept] of unused.slice(0, excess)) this.#forget(key, kept);
  }
}

/** Stands for all projects. */
const EVERYWHERE = '/';

/**
 * Notes beside the socket in which projects a guard is configured, for a client that can start nothing which could ask
 * it: a folder on each line.
 */
export function noteGuards(folder: string, config: Config): Promise<void> {
  // One after the other, as each reads what the one before has written.
  noting = noting.then(() => note(folder, config)).catch(() => undefined);
  return noting;
}

let noting = Promise.resolve();

async function note(folder: string, config: Config): Promise<void> {
  const system = config.getHookSystem();
  await system?.initialize();
  const guards = (system?.getAllHooks() ?? []).filter(
    ({ enabled, config: hook, eventName }) => enabled && failsClosed(hook, eventName),
  );
  const project = config.getWorkingDir();
  const wanted = new Map([[project, guards.some(({ config: hook }) => hook.scope === 'project')]]);
  // Where hooks are off for one project, nothing is known of the others.
  if (system)
    wanted.set(
      EVERYWHERE,
      guards.some(({ config: hook }) => hook.scope !== 'project'),
    );
  const file = path.join(folder, 'guards');
  const text = readNotes(file);
  const lines = new Set(text.split('\n').filter((line) => line !== ''));
  for (const [place, hasGuards] of wanted) {
    if (place.includes('\n')) continue;
    if (hasGuards) lines.add(place);
    else lines.delete(place);
  }
  const updated = [...lines].map((line) => `${line}\n`).join('');
  if (updated !== text) await writeAtomically(file, updated, 0o600);
}

/** In a folder of the resident's own: no drive that is gone is waited for. */
function readNotes(file: string): string {
  try {
    return readTextSync(file);
  } catch {
    return '';
  }
}
