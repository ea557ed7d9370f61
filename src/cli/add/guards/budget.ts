import { HookEventName } from '../../../protocol/types.js';
import { inputOf, type Guard } from '../guard.js';
import script from '../scripts/budget.mjs?raw';

const name = 'budget';

export const budget: Guard = {
  name,
  covers:
    'Stops the agent once a session has had 500 calls of tools, 5,000,000 tokens or four hours; the limits are variables of the hook in the settings.',
  misses:
    'Not covered: tokens of agents that have no model events, one answer that exceeds the rest of the budget by itself, and a new session, which has a new budget.',
  groups: (command) =>
    [HookEventName.BeforeTool, HookEventName.BeforeModel, HookEventName.AfterModel].map(
      (event) => ({
        event,
        group: {
          hooks: [
            {
              type: 'command',
              name,
              description: 'Stops a session that has used up its budget.',
              command,
              env: {
                HOOK_BUDGET_CALLS: '500',
                HOOK_BUDGET_TOKENS: '5000000',
                HOOK_BUDGET_SECONDS: '14400',
              },
              timeout: 10_000,
              // A guard at AfterModel would keep answers from the screen until it has answered.
              ...(event !== HookEventName.AfterModel && { onFailure: 'deny' }),
            },
          ],
        },
      }),
    ),
  script,
  tests: [
    {
      title: 'lets-a-first-call-pass',
      event: HookEventName.BeforeTool,
      input: inputOf('git status'),
      expect: { exit: { [name]: 0 } },
    },
  ],
};
