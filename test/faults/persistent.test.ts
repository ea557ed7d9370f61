import { readFileSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, vi } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host, type ToolCallOptions } from './helpers/host.js';
import { allowAll, openProject, SETTINGS } from './helpers/project.js';

const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));
const WAIT = { timeout: 10_000, interval: 10 };
const DENY = { answer: { output: { decision: 'deny', reason: 'no' } } };

function puppet(settings: Partial<CommandHookConfig> = {}): CommandHookConfig {
  return {
    ...hook(process.execPath, { args: [PUPPET], name: 'kept', persistent: true }),
    ...settings,
  };
}

/** A host with one hook that stays, which does what it is told. */
function open(host: Host, settings: Partial<CommandHookConfig> = {}) {
  const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [puppet(settings)] }] } });
  const act = (steps: readonly object[], options: ToolCallOptions = {}) =>
    host.callToolOf(config, { toolInput: { steps }, ...options });
  return { config, act };
}

/** A script of bash that stays, and blocks each event with the same words. */
function sayingOf(words: string): string {
  return `echo '{"hookstack":1}'
while IFS= read -r line; do
  id=\${line#*:}
  echo "${words}" >&2
  echo '{"id":'\${id%%,*}',"exitCode":2}'
done`;
}

/** The processes of the host that are kept. */
function keptPids(host: Host): number[] {
  return host.leftovers().filter((pid) => readFileSync(`/proc/${pid}/cmdline`).includes(PUPPET));
}

describe('a hook that stays', () => {
  fault('denies, asks, allows and blocks as any other', async ({ host }) => {
    const { act } = open(host);
    expect(await act([DENY])).toMatchObject({ verdict: 'blocked', text: 'no' });
    expect(await act([{ answer: { exitCode: 2, stderr: 'not this' } }])).toMatchObject({
      verdict: 'blocked',
      text: 'not this',
    });
    expect(await act([{ stderr: 'written' }, { answer: { exitCode: 2 } }])).toMatchObject({
      verdict: 'blocked',
      text: 'written',
    });
    expect(await act([{ answer: {} }])).toMatchObject({ verdict: 'allowed' });
    const changed = { hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: { a: 1 } } };
    expect(await act([{ answer: { output: changed } }])).toMatchObject({
      verdict: 'allowed',
      input: { a: 1 },
    });
    expect(
      await act([{ answer: { output: { continue: false, stopReason: 'enough' } } }]),
    ).toMatchObject({ verdict: 'stopped' });
    expect(host.warnings).toEqual([]);
    expect(keptPids(host)).toHaveLength(1);
  });
});

describe('a guard that stays', () => {
  fault.for<[string, readonly object[]]>([
    ['ends well', [{ exit: 0 }]],
    ['ends badly', [{ exit: 3 }]],
    ['is killed', [{ kill: 'SIGKILL' }]],
    ['writes nonsense', [{ write: 'allow\n' }]],
    ['answers for another event', [{ write: '{"id":0}\n' }]],
    ['answers twice', [{ write: '{"id":$ID}\n{"id":$ID}\n' }]],
    ['answers without "output" around it', [{ answer: { decision: 'allow' } }]],
    ['floods stdout', [{ flood: { descriptor: 1, megabytes: 100 } }]],
    ['answers with half a line', [{ write: '{"id":$ID' }, { exit: 0 }]],
    ['stops', [{ kill: 'SIGSTOP' }]],
    ['closes nothing and says nothing', [{ sleep: 60_000 }]],
    ['leaves its pipe to another and ends', [{ fork: 'sleep 300' }, { exit: 0 }]],
  ])('denies where it %s', async ([, steps], { host }) => {
    const { act } = open(host, { onFailure: 'deny', timeout: 2_000 });
    await act([{ answer: {} }]);
    const { verdict, text, hooks } = await act(steps);
    expect({ verdict, text }).toEqual({
      verdict: 'blocked',
      text: expect.stringContaining('must not be bypassed'),
    });
    expect(hooks).toMatchObject([{ success: false, error: expect.any(Error) }]);
    expect(host.runWarnings).toHaveLength(1);
    expect(await act([DENY])).toMatchObject({ verdict: 'blocked', text: 'no' });
    expect(await act([{ answer: {} }])).toMatchObject({ verdict: 'allowed' });
  });

  fault('denies each time once it is not started any more, and says why', async ({ host }) => {
    const { act } = open(host, { onFailure: 'deny' });
    for (let round = 0; round < 5; round++) await act([{ exit: 3 }]);
    for (let round = 0; round < 2; round++) {
      expect(await act([{ answer: {} }])).toMatchObject({
        verdict: 'blocked',
        text: expect.stringMatching(/failed 5 times as a persistent hook .* remove "persistent"/),
      });
    }
    expect(keptPids(host)).toEqual([]);
  });

  fault('hides secrets in what it is warned of', async ({ host }) => {
    vi.stubEnv('MY_TOKEN', 'secret-1234567');
    const config = host.createConfig({
      hooks: { BeforeTool: [{ hooks: [puppet()] }] },
      hookEnvironment: { redact: ['@secrets'] },
    });
    const steps = [{ stderr: 'the token is secret-1234567\n' }, { exit: 3 }];
    await host.callToolOf(config, { toolInput: { steps } });
    expect(JSON.stringify(host.runWarnings)).toContain('[MY_TOKEN]');
    expect(JSON.stringify(host.logger.records)).not.toContain('secret-1234567');
  });
});

describe('hooks that stay', () => {
  fault('may be in the format of another agent', async ({ host }) => {
    const output = {
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'not here',
      },
    };
    const config = host.createConfig({
      hooks: { BeforeTool: [{ dialect: 'claude', hooks: [puppet()] }] },
    });
    const call = (steps: readonly object[]) => host.callToolOf(config, { toolInput: { steps } });
    expect(await call([{ answer: { output } }])).toMatchObject({
      verdict: 'blocked',
      text: 'not here',
    });
    expect(await call([{ answer: { exitCode: 2, stderr: 'why' } }])).toMatchObject({
      verdict: 'blocked',
      text: 'why',
    });
    expect(keptPids(host)).toHaveLength(1);
  });

  fault('read in a chain what the one before left', async ({ host }) => {
    const changing = hook(
      `echo '{"hookstack":1}'; while IFS= read -r line; do id=\${line#*:}; id=\${id%%,*}; echo "{\\"id\\":$id,\\"output\\":{\\"hookSpecificOutput\\":{\\"hookEventName\\":\\"BeforeTool\\",\\"tool_input\\":{\\"steps\\":[{\\"answer\\":{\\"exitCode\\":2,\\"stderr\\":\\"read it\\"}}]}}}}"; done`,
      { persistent: true },
    );
    const config = host.createConfig({
      hooks: { BeforeTool: [{ sequential: true, hooks: [changing, puppet()] }] },
    });
    for (let round = 0; round < 3; round++) {
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'read it' });
    }
    expect(host.warnings).toEqual([]);
  });

  fault('are started ahead where they say so, and asked then', async ({ host }) => {
    const { config, act } = open(host, { prestart: true });
    await config.getHookSystem()?.initialize();
    await vi.waitFor(() => expect(keptPids(host)).toHaveLength(1), WAIT);
    const pids = keptPids(host);
    expect(await act([DENY])).toMatchObject({ verdict: 'blocked', text: 'no' });
    expect(keptPids(host)).toEqual(pids);
    await act([{ exit: 3 }]);
    await act([{ answer: {} }]);
    expect(host.runWarnings).toHaveLength(1);
  });

  fault('end with their system, their switch and a reload', async ({ host }) => {
    const { config, act } = open(host);
    const system = config.getHookSystem();
    const gone = () => vi.waitFor(() => expect(keptPids(host)).toEqual([]), WAIT);
    await act([{ answer: {} }]);
    await system?.reload();
    await gone();
    await act([{ answer: {} }]);
    system?.setHookEnabled('kept', false);
    await gone();
    system?.setHookEnabled('kept', true);
    await act([{ answer: {} }]);
    expect(keptPids(host)).toHaveLength(1);
    await system?.dispose();
    await gone();
  });

  fault('of two systems are two processes', async ({ host }) => {
    await open(host).act([{ answer: {} }]);
    await open(host).act([{ answer: {} }]);
    expect(keptPids(host)).toHaveLength(2);
  });

  fault('begin anew in another directory of the same name', async ({ host }) => {
    const workingDir = `${host.directory}/project`;
    await host.write('project/name', 'old');
    const script = await host.write('reads.sh', sayingOf('$(cat name)'));
    const hooks = { BeforeTool: [{ hooks: [hook(`bash ${script}`, { persistent: true })] }] };
    const config = host.createConfig({ workingDir, hooks });
    expect(await host.callToolOf(config)).toMatchObject({ text: 'old' });
    await rename(workingDir, `${workingDir}-before`);
    await host.write('project/name', 'new');
    expect(await host.callToolOf(config)).toMatchObject({ text: 'new' });
    expect(host.warnings).toEqual([]);
  });

  fault('begin anew when their file in the home directory changes', async ({ host }) => {
    vi.stubEnv('HOME', host.directory);
    const workingDir = `${host.directory}/project`;
    await mkdir(workingDir);
    await host.write('hooks/says.sh', sayingOf('old'));
    const hooks = { BeforeTool: [{ hooks: [hook('bash ~/hooks/says.sh', { persistent: true })] }] };
    const config = host.createConfig({ workingDir, hooks });
    expect(await host.callToolOf(config)).toMatchObject({ text: 'old' });
    await rename(
      await host.write('hooks/next.sh', sayingOf('new')),
      `${host.directory}/hooks/says.sh`,
    );
    expect(await host.callToolOf(config)).toMatchObject({ text: 'new' });
  });

  fault('read one line, whatever takes a separator of Unicode for its end', async ({ host }) => {
    const script = await host.write(
      'lines.mjs',
      String.raw`console.log('{"hookstack":1}');
let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split(/[\n\u0085\u2028\u2029]/);
  rest = lines.pop();
  for (const line of lines) {
    const { id, input } = JSON.parse(line);
    const output = { decision: 'deny', reason: input.tool_input.text };
    console.log(JSON.stringify({ id, output }));
  }
});
`,
    );
    const hooks = { BeforeTool: [{ hooks: [hook(`node ${script}`, { persistent: true })] }] };
    const text = 'one\u0085two\u2028three\u2029four';
    const answer = await host.callToolOf(host.createConfig({ hooks }), { toolInput: { text } });
    expect(answer).toMatchObject({
      verdict: 'blocked',
      text: expect.stringMatching(/one.*two.*three.*four/s),
    });
  });

  fault('are ordinary ones for a host of a single event', async ({ host }) => {
    const command = `[ "$HOOKSTACK_PERSISTENT" ] && exit 2; cat >read`;
    const hooks = { BeforeTool: [{ hooks: [hook(command, { persistent: true })] }] };
    const config = host.createConfig({ hooks, keepHooks: false });
    expect(await host.callToolOf(config)).toMatchObject({ verdict: 'allowed' });
    expect(host.warnings).toEqual([]);
  });

  const HELLO = `echo '{"hookstack":1}'`;

  fault.for<[string, string]>([
    ['say hello', `${HELLO}; cat >/dev/null`],
    ['answer for no event', `${HELLO}; cat >/dev/null; echo '{"output":{"decision":"deny"}}'`],
  ])('have failed as ordinary ones where they only %s', async ([, command], { host }) => {
    const call = (onFailure: 'deny' | 'allow') => {
      const hooks = { BeforeTool: [{ hooks: [hook(command, { persistent: true, onFailure })] }] };
      return host.callToolOf(host.createConfig({ hooks, keepHooks: false }));
    };
    expect(await call('deny')).toMatchObject({
      verdict: 'blocked',
      text: expect.stringContaining('said the hello of persistent hooks'),
    });
    expect(await call('allow')).toMatchObject({ verdict: 'allowed' });
    expect(host.runWarnings).toHaveLength(2);
  });

  fault('are heard as ordinary ones behind their hello', async ({ host }) => {
    const command = `${HELLO}; cat >/dev/null; echo '{"decision":"deny","reason":"no"}'`;
    const hooks = { BeforeTool: [{ hooks: [hook(command, { persistent: true })] }] };
    const config = host.createConfig({ hooks, keepHooks: false });
    expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'no' });
  });

  fault(
    'deny once their system is disposed of and they say nothing but hello',
    async ({ host }) => {
      const command = `${HELLO}; while read -r line; do echo '{"id":1}'; done`;
      const guard = hook(command, { persistent: true, onFailure: 'deny' });
      const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [guard] }] } });
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'allowed' });
      await config.getHookSystem()?.dispose();
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked' });
    },
  );

  fault('have no variable that says so for the hooks of a host that is one', async ({ host }) => {
    vi.stubEnv('HOOKSTACK_PERSISTENT', '1');
    const command = `[ "$HOOKSTACK_PERSISTENT" ] && exit 2; true`;
    expect(await host.callTool([hook(command)])).toMatchObject({ verdict: 'allowed' });
    const own = hook(command, { env: { HOOKSTACK_PERSISTENT: '1' } });
    expect(await host.callTool([own])).toMatchObject({ verdict: 'allowed' });
  });
});

describe('a hook of a project that stays', () => {
  const SCRIPT = '.llxprt/hooks/kept.mjs';

  async function openAllowed(host: Host) {
    await host.write(SCRIPT, await readFile(PUPPET, 'utf8'));
    const kept = hook(`node ${SCRIPT}`, { name: 'kept', persistent: true, onFailure: 'deny' });
    const settings = { enableHooks: true, hooks: { BeforeTool: [{ hooks: [kept] }] } };
    await host.write(SETTINGS, settings);
    await allowAll(host);
    const { config } = await openProject(host);
    const call = (...steps: object[]) => host.callToolOf(config, { toolInput: { steps } });
    const pids = () =>
      host
        .leftovers()
        .filter((pid) => /node\0\.llxprt/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')));
    return { config, call, pids };
  }

  fault('is ended once its file is another, and started once that is allowed', async ({ host }) => {
    const { config, call, pids } = await openAllowed(host);
    expect(await call({ answer: { output: {} } })).toMatchObject({ verdict: 'allowed' });
    const [first] = pids();
    expect(first).toBeGreaterThan(0);
    await host.write(SCRIPT, `${await readFile(PUPPET, 'utf8')}\n// changed`);
    expect(await call({ append: { file: 'asked', text: '\n' } }, { answer: {} })).toMatchObject({
      verdict: 'blocked',
      text: expect.stringContaining('was not started, because it'),
    });
    await vi.waitFor(() => expect(pids()).toEqual([]), WAIT);
    expect(host.exists('asked')).toBe(false);
    await allowAll(host);
    await config.getHookSystem()?.reload();
    expect(await call({ answer: { output: {} } })).toMatchObject({ verdict: 'allowed' });
    expect(pids()).toHaveLength(1);
    expect(pids()).not.toContain(first);
  });

  fault('is not asked what waited while its file became another', async ({ host }) => {
    const { call, pids } = await openAllowed(host);
    await call({ answer: {} });
    const ask = () =>
      call({ append: { file: 'began', text: '\n' } }, { sleep: 300 }, { answer: {} });
    const calls = [ask(), ask()];
    await host.waitForFile('began');
    await host.write(SCRIPT, `require('fs').writeFileSync('pwned', '')`);
    // Which of the two is the first is not said.
    const verdicts = (await Promise.all(calls)).map(({ verdict }) => verdict);
    expect(verdicts.toSorted()).toEqual(['allowed', 'blocked']);
    expect(host.lines('began')).toHaveLength(1);
    expect(host.exists('pwned')).toBe(false);
    await vi.waitFor(() => expect(pids()).toEqual([]), WAIT);
  });
});
