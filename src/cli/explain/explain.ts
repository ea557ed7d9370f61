import { planContext } from '../../../middleware/planner.js';
import { events, isOfTool } from '../../protocol/events.js';
import { completeFields, decodeFields, requireNamedEvent } from '../shared/eventFields.js';
import { readFields } from '../fire/fireOptions.js';
import { callOf, explainEvent } from '../shared/explanation.js';
import { formatExplanation } from '../shared/explanationText.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { printJson, printLine, printNotice } from '../shared/terminal.js';
import { openWorkspace } from '../shared/workspace.js';

export async function explain(
  eventName: string,
  options: WorkspaceOptions & { readonly tool?: string; readonly input?: string },
): Promise<number> {
  const { event, moment } = requireNamedEvent(eventName);
  const workspace = await openWorkspace(options, { needsAllFiles: false });
  const hasTool = isOfTool(event);
  if (options.tool !== undefined && !hasTool) {
    printNotice('note', `--tool has no effect on ${event}`);
  }
  const context = hasTool
    ? { toolName: options.tool, moment }
    : events[event].matchOn
      ? {}
      : // What `fire` plans with when it is told nothing.
        planContext({ event, payload: decodeFields(event, completeFields(event, {})) });
  const { tool, input } = options;
  const fields =
    hasTool && input !== undefined ? await readFields(event, { tool, input }, moment) : undefined;
  const call = fields && callOf(workspace.config, event, decodeFields(event, fields, moment));
  const explanation = await explainEvent(workspace, event, context, call);
  if (options.json) printJson(explanation);
  else printLine(formatExplanation(explanation));
  return workspace.isIncomplete ? 2 : 0;
}
