import { AsyncLocalStorage } from 'node:async_hooks';
import { CliLogger } from '../shared/cliLogger.js';

/** What of an event the user of the agent is to read. */
interface Told {
  readonly messages: string[];
  /** Whether that is also which hooks are not allowed; else that would come again at every event. */
  readonly isAll: boolean;
}

const told = new AsyncLocalStorage<Told>();

/** Does some work for an event, and keeps in `messages` what the user of the agent is to read: agents show stderr to nobody. */
export function telling<T>(messages: string[], isAll: boolean, work: () => T): T {
  return told.run({ messages, isAll }, work);
}

/** Keeps what it warns of for the event that is being answered. */
export class HostLogger extends CliLogger {
  override warn(message: string, details?: object): void {
    super.warn(message, details);
    const event = told.getStore();
    if (event && (event.isAll || !this.#isRegistry)) event.messages.push(message);
  }

  override extend(part: string): HostLogger {
    return new HostLogger(`${this.namespace}:${part}`);
  }

  get #isRegistry(): boolean {
    return this.namespace.endsWith(':registry');
  }
}
