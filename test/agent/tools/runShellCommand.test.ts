import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runShellCommand } from '../../../src/agent/tools/runShellCommand.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { runTool, useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function run(command: string, more: Record<string, unknown> = {}) {
  return runTool(runShellCommand, { command, ...more }, workspace);
}

describe('run_shell_command', () => {
  it('gives output and exit code', async () => {
    expect(await run('echo out; echo err >&2')).toMatchObject({
      llmContent: [
        'Command: echo out; echo err >&2',
        'Directory: .',
        'Exit code: 0',
        'Stdout: out\n',
        'Stderr: err\n',
      ].join('\n'),
      returnDisplay: 'echo out; echo err >&2: exit code 0',
    });
  });

  it('does not call a non-zero exit code or a signal an error', async () => {
    const failed = await run('exit 3', { description: 'Build' });
    expect(failed.error).toBeUndefined();
    expect(failed.returnDisplay).toBe('Build: exit code 3');
    expect(failed.llmContent).toContain('Exit code: 3');

    const killed = await run('kill -KILL $$');
    expect(killed.error).toBeUndefined();
    expect(killed.llmContent).toContain('Exit code: (none)\nSignal: SIGKILL');
  });

  it('runs in a directory, under either name of the argument', async () => {
    await workspace.write('src/a.txt', '');
    for (const name of ['directory', 'dir_path']) {
      const { llmContent } = await run('pwd', { [name]: 'src' });
      expect(llmContent).toContain(`Stdout: ${path.join(workspace.workingDir, 'src')}\n`);
      expect(llmContent).toContain('Directory: src');
    }
  });

  it('refuses a directory that does not exist', async () => {
    expect((await run('pwd', { directory: 'no' })).error?.message).toBe('no does not exist.');
  });

  it('has nothing on standard input', async () => {
    expect((await run('cat; echo end')).llmContent).toContain('Stdout: end\n');
  });

  it('keeps the beginning of a long output', async () => {
    const { llmContent } = await run('head -c 3000000 /dev/zero | tr "\\0" x; exit 4');
    expect(llmContent).toContain('Exit code: 4');
    expect(llmContent).toContain('only its beginning was kept');
    expect(llmContent.length).toBeLessThan(1024 * 1024 + 1000);
  });

  it('does not wait for a background process that holds the output', async () => {
    const { llmContent } = await run('echo started; sleep 300 & echo $!');
    expect(llmContent).toMatch(/Stdout: started\n\d+/);
    expect(llmContent).toContain('A background process still held the output');
    const pid = Number(/started\n(\d+)/.exec(llmContent)?.[1]);
    await vi.waitFor(() => expect(isRunning(pid)).resolves.toBe(false), { timeout: 10_000 });
  }, 20_000);

  it('ends the command and its children when it is cancelled', async () => {
    const controller = new AbortController();
    const result = runShellCommand.execute(
      { command: 'sleep 300 & echo $! > pid; wait' },
      { workingDir: workspace.workingDir, signal: controller.signal },
    );
    const pid = await vi.waitFor(async () => {
      const written = await workspace.read('pid');
      expect(written).toMatch(/^\d+\n$/);
      return Number(written);
    });
    controller.abort();
    expect((await result).error?.type).toBe(ToolErrorType.Cancelled);
    await vi.waitFor(() => expect(isRunning(pid)).resolves.toBe(false));
  });

  it('gives a result when the shell cannot be started', async () => {
    const { error, llmContent } = await run('echo \0');
    expect(error?.type).toBe(ToolErrorType.Failed);
    expect(error?.message).toContain('the shell could not be started');
    expect(llmContent).toContain('then try again');
  });

  it('keeps the user line short and free of control characters', async () => {
    const { returnDisplay } = await run(`true \u001b[31m ${'x'.repeat(500)}\ntrue`);
    expect(returnDisplay.length).toBeLessThan(110);
    expect(returnDisplay).not.toMatch(/\p{Cc}/u);
  });
});

/** Whether a process exists and is not a zombie. */
async function isRunning(pid: number): Promise<boolean> {
  const status = await fs.readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return status !== undefined && !/\) Z /.test(status);
}
