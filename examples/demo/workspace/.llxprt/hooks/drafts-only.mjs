// BeforeTool: whatever the model writes goes to drafts/.
import path from 'node:path';
import { json } from 'node:stream/consumers';

const { tool_input: input } = await json(process.stdin);

const file_path = path.join('drafts', path.basename(input.file_path));

// Only the changed argument: it is merged over the others.
console.log(JSON.stringify({ hookSpecificOutput: { tool_input: { file_path } } }));
