// The same as answer.mjs, with `defineHook`, which keeps the process where the settings say so. $1 is the event.
import { defineHook } from '../../../dist/author.js';

await defineHook(process.argv[2], () => ({ decision: 'allow', reason: 'hook 1' }));
