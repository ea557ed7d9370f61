import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { startRecordedModel } from '../agent/recordedServer.js';
import { ROOT } from './markdown.js';

/** What every call of the model is answered with. */
const ANSWER = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] } }] };
const MOST_CALLS = 10;

/** A directory in which `hookstack` and the SDK can be imported, and `hookstack` can be called. */
export class Workbench {
  /** What the last program printed, on stdout and stderr. */
  output = '';

  private constructor(private readonly root: string) {}

  static async create(): Promise<Workbench> {
    const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-test-')));
    const bench = new Workbench(root);
    for (const name of ['home', 'bin', 'work/node_modules/@google']) {
      await mkdir(path.join(root, name), { recursive: true });
    }
    const modules = path.join(root, 'work/node_modules');
    await symlink(ROOT, path.join(modules, 'hookstack'));
    await symlink(
      path.join(ROOT, 'node_modules/@google/genai'),
      path.join(modules, '@google/genai'),
    );
    await bench.write(
      '../bin/hookstack',
      `#!/usr/bin/env bash\nexec node '${ROOT}/dist/cli.cjs' "$@"\n`,
    );
    const call = JSON.stringify({ method: 'generateContentStream', response: [ANSWER] });
    await bench.write('../model.responses', `${call}\n`.repeat(MOST_CALLS));
    return bench;
  }

  /** Has the packages of a directory found, too. */
  async link(modules: string): Promise<void> {
    await symlink(modules, path.join(this.root, 'node_modules'));
  }

  /** Writes an executable file, and its directory, and returns its absolute path. */
  async write(file: string, content: string): Promise<string> {
    const target = path.join(this.root, 'work', file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content, { mode: 0o755 });
    return target;
  }

  /** Runs a program to its end. A model answers at the address that the environment names. */
  async run(program: string, args: readonly string[]): Promise<{ exitCode: number | undefined }> {
    const model = await startRecordedModel(path.join(this.root, 'model.responses'));
    try {
      // One pipe for both: through two, the order of the lines would be chance.
      const both = ['-c', 'exec "$0" "$@" 2>&1', program, ...args];
      const { stdout, exitCode } = await execa('sh', both, {
        cwd: path.join(this.root, 'work'),
        env: {
          HOME: path.join(this.root, 'home'),
          PATH: `${path.join(this.root, 'bin')}:${process.env['PATH']}`,
          GEMINI_API_KEY: model.apiKey,
          GOOGLE_API_KEY: undefined,
          GOOGLE_GEMINI_BASE_URL: model.baseUrl,
          HOOKSTACK_TRUST_WORKSPACE: undefined,
          NO_COLOR: '1',
        },
        stdin: 'ignore',
        reject: false,
      });
      this.output = stdout;
      return { exitCode };
    } finally {
      await model.close();
    }
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true });
  }
}
