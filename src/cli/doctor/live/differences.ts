import type { DialectName } from '../../../protocol/types.js';
import { DENIED } from './scenarios.js';

const NOBODY = `nobody can be asked: ${DENIED}`;
const NEXT = 'the next tool did not run';
const REFUSED = 'did not run; the agent ended';
const KEPT = 'ran; the agent ended';

/** What is seen instead, where an agent cannot do it. */
export const DIFFERENCES: {
  readonly [A in DialectName]?: Readonly<Record<string, string>>;
} = {
  claude: { redact: KEPT },
  gemini: {
    answered: NOBODY,
    // It tells a hook only at the end after the next one that it was sent back, where tools ran in between.
    again: 'went on more than once; the model read the reason',
    absent: 'did not run',
  },
  codex: {
    answered: NOBODY,
    stop: `${DENIED}; ${NEXT}`,
    stopAfter: `ran; the model read the reason, the output; ${NEXT}`,
  },
  qwen: {
    rewrite: 'did not run',
    redact: `ran; ${NEXT}`,
    answered: NOBODY,
    stop: `${DENIED}; ${NEXT}`,
    stopAfter: `ran; the model read the reason; ${NEXT}`,
    modes: `${DENIED} / did not run`,
  },
  copilot: {
    answered: NOBODY,
    stop: `${DENIED}; ${NEXT}`,
    stopAfter: `ran; the model read the reason, the output; ${NEXT}`,
    modes: 'there is no other',
    absent: 'did not run',
  },
  cline: {
    block: REFUSED,
    write: REFUSED,
    read: REFUSED,
    mcp: REFUSED,
    subagent: 'did not run',
    replace: KEPT,
    redact: KEPT,
    context: 'start 0, prompt 0',
    beside: REFUSED,
    fails: REFUSED,
    ask: REFUSED,
    answered: `nobody can be asked: ${REFUSED}`,
    prompt: 'ran; the model read the output',
    again: 'went on never',
    modes: 'there is no other',
  },
  opencode: {
    answered: NOBODY,
    again: 'went on never',
    absent: 'did not run',
  },
};
