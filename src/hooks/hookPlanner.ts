import { planEvent, type PlanContext, type Planner } from '../../middleware/planner.js';
import type { HookEventName, HookExecutionPlan } from '../protocol/types.js';
import { DebugLogger } from '../util/debugLogger.js';
import type { HookRegistry } from './hookRegistry.js';

/** Plans events over a registry. A plan for the same event and tool is made once. */
export class HookPlanner implements Planner {
  readonly #logger: DebugLogger;

  constructor(
    private readonly registry: HookRegistry,
    logger = new DebugLogger('llxprt:core:hooks:planner'),
  ) {
    this.#logger = DebugLogger.safe(logger);
  }

  /**
   * Which hooks run for an event.
   *
   * @param context the tool's name for tool events, nothing for others
   * @returns `null` when there is nothing to run
   */
  createExecutionPlan(event: HookEventName, context?: PlanContext): HookExecutionPlan | null {
    return planEvent(this.registry, this.#logger, event, context);
  }
}
