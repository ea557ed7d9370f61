import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Compiles the package into `directory`, for hosts that run as processes of their own. */
export async function compilePackage(directory: string): Promise<CompiledPackage> {
  await symlink(path.join(ROOT, 'node_modules'), path.join(directory, 'node_modules'));
  const manifest = {
    name: 'hookstack',
    version: '0.0.0',
    type: 'module',
    exports: { './*': './*' },
  };
  await writeFile(path.join(directory, 'package.json'), JSON.stringify(manifest));
  const out = path.join(directory, 'dist');
  const flags = ['--config', '--dir', out];
  await execa('rolldown', flags, { cwd: ROOT, preferLocal: true, localDir: ROOT });
  return { index: path.join(out, 'index.js'), cli: path.join(out, 'cli.cjs') };
}

/** Absolute paths. */
export interface CompiledPackage {
  readonly index: string;
  readonly cli: string;
}

/** The path of a script that plays a host. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}
