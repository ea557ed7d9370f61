import { json } from 'node:stream/consumers';

const { tool_input: input } = await json(process.stdin);
const change = { file_path: input.file_path.toLowerCase() };
process.stdout.write(JSON.stringify({ hookSpecificOutput: { tool_input: change } }));
