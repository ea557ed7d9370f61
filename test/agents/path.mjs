import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';

/** @returns the search path with the programs of agents that are installed here, and the Node that one of them needs */
export function withAgents() {
  const modules = path.join(import.meta.dirname, 'node_modules');
  const links = path.join(modules, '.cache/bin');
  mkdirSync(links, { recursive: true });
  const platform = `${process.platform}-${process.arch}`;
  const found = {
    // Its package finds the program by a script of its installation, which does not run here.
    claude: `@anthropic-ai/claude-code-${platform}/claude`,
    // The package of a platform links nothing.
    opencode: `opencode-${platform}/bin/opencode`,
  };
  for (const [name, file] of Object.entries(found)) {
    rmSync(path.join(links, name), { force: true });
    symlinkSync(path.join(modules, file), path.join(links, name));
  }
  return [links, path.join(modules, '.bin'), process.env.PATH].join(path.delimiter);
}
