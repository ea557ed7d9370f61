import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { requireKnown, type OptionNames } from '../util/requireKnown.js';
import { HookDecisionError, hookModel, type ModelHost } from './openai/model.js';
import { coverAgent, HookedTools, runsUncovered } from './openai/tools.js';
import type {
  Agent,
  AnyTool,
  DecideFinalOutput,
  FinalOutput,
  FunctionTool,
  Handoff,
  McpServer,
  Model,
  ModelProvider,
  ToolOutcome,
} from './openai/types.js';
import {
  ADAPTER_OPTIONS,
  installedVersion,
  requireVersion,
  tellUncovered,
  type AdapterOptions,
} from './shared.js';

export { HookDecisionError } from './openai/model.js';

/** What `withHooks` takes. `agent` of the session is by default the name of the agent. */
export interface WithHooksOptions extends AdapterOptions {
  /** What finds the models that agents have by name, or by default, such as `new OpenAIProvider()`. */
  readonly modelProvider?: { getModel(name?: string): object } | undefined;
  /** Called when hooks end a run; `finalOutput` is then this reason, or what the model has said. */
  readonly onStop?: ((reason: string) => void) | undefined;
}

const OPTIONS: OptionNames<WithHooksOptions> = {
  ...ADAPTER_OPTIONS,
  modelProvider: true,
  onStop: true,
};

/** Any `Agent` of the OpenAI Agents SDK. */
export interface AnyAgent {
  readonly name: string;
  readonly tools: readonly { readonly type: string; readonly name: string }[];
  readonly handoffs: readonly object[];
  clone(changes: never): unknown;
}

/**
 * An agent with hooks around its tools and its model's calls, and around those of all agents that it hands over to.
 *
 * @returns a copy; what is given stays without hooks
 * @throws TypeError for an option that does not exist, and where an agent has its model by name and there is no
 *   `modelProvider`
 * @throws Error for a version of the SDK that is not supported; with `strict`, for a tool that cannot be covered
 */
export function withHooks<A extends AnyAgent>(
  config: Config,
  agent: A,
  options: WithHooksOptions = {},
): A {
  requireKnown('withHooks()', options, OPTIONS);
  const version = installedVersion('@openai/agents') ?? installedVersion('@openai/agents-core');
  requireVersion('hookstack/openai', '@openai/agents', version, ['0.20']);
  return new HookedAgents(config, options).hook(agent as unknown as Agent) as unknown as A;
}

/** The agents of one call of `withHooks`. */
class HookedAgents {
  readonly #copies = new Map<Agent, Agent>();
  readonly #tools: HookedTools;

  constructor(
    readonly config: Config,
    readonly options: WithHooksOptions,
  ) {
    this.#tools = new HookedTools(config);
  }

  hook(agent: Agent): Agent {
    const known = this.#copies.get(agent);
    if (known) return known;
    const copy = agent.clone({});
    // Agents may hand over to each other.
    this.#copies.set(agent, copy).set(copy, copy);
    this.#install(agent, copy);
    return copy;
  }

  #install(agent: Agent, copy: Agent): void {
    const { onHooks, onApproval, session } = this.options;
    const options = { onHooks, onApproval, session: { agent: agent.name, ...session } };
    const getAllTools = copy.getAllTools.bind(copy);
    const hook = <T extends AnyTool>(tool: T, name?: string) => {
      this.#tellOfAgent(tool);
      return this.#tools.hook(tool, options, name);
    };
    copy.tools = copy.tools.map((tool) => hook(tool));
    for (const tool of copy.tools) this.#tellUncovered(tool);
    copy.model = this.#hookModel(agent, options);
    copy.handoffs = copy.handoffs.map((handoff) => this.#hookHandoff(handoff));
    copy.toolUseBehavior = this.#stopping(agent);
    // `this` may be a part of an agent, as in `mcpToolsOf`.
    copy.getMcpTools = async function getMcpTools(this: Agent, ...given) {
      const tools = await Promise.all(
        this.mcpServers.map((server) => mcpToolsOf(agent, this.mcpConfig, server, given)),
      );
      return tools.flat().map(({ tool, name }) => hook(tool, name));
    };
    // Tools may be added later.
    copy.getAllTools = async (...given) => (await getAllTools(...given)).map((tool) => hook(tool));
    const asTool = copy.asTool.bind(copy);
    copy.asTool = (wanted) => coverAgent(asTool(wanted), agent.name, this.config, options);
    // A copy that the host makes of the copy would lose the functions above.
    copy.clone = (changes) => this.hook(agent.clone(changes));
  }

  #hookModel(agent: Agent, options: CallOptions): Model {
    const { name, model, prompt } = agent;
    // A stored prompt may say which model it is.
    const isKnown = !agent.hasExplicitModelSettings() && (model !== '' || prompt === undefined);
    const host: ModelHost = {
      tools: this.#tools,
      options,
      defaults: isKnown ? agent.modelSettings : {},
      onRequest: ({ tools }) => {
        for (const tool of tools) this.#tellUncovered(tool);
      },
      onStop: (reason) => this.options.onStop?.(reason),
    };
    if (typeof model === 'object') return hookModel(host, '', () => model, model);
    const provider = this.options.modelProvider as ModelProvider | undefined;
    if (provider) return hookModel(host, model, () => provider.getModel(model || undefined));
    throw new TypeError(
      `The agent "${name}" has its model by name, so hooks would not see its calls: pass \`modelProvider\` to withHooks(), such as new OpenAIProvider(), or give the agent a model`,
    );
  }

  #hookHandoff(handoff: Agent | Handoff): Agent | Handoff {
    if (!('onInvokeHandoff' in handoff)) return this.hook(handoff);
    return handoff.clone({
      agent: this.hook(handoff.agent),
      onInvokeHandoff: async (context: object, args: string) =>
        this.hook(await handoff.onInvokeHandoff(context, args)),
    });
  }

  /** What hooks stopped is over; else the agent goes on as it would. */
  #stopping(agent: Agent): DecideFinalOutput {
    return (context, outcomes) => {
      const reason = this.#tools.takeStop(context);
      if (reason === undefined) return decideAs(agent.toolUseBehavior, context, outcomes);
      this.options.onStop?.(reason);
      if (agent.outputType !== 'text') throw new HookDecisionError('stop', reason);
      return { isFinalOutput: true, isInterrupted: undefined, finalOutput: reason };
    };
  }

  /** The SDK keeps to itself which agent a tool runs, so that nobody can give it hooks afterwards. */
  #tellOfAgent(tool: AnyTool): void {
    if (!runsUncovered(tool)) return;
    tellUncovered(
      this.config,
      `hookstack/openai: no hooks run inside of the tool "${tool.name}": it runs an agent, whose own tools and model hooks do not see. Give that agent hooks first: withHooks(config, agent).asTool(…)`,
      this.options.strict,
    );
  }

  /** A tool may be one that the host found meanwhile, so the model's request is looked at as well. */
  #tellUncovered(tool: AnyTool): void {
    if (this.#tools.isHooked(tool)) return;
    tellUncovered(
      this.config,
      `hookstack/openai: no hooks run for the tool "${tool.name}" (${tool.type}): it is not a function of the agent, so the SDK does not let anybody stand around it. Offer a function tool in its place, or take it away`,
      this.options.strict,
    );
  }
}

const GO_ON: FinalOutput = { isFinalOutput: false, isInterrupted: undefined };

/** What an agent does with what its tools gave, without hooks. */
function decideAs(
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
async function mcpToolsOf(
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
