// The same as answer.sh, in a language with an interpreter that takes its time to start.
import { readFileSync } from 'node:fs';

JSON.parse(readFileSync(0, 'utf8'));
console.log(JSON.stringify({ decision: 'allow', reason: 'hook 1' }));
