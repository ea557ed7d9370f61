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
}

/** Does some work, and writes what happens meanwhile to a file, to the record of the fleet, to both or to none. */
export function withTrace<T>(
  { trace, fleet, flushMs }: Recording,
  config: Config,
  work: () => Promise<T>,
): Promise<T> {
  const inFleet = () => (fleet?.record ? withFleet(fleet, flushMs, config, work) : work());
  return trace ? withFile(trace, config, inFleet) : inFleet();
}

async function withFile<T>(trace: string, config: Config, work: () => Promise<T>): Promise<T> {
  const { traceToFile } = await import('../../trace/traceFile.js');
  const file = traceToFile(trace, { environment: config.getHookEnvironment(), onProblem: warn });
  try {
    return await work();
  } finally {
    file.close();
  }
}

async function withFleet<T>(
  fleet: FleetSettings,
  flushMs: number | undefined,
  config: Config,
  work: () => Promise<T>,
): Promise<T> {
  const { joinFleet } = await import('../../fleet/joinFleet.js');
  const environment = config.getHookEnvironment();
  const membership = await joinFleet(fleet, { environment, onProblem: warn, flushMs });
  try {
    return await work();
  } finally {
    await membership.close();
  }
}

function warn(message: string): void {
  printNotice('warning', message);
}
