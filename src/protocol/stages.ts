/** The stages of each stack, from the outside in. Custom middleware is placed relative to these names. */
export const STAGES = {
  tool: ['beforeTool', 'afterTool', 'execute'],
  model: ['beforeToolSelection', 'beforeModel', 'afterModel', 'openStream'],
  hook: ['enablementGate', 'planner', 'translator', 'runner', 'aggregator'],
} as const;

export type StackName = keyof typeof STAGES;

/** The stacks, in the order in which they are listed. */
export const STACK_NAMES = Object.keys(STAGES) as StackName[];

export type StageName<S extends StackName = StackName> = (typeof STAGES)[S][number];

/** Where a custom middleware stands; without a position it is outermost, after those registered earlier. */
export interface Position<S extends StackName = StackName> {
  /** Shown in lists and messages; the function's own name where it is missing. */
  readonly name?: string;
  readonly before?: StageName<S>;
  readonly after?: StageName<S>;
  /** Whether the operation is blocked when the middleware fails. Default: it goes on without the middleware. */
  readonly policy?: boolean;
  /** Ms that the middleware may take for itself, for one call, without what `next()` takes. Default 60,000. */
  readonly deadlineMs?: number;
}
