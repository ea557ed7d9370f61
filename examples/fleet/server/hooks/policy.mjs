// One policy for all agents: production is frozen, and what is deployed needs a person.
import { readFileSync } from 'node:fs';

const { agent, tool_input: input } = JSON.parse(readFileSync(0, 'utf8'));
const file = String(input.file_path ?? '');

if (/(^|\/)production\//.test(file)) {
  answer({ decision: 'deny', reason: `Production is frozen until Monday, for ${agent} too.` });
} else if (/(^|\/)deploy\//.test(file)) {
  answer({ decision: 'ask', reason: `${agent} wants to deploy ${file}.` });
}

function answer(verdict) {
  process.stdout.write(JSON.stringify(verdict));
}
