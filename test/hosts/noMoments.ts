import type { Difference, MomentScenarioName } from '../conformance/conformance.js';

const MOMENTS = /^(?:ToolBatchEnd|ModelError|Subagent\w+)$/;

const NO_MOMENT: Difference = {
  instead: 'no such moment',
  isSeen: ({ read, sent }) =>
    sent.length > 0 && !read.some(({ hook_event_name: name }) => MOMENTS.test(name)),
};

/** For a host that lets nobody stand at these moments. */
export function without(...names: readonly MomentScenarioName[]): Record<string, Difference> {
  return Object.fromEntries(names.map((name) => [name, NO_MOMENT]));
}

/** Of a host without sub-agents. */
export const NO_SUBAGENTS = without(
  'subagent',
  'subagentInside',
  'subagentBlock',
  'subagentStop',
  'subagentBack',
);

/** Hooks are told that the model has failed, and the host does not let anybody ask it again. */
export const ONLY_TOLD: Difference = {
  instead: 'it is told, and not made again',
  isSeen: ({ read, sent }) =>
    sent.length === 1 && read.length === 1 && read[0]?.hook_event_name === 'ModelError',
};
