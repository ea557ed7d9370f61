import { CliLogger } from '../shared/cliLogger.js';

/** Keeps what the user of the agent is to read: agents show stderr to nobody. */
export class HostLogger extends CliLogger {
  constructor(
    namespace: string,
    /** Whether the user is to read as well which hooks are not allowed; else that would come again at every event. */
    private readonly tellsAll: boolean,
    readonly told: string[] = [],
  ) {
    super(namespace);
  }

  override warn(message: string, details?: object): void {
    super.warn(message, details);
    this.told.push(message);
  }

  /** What is on stderr already. */
  tell(message: string): void {
    this.told.push(message);
  }

  override extend(part: string): HostLogger {
    const told = part === 'registry' && !this.tellsAll ? [] : this.told;
    return new HostLogger(`${this.namespace}:${part}`, this.tellsAll, told);
  }
}
