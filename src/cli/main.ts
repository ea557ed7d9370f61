#!/usr/bin/env node
import path from 'node:path';
import { loadCompiled } from './hook/compiled.js';
import type * as Hook from './hook/runHooks.js';
import { hookArguments } from './hook/hookArguments.js';
import { toVisible } from '../util/visible.js';

const options = hookArguments(process.argv.slice(2));
// As CommonJS, which starts faster, this file cannot wait at its top.
if (options) void answer(options);
else void import('./program.js').then(({ main }) => main());

/** An agent waits at each event: what answers it is one file, without what reads command lines. */
async function answer(from: NonNullable<typeof options>): Promise<void> {
  try {
    const hook = loadCompiled(path.join(import.meta.dirname, 'hook.cjs'));
    const { runHooks } = hook.exports as typeof Hook;
    process.exitCode = await runHooks(from);
    await hook.keep();
  } catch (error) {
    // Agents go on after any other exit code, and guards may not have been asked.
    process.stderr.on('error', () => undefined);
    process.stderr.write(`The hooks could not be asked: ${toVisible(String(error))}\n`);
    process.exitCode = 2;
  }
}
