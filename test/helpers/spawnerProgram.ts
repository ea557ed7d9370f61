import { fileURLToPath } from 'node:url';

/** What src/process/spawner/spawnerProgram.ts is in tests: the built program, whose place is not beside the sources. */
export let PROGRAM = fileURLToPath(new URL('../../dist/chunks/spawner.cjs', import.meta.url));

/** Has another program started in its place from now on. */
export function useSpawnerProgram(file: string): void {
  PROGRAM = file;
}
