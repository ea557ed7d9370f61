import { matcherLetsRun, planContext, type PlanContext } from '../../../middleware/planner.js';
import { referenceToolNames } from '../../agent/tools/toolNames.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { events, isOfTool } from '../../protocol/events.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { withFailure } from '../fire/fireOptions.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { completeFields, decodeFields, makeFields } from '../shared/eventFields.js';
import { DEFAULT_AGENT_TYPE, DEFAULT_PROMPT, DEFAULT_TOOL } from '../shared/options.js';

/** A made-up event for one hook. */
interface Sample {
  readonly payload: HookPayload<HookEventName>;
  /** `null` at events without one. */
  readonly tool: string | null;
  /** Whether the hook's matcher lets it run for this event. */
  readonly isAccepted: boolean;
}

/** One that the hook's matcher accepts, where such a one can be thought of. */
export function sampleFor(entry: HookRegistryEntry, registry: HookRegistry): Sample {
  const { eventName: event, config } = entry;
  const logger = new QuietLogger('llxprt:core:hooks:planner');
  const accepts = (context: PlanContext) =>
    matcherLetsRun(registry, entry, { ...context, moment: config.moment }, logger);
  if (isOfTool(event)) return sampleOfTool(entry, (toolName) => accepts({ toolName }));
  return events[event].matchOn
    ? sampleOfAgent(entry, (agentType) => accepts({ agentType }))
    : sampleOfSubject(event, (subject) => accepts({ subject }));
}

function sampleOfAgent(
  { eventName: event, matcher = '' }: HookRegistryEntry,
  accepts: (agentType: string) => boolean,
): Sample {
  const found = [DEFAULT_AGENT_TYPE, ...namesFor(matcher)].find(accepts);
  const fields = completeFields(event, { agent_type: found ?? DEFAULT_AGENT_TYPE });
  return { payload: decodeFields(event, fields), tool: null, isAccepted: found !== undefined };
}

function sampleOfTool(
  { eventName: event, matcher = '', config: { moment } }: HookRegistryEntry,
  accepts: (tool: string) => boolean,
): Sample {
  const known = [DEFAULT_TOOL, ...referenceToolNames];
  const found = [...known, ...namesFor(matcher)].find(accepts);
  const tool = found ?? DEFAULT_TOOL;
  const input = { file_path: 'example.txt', content: DEFAULT_PROMPT, command: 'true' };
  const given = { tool, input };
  const fields = makeFields(event, moment === 'failed' ? withFailure(given) : given);
  return {
    payload: decodeFields(event, fields, moment),
    tool,
    isAccepted: found !== undefined,
  };
}

/** The source, reason or trigger of an event, which the matchers of other agents are tested against. */
function sampleOfSubject(
  event: HookEventName,
  accepts: (subject: string | undefined) => boolean,
): Sample {
  const fields = completeFields(event, {});
  const payload = decodeFields(event, fields);
  const { subject: usual } = planContext({ event, payload }) ?? {};
  const found = [usual, ...(events[event].subjects ?? [])].find(accepts);
  if (found === undefined || found === usual) {
    return { payload, tool: null, isAccepted: accepts(usual) };
  }
  const field = Object.entries(fields).find(([, value]) => value === usual)?.[0] ?? '';
  const others = completeFields(event, { [field]: found });
  return { payload: decodeFields(event, others), tool: null, isAccepted: true };
}

/** What is wrong with a matcher is told with the settings, and once. */
export class QuietLogger extends DebugLogger {
  override warn(): void {}
}

const MAX_NAMES = 100;

/**
 * Names that a regular expression may match: each of its alternatives, with a letter in place of what stands for any. A
 * guess, which is tested.
 */
export function namesFor(expression: string): string[] {
  const open = [expression];
  const names: string[] = [];
  for (const each of open) {
    const group = /\((?:\?:)?([^()]*)\)[*+?]?/.exec(each);
    if (!group) names.push(...each.split('|').map(nameFor));
    else if (open.length < MAX_NAMES) {
      const [whole, inner = ''] = group;
      const before = each.slice(0, group.index);
      const after = each.slice(group.index + whole.length);
      open.push(...inner.split('|').map((part) => `${before}${part}${after}`));
    }
  }
  return names;
}

function nameFor(pattern: string): string {
  return pattern.replaceAll(
    /\\(.)[*+?]?|\[(\^?)([^\][])[^\][]*\][*+?]?|(\.)[*+?]?|[\^$*+?]/gu,
    (_, escaped?: string, not?: string, first?: string, any?: string) => {
      if (escaped !== undefined)
        return { w: 'x', S: 'x', d: '1', b: '', s: ' ' }[escaped] ?? escaped;
      if (first !== undefined) return not ? 'x' : first;
      return any === undefined ? '' : 'x';
    },
  );
}
