// node bareHook.mjs: what no persistent hook can be faster than. Answers a line with a line.
import { writeSync } from 'node:fs';

process.stdin.setEncoding('utf8').on('data', (line) => {
  const { id } = JSON.parse(line);
  const output = { decision: 'allow', reason: 'hook 1' };
  writeSync(1, `${JSON.stringify({ id, output })}\n`);
});
