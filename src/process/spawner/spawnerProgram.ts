import { fileURLToPath } from 'node:url';

/** The built program of the spawner, which stands beside the built file of this one. */
export const PROGRAM = fileURLToPath(new URL('spawner.cjs', import.meta.url));
