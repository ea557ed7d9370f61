import { join } from 'node:path';
import { readBytes, reasonOf } from '../../../util/guardedRead.js';
import { errorCode } from '../../../util/errorMessage.js';
import { isInside, realPathOf } from '../../../util/paths.js';
import { isRecord } from '../../../util/records.js';
import { suggestName } from '../../../util/suggestName.js';
import { toOneLine } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';
import { faultIn, type Manifest, nameIn, parseManifest } from './manifests.js';

/** A plugin that a marketplace lists. */
export interface Offer {
  readonly name: string;
  readonly description: string;
  /** Absolute, without links; `undefined` for one that is elsewhere. */
  readonly folder: string | undefined;
  readonly place: Manifest;
  readonly at: number;
}

const FILE = '.claude-plugin/marketplace.json';

/**
 * What the marketplace in a folder offers; `undefined` where it is none.
 *
 * @throws UsageError for a file that is none, with its place
 */
export async function readMarketplace(root: string): Promise<readonly Offer[] | undefined> {
  const file = join(root, FILE);
  const bytes = await readBytes(file).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError(`${toOneLine(file)} is not read: ${reasonOf(error)}`);
  });
  if (!bytes) return undefined;
  const place = parseManifest(file, bytes);
  const { plugins, metadata } = place.value;
  if (!Array.isArray(plugins)) throw faultIn(place, ['plugins'], 'expected a list of plugins');
  const base = isRecord(metadata) ? metadata['pluginRoot'] : undefined;
  return plugins.map((entry: unknown, at) => {
    const { name, description, source } = isRecord(entry) ? entry : {};
    return {
      name: nameIn(place, ['plugins', at, 'name'], name),
      description: typeof description === 'string' ? toOneLine(description) : '',
      folder: typeof source === 'string' ? folderOf(place, at, root, base, source) : undefined,
      place,
      at,
    };
  });
}

function folderOf(place: Manifest, at: number, root: string, base: unknown, source: string) {
  const bases = typeof base === 'string' && !source.startsWith('./') ? [base] : [];
  const folder = join(root, ...bases, source);
  const real = realPathOf(folder);
  if (!isInside(folder, root) || (real !== undefined && !isInside(real, root))) {
    throw faultIn(place, ['plugins', at, 'source'], 'it leads out of the marketplace');
  }
  return real;
}

/** @throws UsageError for one that is not there */
export function offerNamed(offers: readonly Offer[], name: string): Offer & { folder: string } {
  const offer = offers.find((each) => each.name === name);
  if (!offer) {
    const names = offers.map((each) => each.name);
    const hint = suggestName(name, names);
    throw new UsageError(`There is no plugin "${toOneLine(name)}" here; ${toOneLine(hint)}`);
  }
  const { folder, place, at } = offer;
  if (folder !== undefined) return { ...offer, folder };
  const why = 'the plugin is not in this folder: get it, and add the folder where it is then';
  throw faultIn(place, ['plugins', at, 'source'], why);
}
