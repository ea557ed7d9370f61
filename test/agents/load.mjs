// Parts of the package and of its tests, for scripts that Node runs without a build of them.
import path from 'node:path';
import { rolldown } from 'rolldown';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** @returns the exports of a file, whose name is relative to the root */
export async function load(name) {
  const input = path.join(ROOT, name);
  const bundle = await rolldown({ input, platform: 'node', external: /^[a-z@]/u });
  const file = path.join(ROOT, `coverage/live/${name}.mjs`);
  await bundle.write({ file });
  return import(file);
}
