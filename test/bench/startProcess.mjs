import { fork } from 'node:child_process';
import { once } from 'node:events';

/**
 * A process of its own for one subject, so that each has its own memory, garbage, and compiled code.
 *
 * @typedef {object} Host
 * @property {number} pid
 * @property {(request: string, options: object) => Promise<any>} ask rejects when a hook did not do its work
 * @property {() => Promise<void>} close ends the process
 */

/**
 * @param {string} file what it runs: a script that calls `answerRequests`
 * @param {readonly string[]} args of which the first names it
 * @param {string} cwd a directory, which is its home too
 * @returns {Promise<Host>}
 */
export async function startProcess(file, args, cwd) {
  const { HOOKSTACK_WARM_SHELLS: _, HOOKSTACK_SPAWNER: __, ...env } = process.env;
  const child = fork(file, args, {
    cwd,
    env: { ...env, HOME: cwd },
    execArgv: ['--expose-gc'],
  });
  const waiting = new Map();
  let requests = 0;
  child.on('message', ({ id, answer, error }) => {
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(`${args[0]}: ${error}`));
    else resolve(answer);
  });
  child.on('exit', (code, signal) => {
    const error = new Error(
      `The host of ${args[0]} ended too early: ${signal ?? `exit code ${code}`}`,
    );
    for (const { reject } of waiting.values()) reject(error);
  });
  const answerTo = (id) => new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  await answerTo('ready');
  return {
    pid: child.pid,
    ask(request, options) {
      requests += 1;
      const id = requests;
      const answer = answerTo(id);
      child.send({ id, request, options }, (error) => {
        if (error) waiting.get(id)?.reject(error);
      });
      return answer;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}
