import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** Makes a module of `test/fixtures` one that Node can run, beside the packages of this project. */
export async function buildFixture(file: string): Promise<{ program: string; directory: string }> {
  const dir = mkdtempSync(path.join(tmpdir(), 'fixture-'));
  const root = path.resolve(import.meta.dirname, '../..');
  symlinkSync(path.join(root, 'node_modules'), path.join(dir, 'node_modules'));
  const program = path.join(dir, 'program.mjs');
  const build = await rolldown({
    input: path.join(root, 'test/fixtures', file),
    platform: 'node',
    external: /^(?:node:|@?[a-z])/u,
  });
  await build.write({ file: program, format: 'esm', codeSplitting: false });
  await build.close();
  return { program, directory: dir };
}
