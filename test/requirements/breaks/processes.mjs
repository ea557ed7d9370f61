import { toBreaks } from './toBreaks.mjs';

const EVENTS = 'src/protocol/events.ts';
const FAILURES = 'src/run/hookFailure.ts';
const READING = 'middleware/readRun.ts';
const RUNNING = 'middleware/runHook.ts';

const OF_RUNNER = 'test/hooks/hookRunner.test.ts';
const OF_FAILURES = 'test/requirements/failOpen.test.ts';

/** The test of an exit code, and what came with it. */
const code = (row) => [OF_RUNNER, `the table of exit codes '${row}'`];

/** Breaks of how hooks run, end and fail. */
export const processes = toBreaks([
  ...[
    ['HOOK-023', 'BeforeTool', 'exits with code 1'],
    ['HOOK-031', 'AfterTool', 'exits with code 1'],
    ['HOOK-042', 'BeforeModel', 'exits with code 1'],
    ['HOOK-052', 'AfterModel', 'exits with code 1'],
    ['HOOK-110', 'BeforeModel', 'is killed'],
    ['HOOK-119', 'BeforeTool', 'times out'],
  ].map(([id, event, fails]) => [
    id,
    'every hook is a guard',
    [EVENTS, "return onFailure === 'deny' && (", "return onFailure !== 'allow' && ("],
    [OF_FAILURES, `a hook of ${event} that ${fails} changes nothing, and is warned of`],
  ]),
  ...[
    ['HOOK-060', 'BeforeToolSelection', 'exits with code 1'],
    ['HOOK-023', 'BeforeTool', 'exits with code 1'],
    ['HOOK-031', 'AfterTool', 'times out'],
    ['HOOK-042', 'BeforeModel', 'times out'],
    ['HOOK-052', 'AfterModel', 'times out'],
  ].map(([id, event, fails]) => [
    id,
    'nobody is warned of a hook that failed',
    [FAILURES, 'reported.add(result);', 'reported.add(result); if (result) return;'],
    [OF_FAILURES, `a hook of ${event} that ${fails} changes nothing, and is warned of`],
  ]),
  [
    'HOOK-060',
    'what a failed hook said of the tools counts',
    [
      ['middleware/aggregator.ts', 'if (!success && !isBlocking(output.decision)) continue;', ''],
      [
        READING,
        "if (ending !== 'exit' || exitCode !== 0) return",
        "if (ending !== 'exit' || exitCode === 2) return",
      ],
    ],
    [
      OF_FAILURES,
      'a hook of BeforeToolSelection that exits with code 1 changes nothing, and is warned of',
    ],
  ],
  [
    'HOOK-061',
    'a script reads a list',
    [
      'src/run/preparedInput.ts',
      'Buffer.from(JSON.stringify(input))',
      'Buffer.from(JSON.stringify([input]))',
    ],
    [OF_RUNNER, 'executeHook writes one JSON object to stdin and closes it'],
  ],
  [
    'HOOK-061',
    'stdin stays open',
    [
      'src/process/command/runCommand.ts',
      'stdin.end(options.input);',
      'stdin.write(options.input);',
    ],
    [OF_RUNNER, 'executeHook writes one JSON object to stdin and closes it'],
  ],
  ...['LLXPRT', 'GEMINI', 'CLAUDE'].flatMap((name) =>
    ['HOOK-155', 'HOOK-188'].map((id) => [
      id,
      `hooks do not find ${name}_PROJECT_DIR`,
      ['src/run/preparedInput.ts', `${name}_PROJECT_DIR: cwd,`, ''],
      [
        OF_RUNNER,
        'executeHook sets the project directory under all three names, beside the variables of the host',
      ],
    ]),
  ),
  [
    'HOOK-066',
    'stdout of exit code 2 is read',
    [
      READING,
      "if (ending !== 'exit' || exitCode !== 0) return",
      "if (ending !== 'exit' || (exitCode !== 0 && exitCode !== 2)) return",
    ],
    code('2 with a JSON allow, which is not read'),
  ],
  [
    'HOOK-067b',
    'exit code 2 without stderr blocks nothing',
    [READING, 'if (!isBlock && !hasSpoken) return {};', 'if (!hasSpoken) return {};'],
    code('2 without anything'),
  ],
  ...['3', '255'].map((exitCode) => [
    'HOOK-068',
    `exit code ${exitCode} is no failure`,
    [
      FAILURES,
      'if (exitCode === 0 || exitCode === 2) return undefined;',
      `if (exitCode === 0 || exitCode === 2 || exitCode === ${exitCode}) return undefined;`,
    ],
    code(exitCode),
  ]),
  [
    'HOOK-069',
    'stderr is read where stdout says nothing',
    [RUNNING, 'readHookOutput(stdout, undefined', 'readHookOutput(stdout || stderr, undefined'],
    code('0 with stderr, which is not read'),
  ],
  [
    'HOOK-069',
    'stderr is not kept',
    [READING, ', stderr: outcome.stderr }', ' }'],
    [OF_RUNNER, 'executeHook says what it ran, how long it took, and what was written'],
  ],
  ...['2 with stderr', '3'].map((row) => [
    'HOOK-070',
    `a hook that has ended is healthy: ${row}`,
    [
      READING,
      "outcome?.ending === 'exit' && (isAnswer ?? outcome.exitCode === 0),",
      "outcome?.ending === 'exit',",
    ],
    code(row),
  ]),
  [
    'HOOK-117',
    'a hook that takes too long is not asked to end',
    [
      'src/process/command/processGroup.ts',
      "signalGroup(group, 'SIGTERM');",
      "signalGroup(group, 'SIGCONT');",
    ],
    ['test/process/ending.test.ts', 'at the deadline the shell and its children end at once'],
  ],
  [
    'HOOK-118',
    'SIGKILL comes after ten seconds',
    ['src/process/command/limits.ts', 'const GRACE_MS = 5_000;', 'const GRACE_MS = 10_000;'],
    [
      'test/process/ending.test.ts',
      'at the deadline a group that ignores SIGTERM is dead after the grace of five seconds',
    ],
  ],
  [
    'HOOK-119',
    'the warning does not say how long a hook had',
    [FAILURES, 'what: `timed out after ${timeoutMs} ms`,', "what: 'timed out',"],
    code('a timeout, after a JSON deny'),
  ],
  [
    'HOOK-192',
    'a hook that closes its stdin early is ended',
    [
      'src/process/command/runCommand.ts',
      "stdin.on('error', ignore);",
      "stdin.on('error', () => process.kill(-command.group.id, 'SIGKILL'));",
    ],
    ['test/process/runCommand.test.ts', 'input may be closed early'],
  ],
  [
    'HOOK-195',
    'a plugin with a command runs',
    [
      RUNNING,
      "if (hook.type === 'plugin') return refused(NO_PLUGINS);",
      "if (hook.type === 'plugin' && !hook.command) return refused(NO_PLUGINS);",
    ],
    [OF_RUNNER, 'executeHook refuses a plugin, also one with a command, and goes on'],
  ],
  [
    'HOOK-196',
    'a hook that a signal ended has no exit code',
    [
      READING,
      '...(hasEnded && { exitCode: outcome.exitCode ?? 0 }),',
      '...(hasEnded && outcome.exitCode !== null && { exitCode: outcome.exitCode }),',
    ],
    code('a signal, after a JSON deny'),
  ],
  [
    'HOOK-198',
    'a block printed with exit code 1 counts',
    [
      READING,
      "if (ending !== 'exit' || exitCode !== 0) return",
      "if (ending !== 'exit' || exitCode === 2) return",
    ],
    code('1 with a JSON deny, which is not read'),
  ],
]);
