import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The checkout that this benchmark is part of. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * @param {string} checkout
 * @param {string} name of an entry of the package, such as `index.js`
 * @returns {string} its URL in the build of this checkout
 */
export function builtEntry(checkout, name) {
  return pathToFileURL(path.join(checkout, 'dist', name)).href;
}

/**
 * @param {string} checkout
 * @throws Error when it has not been built
 */
export function assertBuilt(checkout) {
  if (existsSync(new URL(builtEntry(checkout, 'index.js')))) return;
  throw new Error(
    `${checkout} is no checkout with a build: it has no dist/index.js. Run npm run build there, or name another`,
  );
}
