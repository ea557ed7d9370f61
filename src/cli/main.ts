#!/usr/bin/env node
import { hookArguments } from './hook/hookArguments.js';

const options = hookArguments(process.argv.slice(2));
if (options) {
  try {
    const { answerEvent } = await import('./hook/lean.js');
    process.exitCode = await answerEvent(options);
  } catch (error) {
    // Agents go on after any other exit code, and the guards were not asked.
    process.stderr.write(`The hooks could not be asked: ${String(error)}\n`);
    process.exitCode = 2;
  }
} else {
  const { main } = await import('./program.js');
  await main();
}
