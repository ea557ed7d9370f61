import type { Tool, ToolContext, ToolResult } from '../tools/tools.js';
import { oneOf } from '../util/checks.js';
import { errorMessage } from '../util/errorMessage.js';
import { checkArguments, describeParameters, nonEmptyText, optional } from './tools/parameters.js';
import { failed, ToolFailure } from './tools/toolFailure.js';
import { SUBAGENT_TOOL } from './tools/toolNames.js';

/** A kind of sub-agent that the model may start, through the tool `task`. */
export interface Subagent {
  /** What the model and matchers call it, such as `reviewer`; hooks read it as `agent_type`. */
  readonly name: string;
  /** Tells the model what it is for. */
  readonly description: string;
  /** Text that tells it who it is and what it is to do. Default: that of the agent. */
  readonly systemInstruction?: string;
  /** Its tools. Default: those of the agent. It starts no sub-agents. */
  readonly tools?: readonly Tool[];
  /** Name of its model. Default: that of the agent. */
  readonly model?: string;
  /** Model calls after which it gives up. Default: as many as the agent has. */
  readonly maxTurns?: number;
}

/** One that does any part of the work with the agent's own tools. */
export const referenceSubagents: readonly Subagent[] = [
  {
    name: 'general-purpose',
    description: 'Works on a part of the task with the same tools, and tells what it found or did.',
  },
];

/** @returns what the model reads; throws what goes wrong */
export type StartSubagent = (
  subagent: Subagent,
  prompt: string,
  signal: AbortSignal | undefined,
) => Promise<ToolResult>;

/** The tool that starts one of these, which are at least one. */
export function subagentTool(subagents: readonly Subagent[], start: StartSubagent): Tool {
  const parameters = parametersFor(subagents);
  const known = subagents.map(({ name, description }) => `- ${name}: ${description}`);
  const description = [
    'Starts a sub-agent with a history of its own, and gives its final answer. Kinds of sub-agents:',
    ...known,
  ].join('\n');
  const name = SUBAGENT_TOOL;
  return {
    name,
    declaration: { name, description, parametersJsonSchema: describeParameters(parameters) },
    async execute(input: Record<string, unknown>, { signal }: ToolContext) {
      try {
        const { prompt, subagent_type: kind } = checkArguments(name, parameters, input);
        const subagent = subagents.find((each) => each.name === kind) ?? subagents[0];
        return await start(subagent as Subagent, prompt, signal);
      } catch (error) {
        if (error instanceof ToolFailure) return error.result;
        signal?.throwIfAborted();
        const nextStep = 'Do the work yourself, or start it again with a smaller task.';
        return failed(`The sub-agent failed: ${errorMessage(error)}.`, nextStep).result;
      }
    },
  };
}

function parametersFor(subagents: readonly Subagent[]) {
  const kind = oneOf(...subagents.map(({ name }) => name));
  return {
    prompt: nonEmptyText('What it is to do, with all that it has to know.'),
    subagent_type: optional({ check: kind, description: 'Its kind. Default: the first one.' }),
    description: optional(nonEmptyText('The task in a few words, for the user.')),
  };
}
