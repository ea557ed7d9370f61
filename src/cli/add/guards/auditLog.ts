import { HookEventName } from '../../../protocol/types.js';
import { inputOf, type Guard } from '../guard.js';
import script from '../scripts/audit-log.mjs?raw';

const name = 'audit-log';

export const auditLog: Guard = {
  name,
  covers:
    'Appends a line of JSON for each call of a tool, also of one that another hook stops, to ~/.llxprt/audit.jsonl, which only you can read.',
  misses:
    'Not covered: how a call ended (--trace tells that), long texts, which are cut, and an agent that removes the file; secrets in arguments are not masked.',
  groups: (command) => [
    {
      event: HookEventName.BeforeTool,
      group: {
        hooks: [
          {
            type: 'command',
            name,
            description: 'Writes a line for each call.',
            command,
            timeout: 10_000,
          },
        ],
      },
    },
  ],
  script,
  tests: [
    {
      title: 'lets-a-call-pass',
      event: HookEventName.BeforeTool,
      input: inputOf('git status'),
      expect: { exit: { [name]: 0 } },
    },
  ],
};
