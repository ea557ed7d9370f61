#!/usr/bin/env node
import { hookArguments } from './hook/hookArguments.js';
import { toVisible } from '../util/visible.js';
import { answerEvent } from './hook/lean.js';

const options = hookArguments(process.argv.slice(2));
// As CommonJS, which starts faster, this file cannot wait at its top.
if (options) answerEvent(options).then(end, endUnasked);
else void import('./program.js').then(({ main }) => main());

function end(exitCode: number): void {
  process.exitCode = exitCode;
}

/** Agents go on after any other exit code, and guards may not have been asked. */
function endUnasked(error: unknown): void {
  process.stderr.on('error', () => undefined);
  process.stderr.write(`The hooks could not be asked: ${toVisible(String(error))}\n`);
  process.exitCode = 2;
}
