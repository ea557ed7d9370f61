import type {
  Agent,
  DecideFinalOutput,
  FinalOutput,
  FunctionTool,
  McpServer,
  ToolOutcome,
} from './types.js';

const GO_ON: FinalOutput = { isFinalOutput: false, isInterrupted: undefined };

/** What an agent does with what its tools gave, without hooks. */
export function decideAs(
  behavior: Agent['toolUseBehavior'],
  context: object,
  outcomes: readonly ToolOutcome[],
): ReturnType<DecideFinalOutput> {
  if (typeof behavior === 'function') return behavior(context, outcomes);
  if (typeof behavior === 'object') {
    const { stopAtToolNames: names } = behavior;
    return asFinal(outcomes.find(({ tool }) => namesOf(tool).some((name) => names.includes(name))));
  }
  return behavior === 'stop_on_first_tool' ? asFinal(outcomes[0]) : GO_ON;
}

function namesOf({ name, namespace }: ToolOutcome['tool']): string[] {
  return namespace === undefined ? [name] : [name, `${namespace}.${name}`];
}

function asFinal(outcome: ToolOutcome | undefined): FinalOutput {
  if (outcome?.type !== 'function_output') return GO_ON;
  const { output } = outcome;
  const finalOutput =
    typeof output === 'string' ? output : (JSON.stringify(output) ?? String(output));
  return { isFinalOutput: true, isInterrupted: undefined, finalOutput };
}

/** The tools of one MCP server, each with the name that hooks know it by, whatever name the model reads. */
export async function mcpToolsOf(
  agent: Agent,
  mcpConfig: Agent['mcpConfig'],
  server: McpServer,
  given: unknown[],
): Promise<{ readonly tool: FunctionTool; readonly name: string }[]> {
  const list = (config: Agent['mcpConfig']) => {
    const part = { mcpServers: [server], mcpConfig: config };
    return Object.assign(Object.create(agent) as Agent, part).getMcpTools(...given);
  };
  const tools = await list(mcpConfig);
  const own = mcpConfig.includeServerInToolNames
    ? await list({ ...mcpConfig, includeServerInToolNames: false })
    : tools;
  return tools.map((tool, position) => ({
    tool,
    name: `mcp__${server.name}__${own[position]?.name ?? tool.name}`,
  }));
}
