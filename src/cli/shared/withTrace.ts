import type { Config } from '../../config/config.js';
import type { FleetSettings } from '../../fleet/fleetSettings.js';
import { printNotice } from './terminal.js';

/** Where what happens is written to. */
export interface Recording {
  /** A file. */
  readonly trace: string | undefined;
  /** `fleet` of the settings. */
  readonly fleet: FleetSettings | undefined;
  /** Ms that what is left for the fleet may take in the end. Default 2000. */
  readonly flushMs?: number;
  /** Whether it is what a policy server does. Default false. */
  readonly isServer?: boolean;
}

const onProblem = (message: string) => printNotice('warning', message);

/** Does some work, and writes what happens meanwhile to a file, to the record of the fleet, to both or to none. */
export async function withTrace<T>(
  { trace, fleet, flushMs, isServer }: Recording,
  config: Pick<Config, 'getHookEnvironment'>,
  work: () => Promise<T>,
): Promise<T> {
  const environment = config.getHookEnvironment();
  const traces = trace ? await import('../../trace/traceFile.js') : undefined;
  const file = trace ? traces?.traceToFile(trace, { environment, onProblem }) : undefined;
  try {
    const fleets = fleet?.record ? await import('../../fleet/joinFleet.js') : undefined;
    const options = { environment, onProblem, flushMs, isServer };
    const joined = fleet && (await fleets?.joinFleet(fleet, options));
    try {
      return await work();
    } finally {
      await joined?.close();
    }
  } finally {
    file?.close();
  }
}
