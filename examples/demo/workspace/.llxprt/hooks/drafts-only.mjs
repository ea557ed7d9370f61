// BeforeTool: whatever the model writes goes to drafts/.
import path from 'node:path';
import { defineHook } from 'hookstack/author';

await defineHook('BeforeTool', ({ tool_input: input }) => {
  const file_path = path.join('drafts', path.basename(input.file_path));
  // Only the changed argument: it is merged over the others.
  return { hookSpecificOutput: { tool_input: { file_path } } };
});
