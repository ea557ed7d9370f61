import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PYTHON } from './python.mjs';
import { listScenarios } from './scenarios.mjs';

/**
 * Starts what nobody can be faster than: a small process that runs the same scripts by `posix_spawn`, or sends as many
 * lines through a pipe, and does nothing else.
 *
 * @param {string} cwd as of `startHost`
 * @returns {Promise<import('./startHost.mjs').Host>} stays small, whatever it is asked to take
 */
export async function startFloor(cwd) {
  const child = spawn(PYTHON, [fileURLToPath(new URL('scripts/floor.py', import.meta.url))], {
    cwd,
    env: { ...process.env, HOME: cwd },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
  const opened = new Map();
  const requests = {
    open: async ({ name, scenario }) => opened.set(name, listScenarios()[scenario].floor),
    fill: async ({ residentMiB, copiedMiB }) => residentMiB ?? copiedMiB,
    measure: async ({ name }) => {
      child.stdin.write(`${JSON.stringify(opened.get(name))}\n`);
      const { value } = await answers.next();
      if (value === undefined) throw new Error('The process that measures the floor has failed');
      return Number(value);
    },
  };
  return {
    ask: (request, options) => requests[request](options),
    async close() {
      const exited = once(child, 'exit');
      child.stdin.end();
      await exited;
    },
  };
}
