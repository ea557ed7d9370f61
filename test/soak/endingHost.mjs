// node endingHost.mjs HOOKS: runs hooks beside each other until somebody ends this host: by a signal, or by a word
// on stdin, `exit` or `throw`. Started by launchHost.mjs.
import { Config, executeToolWithHooks } from '../../dist/index.js';
import { CountingLogger } from './countingLogger.mjs';

/** Writes three pids: of a shell that ignores SIGTERM, of its child, and of a child that has left the group. */
const ENDLESS = `
  trap '' TERM; echo $$ >>"$PIDS"
  sleep 300 & echo $! >>"$PIDS"
  setsid sleep 300 & echo $! >>"$PIDS"
  wait`;

process.stdin.once('data', (word) => {
  if (String(word) === 'exit') process.exit(0);
  throw new Error('an error that nobody catches');
});

const config = new Config({
  enableHooks: true,
  debugLogger: new CountingLogger(),
  hooks: { BeforeTool: [{ hooks: [{ type: 'command', command: ENDLESS }] }] },
});
const call = () => executeToolWithHooks(config, 'any_tool', {}, refuse);
await Promise.all(Array.from({ length: Number(process.argv[2]) }, call));

async function refuse() {
  throw new Error('A hook that never ends has ended');
}
