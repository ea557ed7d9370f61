import { resolveOutput } from '../protocol/events.js';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { hookIdentity } from '../protocol/identity.js';
import { sanitizeText } from '../protocol/sanitizeText.js';
import type { CallSession, CommandHookConfig, HookEventName } from '../protocol/types.js';
import type { Answer, ApprovalRequest } from '../protocol/approval.js';
import type { AskOptions, Question } from './approvals.js';

/** What a person is asked about. */
export type Subject = Pick<ApprovalRequest, 'toolName' | 'callId' | 'input' | 'originalInput'>;

/** Puts to a person what hooks ask. Never rejects: whatever goes wrong is a no. */
export type AskPerson = (
  event: HookEventName,
  aggregated: AggregatedHookResult,
  subject: Subject,
  options: AskOptions,
) => Promise<Answer>;

/** What a question says of the host. */
export interface AskingHost {
  getSessionId(): string;
  getWorkingDir(): string;
  /** Where a hook was configured. */
  sourceOf(hook: CommandHookConfig): string;
}

/** Whether the hooks of an event, taken together, want a person to be asked. */
export function isAsking({ finalOutput }: AggregatedHookResult): boolean {
  return finalOutput?.decision === 'ask' && !finalOutput.shouldStopExecution();
}

/** Hooks of one event that ask are one question. */
export function questionOf(
  event: HookEventName,
  { results }: AggregatedHookResult,
  subject: Subject,
  host: AskingHost,
  session: CallSession | undefined,
): Question {
  const asking = results.flatMap(({ hookConfig, output, policy, decidedBy }) => {
    const said = output && resolveOutput(event, output);
    return said?.decision === 'ask' ? [{ hookConfig, policy, decidedBy, reason: said.reason }] : [];
  });
  return {
    ...subject,
    event,
    hooks: asking.map(({ hookConfig, policy, decidedBy, reason }) => ({
      name: hookIdentity(hookConfig),
      source: host.sourceOf(hookConfig),
      ...(reason !== undefined && { reason: sanitizeText(reason) }),
      ...(policy !== undefined && { policy }),
      ...(decidedBy && { decidedBy }),
    })),
    definitions: asking.map(({ hookConfig }) => hookConfig),
    isGuarded: asking.some(({ hookConfig }) => hookConfig.onFailure === 'deny'),
    sessionId: session?.sessionId ?? host.getSessionId(),
    workingDir: session?.cwd ?? host.getWorkingDir(),
    ...(session?.agent !== undefined && { agent: session.agent }),
  };
}

/** Why the operation does not go on, for the model to read. */
export function refusalOf({ source, reason }: Answer): string {
  const because = reason ? `: ${reason}` : '';
  if (source === 'person') return `A person was asked, and said no${because}`;
  return `It needs the consent of a person, which was not given${because}`;
}
