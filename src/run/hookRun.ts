import type { CommandOutcome } from '../process/command/outcome.js';
import type { ServerWord } from '../protocol/hookOutput.js';
import type { CallFacts } from '../protocol/events.js';
import type { TextBound } from '../protocol/sanitizeText.js';
import type { Stdin } from './preparedInput.js';
import type {
  CommandHookConfig,
  ForeignEffects,
  HookEventName,
  HookInput,
} from '../protocol/types.js';

/** What a hook that has ended said: what its answer is read from. */
export interface RawAnswer extends Pick<
  CommandOutcome,
  'ending' | 'exitCode' | 'stdout' | 'stderr'
> {
  /** What the format of `stdout` has no words for. */
  readonly foreign?: ForeignEffects;
  /** Of a remote hook. */
  readonly server?: ServerWord;
  /** What the hook's author calls the fields of `stdout` that have another name there: path → path. */
  readonly theirNames?: Readonly<Record<string, string>>;
}

/** One hook on its way to its process and back. */
export interface HookRun {
  readonly hook: CommandHookConfig;
  readonly event: HookEventName;
  /** What the hook is to know, in our own format. */
  readonly input: HookInput;
  /** What is known of the call besides what hooks of ours read. */
  readonly facts: CallFacts;
  /** How long what it says may be, where it is not as long as by default. */
  readonly textBound?: TextBound | undefined;
  /** Ms until the process is ended. */
  readonly timeoutMs: number;
  /** Tells the user something about this hook. */
  readonly warn: (message: string) => void;
  /** The same, once in a session: for what would be said each time the hook runs. */
  readonly warnOnce: (message: string) => void;
  /**
   * The bytes that the process reads; in our own format, unless a middleware replaced them. Where there are none,
   * nothing is started.
   */
  stdin: Stdin;
  /** What became of the process; written by the innermost layer. */
  outcome?: CommandOutcome;
  /** What the hook said in our own format, where that is not what its process wrote. */
  said?: RawAnswer;
}
