import { describe, expect, vi } from 'vitest';
import type { HookDefinition } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { fault, TIMED, type Host, STARTS } from './helpers/host.js';

const DENY = `echo '{"decision":"deny","reason":"no"}'`;
const ALLOW = `echo '{"decision":"allow"}'`;

const guard = (command: string) => hook(command, { name: 'guard', onFailure: 'deny' });

describe.each(STARTS)('a guard that was started %s', (start) => {
  fault.override({ start });

  describe('and answers through something that outlives it', TIMED, () => {
    fault.for([
      ['82 a filter that is late: its deny counts', `exec > >(sleep 0.3; cat); ${DENY}`, /^no$/],
      [
        '82 a filter that comes too late: it has given no answer',
        `exec > >(sleep 8; cat); ${ALLOW}`,
        /"guard".*held its stdout, and no answer came/,
      ],
      [
        '82 a background job, and no answer: the same',
        'sleep 300 &',
        /"guard".*held its stdout, and no answer came/,
      ],
      [
        '82 a filter that gives half of the answer in time: it cannot be read',
        `exec > >(printf '{"deci'; sleep 0.5; printf 'sion":"deny"}')`,
        /"guard".*held its stdout, and no answer came/,
      ],
    ] as const)('%s', async ([, command, reason], { host }) => {
      const { verdict, text, answerMs } = await host.callTool([guard(command)]);
      expect(verdict).toBe('blocked');
      expect(text).toMatch(reason);
      expect(answerMs).toBeLessThan(1_500);
    });

    fault.for([
      ['82 a filter that allows', `exec > >(sleep 0.3; cat); ${ALLOW}`],
      ['82 a job that holds stderr only', 'sleep 300 >/dev/null &'],
    ] as const)('%s: the tool runs', async ([, command], { host }) => {
      expect(await host.callTool([guard(command)])).toMatchObject({ verdict: 'allowed' });
    });

    fault('82 a job that let go of the pipes: the tool runs at once', async ({ host }) => {
      host.tolerateLeftovers();
      const { verdict, answerMs } = await host.callTool([guard('sleep 300 >/dev/null 2>&1 &')]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeLessThan(300);
    });

    fault.for([
      ['82 an answer beside the job', `${DENY}; sleep 300 &`, 'blocked'],
      ['82 exit code 2 beside the job', 'sleep 300 & exit 2', 'blocked'],
    ] as const)('%s: nobody waits', async ([, command, expected], { host }) => {
      const { verdict, answerMs } = await host.callTool([guard(command)]);
      expect(verdict).toBe(expected);
      expect(answerMs).toBeLessThan(300);
    });
  });
});

describe('a hook that is no guard', TIMED, () => {
  fault('82 and leaves a job that holds its stdout: nobody waits', async ({ host }) => {
    const { verdict, answerMs } = await host.callTool([hook('sleep 300 &')]);
    expect(verdict).toBe('allowed');
    expect(answerMs).toBeLessThan(300);
  });
});

/** Calls a tool with one hook of a dialect. */
function callIn(host: Host, dialect: 'claude' | 'gemini', hooks: HookDefinition['hooks']) {
  return host.callToolOf(host.createConfig({ hooks: { BeforeTool: [{ dialect, hooks }] } }));
}

describe.each(['claude', 'gemini'] as const)('a guard of the dialect %s', (dialect) => {
  fault.for([
    '{"decision":"bl',
    '{"decision":"deny"',
    'hm {"decision":"deny"',
    'hm {"decision":"deny"} hm',
    '2',
    '-1',
    '2}',
    '[{"decision":"deny"}]',
    '["deny"',
    '"deny"',
    '"den',
    'true',
    'false',
    'null',
    '}',
    '{"decision":"DENY"}',
    '{"decision":7}',
    '{"hookSpecificOutput":"deny"}',
  ])('83 that prints %s has given no answer', async (printed, { host }) => {
    const { verdict, text } = await callIn(host, dialect, [guard(`cat <<'END'\n${printed}\nEND`)]);
    expect({ verdict, text }).toMatchObject({
      verdict: 'blocked',
      text: expect.stringMatching(/"guard".*(?:something other than a JSON object|is ignored)/),
    });
  });

  fault.for(['ok', 'checked 2 files', 'nothing - really: fine.', 'nullable', '', '{}'])(
    '83 that prints %j objects to nothing',
    async (printed, { host }) => {
      const { verdict, text } = await callIn(host, dialect, [
        guard(`cat <<'END'\n${printed}\nEND`),
      ]);
      expect({ verdict, text }).toEqual({ verdict: 'allowed', text: 'done' });
    },
  );

  fault('83 that prints prose while something may still answer has not', async ({ host }) => {
    const filtered = guard(`echo ok; exec > >(sleep 0.5; cat); ${DENY}`);
    const { verdict, text } = await callIn(host, dialect, [filtered]);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(/"guard".*held its stdout, and no answer came/);
  });

  fault('83 without onFailure, the same is text as it was', async ({ host }) => {
    const { verdict } = await callIn(host, dialect, [hook(`echo '{"decision":"bl'`)]);
    expect(verdict).toBe('allowed');
    await vi.waitFor(() => expect(host.leftovers()).toEqual([]));
  });
});
