import type { Difference } from '../conformance/conformance.js';
import { ONLY_TOLD } from './noMoments.js';

/** What nobody can keep from beginning goes on; what its tools do is denied. */
const BEGINS: Difference = {
  instead: 'it begins, and may not use tools',
  isSeen: ({ read, text }) => text === 'Done.' && read[0]?.hook_event_name === 'SubagentStart',
};

/** Moments of Claude Code, where it does otherwise. */
export const CLAUDE_MOMENTS: Readonly<Record<string, Difference>> = {
  modelRetry: ONLY_TOLD,
  modelRetryStream: ONLY_TOLD,
  subagent: {
    instead: 'the session that has started it, and not its prompt',
    isSeen: ({ read: [start, stop] }) =>
      start?.agent_type === 'helper' &&
      start.agent_id === stop?.agent_id &&
      stop?.['prompt_response'] === 'Found it.',
  },
  subagentBlock: BEGINS,
  subagentStop: BEGINS,
};
