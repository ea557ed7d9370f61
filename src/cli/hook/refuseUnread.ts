import { refusedVerdict } from '../../core/verdict.js';
import { reply } from '../../dialects/reverse.js';
import type { Dialect } from '../../dialects/dialect.js';
import type { Received } from '../../protocol/received.js';
import { events, failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { SilentLogger } from '../shared/cliLogger.js';
import { toOneLine } from '../shared/terminal.js';
import { openRegistry, openWorkspace } from '../shared/workspace.js';
import { MAX_NOTE, pass, printed, write, type HookAnswer } from './hookAnswer.js';
import type { HookOptions } from './hookArguments.js';

/**
 * What hooks have not read must be no way past a guard.
 *
 * @param refusal how the agent is told, where an exit code is not enough
 * @param unread what is answered to: where a guard had to see what was given, that is withheld; what an agent would begin
 *   all the same is kept from its tools
 */
export async function refuseUnread(
  refusal: Dialect['refusal'],
  options: HookOptions,
  problem: string,
  event?: HookEventName,
  unread?: Received,
): Promise<HookAnswer> {
  const withholds = event !== undefined && events[event].withhold !== undefined;
  if (event && !events[event].canBlock && !withholds) return pass(problem, options.from);
  const guards = await findGuards(options, event).catch((error: unknown) => [errorMessage(error)]);
  if (guards.length === 0)
    return pass(`${problem}; no guard is there, so it goes on`, options.from);
  const names = guards.map((name) => `"${toOneLine(name)}"`).join(', ');
  const reason = `hooks could not be asked (${names}): ${toOneLine(problem, MAX_NOTE)}`;
  const verdict = unread && refusedVerdict(unread, `As ${reason}`);
  const mustBeKept = verdict && reply(unread, verdict).stops !== undefined;
  if (verdict && (withholds || mustBeKept)) return write(unread, verdict);
  const blocked = `Blocked, as ${reason}`;
  return refusal ? printed(options.from, refusal(blocked)) : { blocked };
}

async function findGuards(
  { cwd, cwdSource, settings, trust }: HookOptions,
  event: HookEventName | undefined,
): Promise<string[]> {
  // The model reads all of stderr.
  const { config } = await openWorkspace({ cwd, cwdSource, settings, trust }, { isQuiet: true });
  if (!config.getEnableHooks()) return [];
  const registry = await openRegistry(config, new SilentLogger('llxprt:core:hooks:registry'));
  const guards = (event ? [event] : Object.values(HookEventName))
    .flatMap((each) => registry.getHooksForEvent(each))
    .filter((entry) => failsClosed(entry.config, entry.eventName));
  const policies = config
    .getExtensions()
    .filter(
      ({ scope, middleware = [] }) =>
        scope !== 'project' && middleware.some(({ policy }) => policy),
    );
  const names = guards.map((entry) => hookIdentity(entry.config));
  return [...new Set([...names, ...policies.map(({ name }) => name)])];
}
