import type { ModelTurn } from '../core/modelCall.js';

/** What hooks decided, for hosts that carry plain data with an answer of the model. */
export interface HooksMark {
  /** The agent is to end: why. */
  readonly stopped?: string;
  /** The model was not asked, or what it said was dropped: why. */
  readonly blocked?: string;
  /** Names of the hooks that decided so. */
  readonly hooks?: readonly string[];
  /** The answer is a hook's. */
  readonly synthetic?: true;
  /** A hook asked to keep the answer from the user. */
  readonly suppressDisplay?: true;
}

/** What there is to say of a model call, if anything. */
export function markOf({ verdict, synthetic, suppressDisplay }: ModelTurn): HooksMark | undefined {
  const isRefusal = verdict.kind !== 'allow';
  const mark = {
    ...(verdict.kind === 'stop' && { stopped: verdict.reason }),
    ...(verdict.kind === 'block' && { blocked: verdict.reason }),
    ...(isRefusal && verdict.hooks && { hooks: [...verdict.hooks] }),
    ...(synthetic && { synthetic: true as const }),
    ...(suppressDisplay && { suppressDisplay: true as const }),
  };
  return Object.keys(mark).length > 0 ? mark : undefined;
}

/** Why there is no answer of the model; `undefined` where there is one, or a hook's. */
export function refusalOf({ blocked, synthetic, verdict }: ModelTurn): string | undefined {
  return blocked && !synthetic && verdict.kind !== 'allow' ? verdict.reason : undefined;
}

// Without their hosts, types of hosts are `any`, and the linter finds what is put together with them redundant: these say the same.
export type Either<A, B> = A | B;
export type Both<A, B> = A & B;
export type Maybe<T> = T | undefined;
