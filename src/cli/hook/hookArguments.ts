import { readSender, type Sender } from '../../protocol/names.js';

export interface HookOptions extends Sender {
  readonly cwd?: string;
  /** Who says so, where that is no option: for messages. */
  readonly cwdSource?: string | undefined;
  readonly settings?: string;
  readonly trust?: boolean;
  readonly trace?: string;
}

/** Reads `hook --from NAME` without what reads all other command lines, which takes too long to load for each event. */
export function hookArguments(args: readonly string[]): HookOptions | undefined {
  const [command, option = '', value, ...others] = args;
  if (command !== 'hook' || option !== '--from' || others.length > 0) return undefined;
  const sender = readSender(value ?? '');
  if (!sender) return undefined;
  const trace = process.env['HOOKSTACK_TRACE'];
  return { ...sender, ...(trace && { trace }) };
}
