import { mkdir, mkdtemp, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, relative } from 'node:path';

/** An empty directory to run hooks in, so that what they do through relative paths does not reach the project. */
export class ScratchProject {
  private constructor(
    readonly path: string,
    private readonly project: string,
  ) {}

  /** @param project absolute path of the real one */
  static async create(project: string): Promise<ScratchProject> {
    return new ScratchProject(await realpath(await mkdtemp(join(tmpdir(), 'hookstack-'))), project);
  }

  /** Links the files that a command names relative to the project, such as its script. */
  async linkFilesOf(command: string): Promise<void> {
    for (const word of command.match(/[^\s'"`;&|()<>$={}]+/gu) ?? []) {
      const file = join(this.project, word);
      const inProject = relative(this.project, file);
      if (isAbsolute(word) || inProject === '' || inProject.startsWith('..')) continue;
      const isFile = await stat(file).then(
        (stats) => stats.isFile(),
        () => false,
      );
      if (!isFile) continue;
      const link = join(this.path, inProject);
      await mkdir(dirname(link), { recursive: true });
      await symlink(file, link).catch(ignoreExisting);
    }
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
