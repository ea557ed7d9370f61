import { mkdir, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { runHook } from '../../../middleware/runHook.js';
import { toHookInput } from '../../../middleware/translator.js';
import type { Config } from '../../config/config.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { PersistentHooks } from '../../process/persistent/persistentHooks.js';
import { isAsked } from '../../protocol/identity.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { PromptHooks } from '../../prompts/promptHooks.js';
import { explainStderr } from '../../run/explainStderr.js';
import type { HookRun } from '../../run/hookRun.js';
import { buildHookEnvironment, prepareInput } from '../../run/preparedInput.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { isInside } from '../../util/paths.js';
import type { ObservedRun } from './diagnosis.js';

export interface Surroundings {
  readonly registry: HookRegistry;
  readonly config: Config;
  readonly signal: AbortSignal;
}

interface Asking extends Surroundings {
  readonly timeoutMs: number;
  /** Keeps the process of the hook; without it, one is started for each event. */
  readonly persistent?: PersistentHooks;
}

/** Asks the hook about an event; `undefined` where it was not run. */
export type AskOnce = (payload: HookPayload<HookEventName>) => Promise<ObservedRun | undefined>;

/**
 * Lets a hook be asked as often as is needed, in one scratch directory.
 *
 * @param work reads also what the runner had to tell up to then, one sentence each
 */
export function inScratch<T>(
  { config: hook, eventName: event }: HookRegistryEntry,
  { registry, config, signal, timeoutMs, persistent }: Asking,
  work: (askOnce: AskOnce, remarks: readonly string[]) => Promise<T>,
): Promise<T> {
  const logger = new RemarkCollector('llxprt:core:hooks:doctor');
  const environment = config.getHookEnvironment();
  const project = config.getWorkingDir();
  const env = buildHookEnvironment(environment, project);
  const words = [hook.command, ...(hook.args ?? [])].join(' ');
  // The same question is the same to the byte.
  const timestamp = new Date().toISOString();
  const askOnce = async (scratch: string, payload: HookPayload<HookEventName>) => {
    let run: HookRun | undefined;
    const before = logger.remarks.length;
    const input = { ...sampleInput(event, payload, config, scratch), timestamp };
    const { directory, stdin } = prepareInput(input, { environment });
    await runHook(
      hook,
      event,
      { input, directory, stdin, env },
      {
        logger,
        environment,
        warmShells: 0,
        signal,
        prompts: new PromptHooks(config),
        ...(persistent && { persistent }),
        findObjection: (started) => registry.findObjection(started),
        probe: async (seen, next) => {
          run = seen;
          if (!persistent && !isAsked(hook)) pad(seen);
          await next();
        },
      },
    );
    signal.throwIfAborted();
    if (!run?.outcome) return undefined;
    const { outcome, said = outcome } = run;
    const why = explainStderr(outcome, environment);
    return { hook, event, outcome, said, why, remarks: logger.remarks.slice(before), timeoutMs };
  };
  return inScratchProject(project, words, (scratch) =>
    work((payload) => askOnce(scratch, payload), logger.remarks),
  );
}

/**
 * More than a pipe holds, so that it is taken only where somebody reads. JSON allows spaces behind its first brace.
 * Servers always read, and may refuse what is long.
 */
const PADDING = Buffer.alloc(256 * 1024, ' ');

function pad(run: HookRun): void {
  const { stdin } = run;
  if (stdin instanceof Error) return;
  run.stdin = Buffer.concat([stdin.subarray(0, 1), PADDING, stdin.subarray(1)]);
}

function sampleInput(
  event: HookEventName,
  payload: HookPayload<HookEventName>,
  config: Config,
  cwd: string,
) {
  return toHookInput(event, payload, {
    getSessionId: () => config.getSessionId(),
    getWorkingDir: () => cwd,
  });
}

/** Keeps the runner's warnings, without the hook's name. Failures are reported otherwise. */
class RemarkCollector extends DebugLogger {
  readonly remarks: string[] = [];

  override warn(message: string): void {
    const [, remark] = /^Hook ".*?"(?: \(\w+\))?: (.*)$/s.exec(message) ?? [];
    if (remark !== undefined) this.remarks.push(remark);
  }
}

/** Keeps relative paths of a hook out of the project; files of it that `command` names are linked. */
async function inScratchProject<T>(
  project: string,
  command: string,
  work: (scratch: string) => Promise<T>,
): Promise<T> {
  const scratch = await realpath(await mkdtemp(join(tmpdir(), 'hookstack-')));
  try {
    for (const word of command.match(/[^\s'"`;&|()<>$={}]+/gu) ?? []) {
      await linkFile(word, project, scratch);
    }
    return await work(scratch);
  } finally {
    // A process that is about to end may still write into it.
    await rm(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function linkFile(word: string, project: string, scratch: string): Promise<void> {
  const file = join(project, word);
  if (isAbsolute(word) || file === project || !isInside(file, project)) return;
  const stats = await stat(file).catch(() => undefined);
  if (!stats?.isFile()) return;
  const link = join(scratch, relative(project, file));
  await mkdir(dirname(link), { recursive: true });
  await symlink(file, link).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
