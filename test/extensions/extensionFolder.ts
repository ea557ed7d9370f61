import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { loadExtensions, type LoadedExtensions } from '../../src/extensions/extensions.js';
import { formatProblem } from '../../src/util/fileProblem.js';
import { useTempDir } from '../helpers/tempDir.js';

type Scope = 'project' | 'user';

/** A project and a home, whose extensions a test writes. */
export interface ExtensionFolders {
  readonly project: string;
  readonly home: string;
  /** Absolute path of an extension's folder. */
  folder(scope: Scope, name: string): string;
  /** Writes files of an extension, by their paths in its folder. */
  write(scope: Scope, name: string, files: Record<string, string | object>): Promise<void>;
  load(): Promise<LoadedExtensions>;
}

/** Makes a project and a home before each test of the file, and removes them afterwards. */
export function useExtensionFolders(): ExtensionFolders {
  const temp = useTempDir();
  const at = (scope: Scope) => path.join(temp.path, scope === 'project' ? 'project' : 'home');
  const folder = (scope: Scope, name: string) => path.join(at(scope), '.llxprt/extensions', name);
  return {
    get project() {
      return at('project');
    },
    get home() {
      return at('user');
    },
    folder,
    async write(scope, name, files) {
      for (const [file, content] of Object.entries(files)) {
        const target = path.join(folder(scope, name), file);
        await mkdir(path.dirname(target), { recursive: true });
        const text = typeof content === 'string' ? content : JSON.stringify(content);
        await writeFile(target, text, { mode: 0o644 });
      }
    },
    load: () => loadExtensions({ workingDir: at('project'), home: at('user') }),
  };
}

/** The problems as they are printed, the folder of all extensions cut off. */
export function problemLines({ problems }: LoadedExtensions): string[] {
  return problems.map((problem) =>
    formatProblem(problem).replace(/^.*?\.llxprt\/extensions\//, ''),
  );
}
