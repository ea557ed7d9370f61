import { notAllowed } from '../core/coreToolScheduler.js';
import type { ModelTurn } from '../core/modelCall.js';
import { allowedNames } from '../protocol/allowedTools.js';
import type { ToolResult } from '../tools/tools.js';

/** An answer of the model, as far as its calls of tools may still run. */
interface Answer {
  /** `undefined` where hooks have not restricted the tools. */
  readonly allowed: readonly string[] | undefined;
  /** How often each call has not begun yet, by its id. */
  readonly left: Map<string, number>;
}

/** More conversations than go on at a time. Of an answer with any number of calls, all are remembered. */
const MAX_ANSWERS = 1000;

/**
 * What the model is to read in place of a tool that hooks have not allowed. The one rule for all adapters.
 *
 * @param name the tool that would run, whatever the model has called it
 * @param allowed `undefined` without a restriction
 */
export function refusalOf(
  name: string,
  allowed: readonly string[] | undefined,
): ToolResult | undefined {
  return !allowed || allowed.includes(name) ? undefined : notAllowed(name, allowed);
}

/**
 * Remembers which tools hooks have allowed for the calls of an answer, where the host keeps nothing that could say so. What
 * is allowed counts for as long as a call may run, and for each time that it does. A call that is not known, as its id is
 * another one or too many answers came since, has to be allowed by each answer that is still open.
 */
export class AllowedCalls {
  readonly #answers = new Set<Answer>();
  readonly #byId = new Map<string, readonly Answer[]>();
  /** What each answer has allowed that was forgotten while calls of it were left. */
  #forgotten: readonly string[] | undefined;

  /** Takes the calls of an answer. */
  note({ request }: Pick<ModelTurn, 'request'>, ids: readonly string[]): void {
    if (ids.length === 0) return;
    const answer: Answer = { allowed: allowedNames(request), left: new Map() };
    for (const id of ids) answer.left.set(id, (answer.left.get(id) ?? 0) + 1);
    this.#answers.add(answer);
    for (const id of answer.left.keys()) {
      // An id that comes again means another call, once all that had it have begun.
      const others = this.#byId.get(id)?.filter(({ left }) => (left.get(id) ?? 0) > 0) ?? [];
      this.#byId.set(id, [...others, answer]);
    }
    const [oldest] = this.#answers;
    if (oldest && this.#answers.size > MAX_ANSWERS) this.#forget(oldest);
  }

  /**
   * A call begins. Gives what the model is to read in its place, if it must not run.
   *
   * @param carried what the call itself says to be allowed, where the host has kept that
   */
  begin(id: string | undefined, name: string, carried?: readonly string[]): ToolResult | undefined {
    const known = id === undefined ? undefined : this.#byId.get(id);
    const others = carried ? [] : this.#stillOpen();
    const lists = [carried, ...(known?.map(({ allowed }) => allowed) ?? others)];
    const next = id !== undefined && known?.find(({ left }) => (left.get(id) ?? 0) > 0);
    if (next) next.left.set(id, (next.left.get(id) ?? 0) - 1);
    for (const allowed of lists) {
      const refusal = refusalOf(name, allowed);
      if (refusal) return refusal;
    }
    return undefined;
  }

  #stillOpen(): (readonly string[] | undefined)[] {
    return [this.#forgotten, ...[...this.#answers].filter(isOpen).map(({ allowed }) => allowed)];
  }

  #forget(answer: Answer): void {
    const { allowed } = answer;
    this.#answers.delete(answer);
    for (const id of answer.left.keys()) {
      const others = this.#byId.get(id)?.filter((each) => each !== answer) ?? [];
      if (others.length > 0) this.#byId.set(id, others);
      else this.#byId.delete(id);
    }
    if (!allowed || !isOpen(answer)) return;
    this.#forgotten = this.#forgotten?.filter((name) => allowed.includes(name)) ?? allowed;
  }
}

function isOpen({ left }: Answer): boolean {
  return [...left.values()].some((count) => count > 0);
}
