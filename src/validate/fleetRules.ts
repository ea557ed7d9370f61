import { parseFleetAddress } from '../fleet/address.js';
import { withFiles } from '../fleet/files.js';
import { RECORD_NEEDS_NATS } from '../fleet/recordSubject.js';
import { fleetSettings, type FleetSettings } from '../fleet/fleetSettings.js';
import { errorMessage } from '../util/errorMessage.js';
import type { Checked, CheckedFile, Slip } from './types.js';

/** What says nothing of a server is reported by the loader. */
export function fleetAddress(checked: Checked): Slip[] {
  return fleetsOf(checked).flatMap(({ file, fleet }) => {
    const kind = kindOf(fleet);
    if (!(kind instanceof Error)) return [];
    const message = `the servers of the fleet cannot be reached: ${errorMessage(kind)}`;
    return { file, at: ['fleet', 'url'], message };
  });
}

export function fleetRecord(checked: Checked): Slip[] {
  return fleetsOf(checked).flatMap(({ file, fleet }) =>
    fleet.record === true && kindOf(fleet) === 'http'
      ? { file, at: ['fleet', 'record'], message: `has no effect: ${RECORD_NEEDS_NATS}` }
      : [],
  );
}

interface FleetSite {
  readonly file: CheckedFile;
  readonly fleet: FleetSettings & { readonly url: string };
}

/** Those that count: a project has none, and neither has an extension. */
function fleetsOf({ files }: Checked): FleetSite[] {
  return files.flatMap((file) => {
    if (file.source.scope === 'project' || file.extensionPath !== undefined) return [];
    const [, fleet] = fleetSettings.validate(file.value['fleet']);
    return fleet?.url === undefined ? [] : { file, fleet: { ...fleet, url: fleet.url } };
  });
}

function kindOf(fleet: FleetSite['fleet']): 'http' | 'nats' | Error {
  try {
    withFiles(fleet);
    // What a variable holds is known where the agent runs.
    return parseFleetAddress(fleet.url, () => 'name').kind;
  } catch (error) {
    return error as Error;
  }
}
