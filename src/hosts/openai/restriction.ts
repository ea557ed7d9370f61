import { whyNotAllowed, type Allowed } from '../allowed.js';
import type { NameOf } from './requests.js';
import type { Item, ModelRequest } from './types.js';

/** Whether the host would do something for an item of an answer. What the provider has done, is done. */
export function isCall({ type, name }: Item): boolean {
  if (type === 'hosted_tool_call') return name === 'mcp_approval_request';
  return type?.endsWith('_call') === true;
}

/**
 * Of an answer, what the host may act upon. Calls of functions stay, as these refuse by themselves. At a handoff, and for
 * tools that are no functions, the host asks nobody, and does what the model wants also where that was not offered.
 *
 * @returns what is left, and why the others are gone, as the model is to read it
 */
export function withinAllowed(
  output: readonly Item[],
  request: Pick<ModelRequest, 'tools' | 'handoffs'>,
  allowed: Allowed | undefined,
  nameOf: NameOf,
): { readonly left: Item[]; readonly refusals: string[] } {
  const left: Item[] = [];
  const refusals: string[] = [];
  for (const item of output) {
    const whys = namesOf(item, request, nameOf).map((name) => whyNotAllowed(name, allowed));
    const [why] = whys;
    if (why !== undefined && !whys.includes(undefined)) refusals.push(why);
    else left.push(item);
  }
  return { left, refusals };
}

/** What hooks know that by which the host would do for an item, without asking anybody. */
function namesOf(
  { type, name }: Item,
  { tools, handoffs }: Pick<ModelRequest, 'tools' | 'handoffs'>,
  nameOf: NameOf,
): string[] {
  if (type === 'function_call') {
    return handoffs.map(({ toolName }) => toolName).filter((each) => each === name);
  }
  return tools.filter((tool) => `${tool.type}_call` === type).map((tool) => nameOf(tool.name));
}
