import type { Config } from '../../../src/config/config.js';
import { MessageBusType } from '../../../src/confirmation-bus/types.js';
import type { HookExecutionResponse } from '../../../src/confirmation-bus/types.js';
import {
  withToolInput,
  withToolOutput,
  type DefaultHookOutput,
} from '../../../src/protocol/hookOutput.js';
import { HookEventName } from '../../../src/protocol/types.js';
import { resultOf } from './engine.js';
import { checkGuards, compare, compareOffers, type Outcome } from './judge.js';
import { type HostileSet, type ModelCallOf } from './sets.js';
import type { World } from './worlds.js';

let ids = 0;

async function ask(
  world: World,
  config: Config,
  eventName: HookEventName,
  input: Record<string, unknown>,
): Promise<Partial<DefaultHookOutput>> {
  const bus = world.buses.get(config);
  if (!bus) throw new Error('The host has no bus');
  const correlationId = `question ${(ids += 1)}`;
  const answered = new Promise<HookExecutionResponse>((resolve) => {
    const end = bus.subscribe(MessageBusType.HOOK_EXECUTION_RESPONSE, (response) => {
      if (response.correlationId !== correlationId) return;
      void end();
      resolve(response);
    });
  });
  bus.publish({ type: MessageBusType.HOOK_EXECUTION_REQUEST, eventName, input, correlationId });
  const { output, error } = await answered;
  if (error) throw new Error(error.message);
  return output?.finalOutput ?? {};
}

const isRefused = ({ decision, continue: goesOn }: Partial<DefaultHookOutput>) =>
  goesOn === false || decision === 'deny' || decision === 'block';

/** A host that runs tools, and asks over the bus. */
async function run(
  world: World,
  config: Config,
  set: HostileSet,
  { name, args }: ModelCallOf,
): Promise<Outcome> {
  world.play(config, set);
  const call = { tool_name: name, tool_input: args };
  const before = await ask(world, config, HookEventName.BeforeTool, call);
  const input = withToolInput({ ...args }, before);
  const isStopped = before.continue === false;
  const isUnwanted = before.decision === 'ask' && JSON.stringify(input).includes('never');
  if (isRefused(before) || isUnwanted) {
    return { ran: [], read: '', shown: '', isHidden: false, isStopped };
  }
  const { llmContent, returnDisplay, error } = resultOf(set);
  const tool_response = { llmContent, returnDisplay, ...(error && { error }) };
  const after = await ask(world, config, HookEventName.AfterTool, {
    ...call,
    tool_input: input,
    tool_response,
  });
  const { foreign, suppressOutput = false, continue: goesOn } = after;
  const given = foreign?.toolOutput
    ? withToolOutput(tool_response, foreign.toolOutput)
    : tool_response;
  return {
    ran: [{ name, args: input }],
    read: JSON.stringify([given, after.hookSpecificOutput?.['additionalContext']]),
    shown: suppressOutput ? '' : given.returnDisplay,
    isHidden: suppressOutput,
    isStopped: goesOn === false,
  };
}

/** A call of a tool, of whose hooks somebody else asks over the message bus. */
export async function checkBus(world: World, set: HostileSet): Promise<void> {
  const again = (ran: unknown) => run(world, world.alone, set, ran as ModelCallOf);
  const all = await run(world, world.all, set, set.call);
  checkGuards(world.shape, set, all);
  await compare(all, () => again(set.call), again, world.shape.sequential);
  const offers = async (config: Config) => {
    world.play(config, set);
    const llm_request = { model: 'm', contents: [] };
    const said = await ask(world, config, HookEventName.BeforeToolSelection, { llm_request });
    const { mode, allowedFunctionNames } = (said.hookSpecificOutput?.['toolConfig'] ?? {}) as {
      readonly mode?: string;
      readonly allowedFunctionNames?: readonly string[];
    };
    return mode === 'NONE' ? [] : allowedFunctionNames;
  };
  compareOffers(await offers(world.all), await offers(world.alone));
}
