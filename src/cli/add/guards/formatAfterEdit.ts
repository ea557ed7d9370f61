import { HookEventName } from '../../../protocol/types.js';
import type { Guard } from '../guard.js';
import script from '../scripts/format-after-edit.mjs?raw';

const name = 'format-after-edit';

export const formatAfterEdit: Guard = {
  name,
  covers:
    'Formats a file after a tool has written it, with prettier, ruff, gofmt or rustfmt, where it is installed in the project or on the PATH, and tells the model.',
  misses:
    'Not covered: what shell commands and tools of MCP servers write, other formatters, and files outside of the project.',
  groups: (command) => [
    {
      event: HookEventName.AfterTool,
      group: {
        when: ['Edit(/**)', '!Bash(*)'],
        hooks: [
          {
            type: 'command',
            name,
            description: 'Formats files that were written.',
            command,
            timeout: 30_000,
          },
        ],
      },
    },
  ],
  script,
  tests: [
    {
      title: 'leaves-a-text-as-it-is',
      event: HookEventName.AfterTool,
      input: {
        tool_name: 'write_file',
        tool_input: { file_path: 'notes.txt', content: 'hello' },
        tool_response: { llmContent: 'written' },
      },
      expect: { decision: 'allow', exit: { [name]: 0 } },
    },
  ],
};
