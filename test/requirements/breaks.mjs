// node test/requirements/breaks.mjs [word]: breaks the code in a copy of this repository, one break at a time, and sees
// whether the test that proves the requirement fails. Run by hand: it takes some minutes. With a word, only the breaks
// of which the requirement or the description has it. Code that has changed so much that a break no longer applies is
// a failure as well: write the break anew.
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa } from 'execa';

const ROOT = path.resolve(import.meta.dirname, '../..');
const LEFT_OUT = new Set(['.git', 'coverage', 'node_modules']);
const DOOR = 'src/hooks/fireHook.ts';
const EFFECTS = 'middleware/callerEffects.ts';
const PLANNER = 'middleware/planner.ts';
const SURFACE = 'test/requirements/surface.test.ts';
const SOURCES = 'test/requirements/sources.test.ts';
const APPROVALS = 'test/approvals/approvals.test.ts';

const RECORD = 'src/hooks/eventRecord.ts';
const SCOPES = 'middleware/scopes.ts';
const HOSTILE = 'test/properties/hostileAnswers.test.ts';

/** The test of hostile answers around something, for hooks of some shape. */
const hostile = (shape, around) => [
  HOSTILE,
  `whatever others say: ${shape} nothing gets past the hooks of the user around ${around}`,
];

/**
 * What is broken (`edits`: file, text that stands there once, text in its place), and the test, by file and title, that
 * must fail.
 */
const BREAKS = [
  {
    id: 'HOOK-001',
    what: 'the hook system is made by the constructor of Config',
    edits: [
      [
        'src/config/config.ts',
        'this.#sessionId = options.sessionId;',
        'this.#sessionId = options.sessionId; if (options.enableHooks) this.#hookSystem = new HookSystem(this);',
      ],
    ],
    test: [
      'test/config/config.test.ts',
      'getHookSystem makes the hook system at its first call, and not before',
    ],
  },
  {
    id: 'HOOK-003',
    what: 'every event reads the hooks again while others wait for them',
    edits: [[DOOR, 'await engine.initialize();', 'await engine.registry.reload();']],
    test: [
      'test/hooks/hookSystem.test.ts',
      'initialize reads the hooks once, however many events come, by whatever way and at once',
    ],
  },
  ...[
    [
      'the hook system',
      'src/hooks/hookSystem.ts',
      'setEngine(this, engineOf(this.#eventHandler));',
    ],
    ['the event handler', 'src/hooks/hookEventHandler.ts', 'setEngine(this, this.#engine);'],
  ].map(([holder, file, text = '']) => ({
    id: 'HOOK-006, HOOK-142',
    what: `${holder} hands out planner, runner and aggregator`,
    edits: [
      [file, text, text.replace(/, (.*)\);$/, ', $1); Object.assign(this, { engine: $1 });')],
    ],
    test: [
      SURFACE,
      'HookSystem hands out its registry and event handler, and neither planner, runner nor aggregator',
    ],
  })),
  {
    id: 'HOOK-005',
    what: 'the registry is handed out by a field before it is initialized',
    edits: [
      [
        'src/hooks/hookSystem.ts',
        'this.#registry = registry;',
        'this.#registry = registry; Object.assign(this, { registry });',
      ],
    ],
    test: [SURFACE, 'HookSystem hands out no part before it is initialized'],
  },
  {
    id: 'HOOK-006',
    what: 'a stack is composed anew for each event',
    edits: [[DOOR, '(this.opened ??= this.#open())', 'this.#open()']],
    test: [
      'test/hooks/hookSystem.test.ts',
      'the parts of a hook system compose their stack once, however many events come, by whatever way',
    ],
  },
  {
    id: 'HOOK-006',
    what: 'no guard is asked where the hook system is none of ours',
    edits: [[DOOR, '(engines.get(system) ?? refuseSystem())', 'engines.get(system)']],
    test: [
      'test/hooks/otherHost.test.ts',
      'denies for its guards where a host gives what is no hook system of this copy',
    ],
  },
  {
    id: 'HOOK-007',
    what: 'fireHook makes a registry, under another name',
    edits: [
      [
        DOOR,
        "import { notify } from '../util/notify.js';",
        "import { notify } from '../util/notify.js'; import { HookRegistry as Another } from './hookRegistry.js';",
      ],
      [
        DOOR,
        'const fired: FiredEvent<E> = { event',
        'void new Another(host); const fired: FiredEvent<E> = { event',
      ],
    ],
    test: [SOURCES, 'the sources make the parts of the hook system in one place'],
  },
  {
    id: 'HOOK-011',
    what: 'a process is started although no hook is configured',
    edits: [
      [
        DOOR,
        "import { notify } from '../util/notify.js';",
        "import { notify } from '../util/notify.js'; import { execFile } from 'node:child_process';",
      ],
      [
        DOOR,
        'record(engine, event, makeEmptySuccessResult());',
        "execFile('true'); record(engine, event, makeEmptySuccessResult());",
      ],
    ],
    test: [
      'test/hooks/hookEventHandler.test.ts',
      'a process is not started when no hook is configured for the event',
    ],
  },
  {
    id: 'HOOK-012',
    what: 'hooks run although their matcher does not match',
    edits: [
      [
        PLANNER,
        "if (!names || reading === 'all') return true;\n  return names.some((name) => matches(",
        'if (names) return true;\n  return names.some((name) => matches(',
      ],
    ],
    test: ['test/hooks/hookEventHandler.test.ts', 'a process is not started when no hook matches'],
  },
  ...[
    ['HOOK-083', 'limits.otherwise) : 5000;'],
    ['HOOK-120', 'limits.otherwise) : 30_000;'],
  ].map(([id, text]) => ({
    id,
    what: `the deadline is that of ${text}`,
    edits: [['src/run/deadline.ts', 'limits.otherwise) : DEFAULT_TIMEOUT_MS;', text]],
    test: [
      'test/hooks/hookRunner.test.ts',
      'the deadline of a hook with the timeout undefined is 60000 ms',
    ],
  })),
  ...[
    ['middleware/runner.ts', 'Math.max(1, options.maxParallelHooks)', '2'],
    ['src/config/config.ts', 'this.#options.maxParallelHooks ?? 16', '2'],
  ].map((edit) => ({
    id: 'HOOK-108',
    what: `no more than two hooks run at a time (${edit[0]})`,
    edits: [edit],
    test: [
      'test/middleware/runner.test.ts',
      'hooks that run at once runs sixteen beside each other where nothing else is configured: each waits for all',
    ],
  })),
  {
    id: 'HOOK-084',
    what: 'the order in which settings were merged does not reach the registry',
    edits: [['src/hooks/hookRegistry.ts', 'admitted.toSorted(', 'admitted.toReversed().toSorted(']],
    test: [
      'test/requirements/registration.test.ts',
      'the hooks of the settings files run in the order project, user, system, and those of extensions last',
    ],
  },
  {
    id: 'HOOK-187',
    what: 'extensions come before the settings',
    edits: [
      ['src/hooks/hookRegistry.ts', '[ConfigSource.Extensions]: 4', '[ConfigSource.Extensions]: 0'],
    ],
    test: [
      'test/requirements/registration.test.ts',
      'the hooks of the settings files run in the order project, user, system, and those of extensions last',
    ],
  },
  {
    id: 'HOOK-111, HOOK-116',
    what: 'a fault while reading what hooks said reaches the caller of the model',
    edits: [[EFFECTS, 'return otherwise;', 'throw error;']],
    test: [
      'test/requirements/modelTriggers.test.ts',
      'the triggers go on, and say so, when what the hooks said cannot be read',
    ],
  },
  {
    id: 'HOOK-125',
    what: 'hooks are on where there is a terminal',
    edits: [
      [
        'src/config/config.ts',
        'return this.#options.enableHooks === true;',
        'const { isTTY } = process.stdout; return this.#options.enableHooks === true && !isTTY;',
      ],
    ],
    test: [SOURCES, 'the sources ask for a terminal only where the program talks to a person'],
  },
  {
    id: 'HOOK-134',
    what: 'nobody waits for the hooks of SessionEnd',
    edits: [
      [
        'src/agent/agent.ts',
        'await this.#hooks.fire(HookEventName.SessionEnd',
        'void this.#hooks.fire(HookEventName.SessionEnd',
      ],
    ],
    test: [
      'test/agent/agent.test.ts',
      'the loop waits for the hooks of an event before it goes on, whatever the event',
    ],
  },
  {
    id: 'HOOK-134',
    what: 'what came of an event is dropped behind a catch',
    edits: [
      [
        'src/agent/agent.ts',
        'await this.#hooks.fire(HookEventName.Notification, { notificationType, message, details });',
        'this.#hooks.fire(HookEventName.Notification, { notificationType, message, details }).catch(() => undefined);',
      ],
    ],
    test: [SOURCES, 'the sources fire no event without looking at what came of it'],
  },
  ...[
    ['BeforeTool', 'if (fired.systemMessage) tell(', 'if (fired.systemMessage && !call) tell('],
    ['BeforeModel', 'if (note) call.request =', 'if (note && !call) call.request ='],
    ['BeforeToolSelection', 'if (note) call.request =', 'if (note && !call) call.request ='],
  ].map(([event, from, to]) => ({
    id: 'HOOK-159',
    what: `the system message of ${event} is dropped`,
    edits: [[EFFECTS, from, to]],
    test: [
      'test/core/eventEffects.test.ts',
      `a system message of ${event} reaches the model, and never the user`,
    ],
  })),
  ...['AfterModel', 'BeforeToolSelection'].map((event) => ({
    id: 'HOOK-163',
    what: `${event} is planned with the name of a tool`,
    edits: [
      [
        PLANNER,
        'if (matchOn) {',
        `if (fired.event === '${event}') return { toolName: 'model' }; if (matchOn) {`,
      ],
    ],
    test: [
      'test/middleware/planner.test.ts',
      `planner hands over the name of the tool at ${event}, where there is one, and no tool elsewhere`,
    ],
  })),
  {
    id: 'DELTA-HPAY-001',
    what: 'the validators accept anything',
    edits: [['src/protocol/hookValidators.ts', 'eventFields[event].is(input)', 'event !== input']],
    test: [
      'test/protocol/hookValidators.test.ts',
      'the input of AfterModel has a validator of its own, which takes it and nothing else',
    ],
  },
  {
    id: 'DELTA-HPAY-001',
    what: 'the validator of an event is that of another one',
    edits: [
      [
        'src/protocol/hookValidators.ts',
        'validateAfterAgentInput = validator(HookEventName.AfterAgent)',
        'validateAfterAgentInput = validator(HookEventName.BeforeAgent)',
      ],
    ],
    test: [
      'test/protocol/hookValidators.test.ts',
      'the input of AfterAgent has a validator of its own, which takes it and nothing else',
    ],
  },
  ...[
    [
      'texts in place of parts are taken for a response of the model',
      ['every(isCandidate)', 'every(Boolean)'],
      'a response of the model as hooks read it',
    ],
    [
      'a text alone is taken for a response of the model',
      ['!response.text ||', 'response.text ||'],
      'a response of the model as hooks write it',
    ],
  ].map(([what = '', edit = '', field = '']) => ({
    id: 'DELTA-HPAY-002',
    what: String(what),
    edits: [['src/protocol/hookValidators.ts', edit[0] ?? '', edit[1] ?? '']],
    test: [
      'test/confirmation-bus/badRequests.test.ts',
      `a bad request with ${String(field)} is refused, by the name of the field`,
    ],
  })),
  ...[
    [
      'DELTA-HTEL-001',
      'the record of a hook says that it took no time',
      [RECORD, 'Math.round(result.duration)', '0'],
      'says of each hook how long it took, and of the event how long all of them did',
    ],
    [
      'DELTA-HTEL-001',
      'nobody measures how long a hook takes',
      ['middleware/runner.ts', 'duration: outcome?.durationMs ?? 0', 'duration: 0'],
      'measures how long the process of a hook lives',
    ],
    [
      'DELTA-HTEL-002',
      'the summary of an event says that it took no time',
      [RECORD, 'Math.round(aggregated.totalDuration)', '0'],
      'says of each hook how long it took, and of the event how long all of them did',
    ],
    [
      'DELTA-HTEL-002',
      'the summary counts a block as a failure',
      [RECORD, 'results.filter(hasFailed)', 'results.filter(({ success }) => !success)'],
      'counts a block as the work of its hook, and not as a failure',
    ],
    [
      'DELTA-HTEL-002',
      'the summary says of an event with a block that its hooks have failed',
      [RECORD, 'success: areHealthy(aggregated)', 'success: aggregated.success'],
      'counts a block as the work of its hook, and not as a failure',
    ],
  ].map(([id = '', what = '', edit, title = '']) => ({
    id: String(id),
    what: String(what),
    edits: [edit],
    test: ['test/confirmation-bus/records.test.ts', `the log of a direct event ${String(title)}`],
  })),
  {
    id: 'HOOK-182',
    what: 'nobody is asked',
    edits: [
      [
        'middleware/callerEffects.ts',
        "finalOutput?.decision === 'ask';",
        "finalOutput?.decision === 'deny';",
      ],
    ],
    test: [
      APPROVALS,
      'a hook that asks does not let the tool run where the person says no, and the model reads why',
    ],
  },
  {
    id: 'HOOK-182',
    what: 'a guard that asks lets everything go on where nobody can be asked',
    edits: [
      [
        'src/approvals/approvals.ts',
        "(isGuarded ? 'deny' : 'allow')",
        "(isGuarded ? 'allow' : 'allow')",
      ],
    ],
    test: [
      APPROVALS,
      'where nobody can be asked a guard denies, and so does everything where the settings say so',
    ],
  },
  {
    id: 'HOOK-204',
    what: 'a call that waits for a person says nothing',
    edits: [
      ['src/core/coreToolScheduler.ts', "status: 'awaiting_approval' }", "status: 'executing' }"],
    ],
    test: [APPROVALS, 'the scheduler says that a call waits for a person, while others go on'],
  },
  {
    id: 'DELTA-HFAIL-005',
    what: 'an inner method takes any text for an event',
    edits: [
      [
        'src/hooks/hookEventHandler.ts',
        'hasWork<E extends HookEventName>(event: E,',
        'hasWork<E extends HookEventName>(event: string,',
      ],
    ],
    test: [
      SOURCES,
      'the sources take names of events as the enum, except where they come from outside',
    ],
  },
  ...[
    [
      'no guard is asked again',
      [
        'middleware/runner.ts',
        'if (ctx.results.length > 1) ctx.results',
        'if (!ctx.results) ctx.results',
      ],
      hostile('own formats', 'a tool'),
    ],
    [
      'the last words of hooks that were asked again are lost',
      [
        'middleware/askAgain.ts',
        'results = withLastWords(results, said);',
        'results = [...results];',
      ],
      hostile('own formats', 'a tool'),
    ],
    [
      'the project is trusted most',
      [SCOPES, 'toSorted(([a], [b]) => b - a)', 'toSorted(([a], [b]) => a - b)'],
      hostile('own formats', 'the model'),
    ],
    [
      'tools are united over scopes',
      [SCOPES, '    ...(toolConfig && { toolConfig }),\n', ''],
      hostile('own formats', 'the model'),
    ],
    [
      'what a more trusted hook has stopped at is brought back',
      [SCOPES, '(scope) => scope.continue === false || scope', '(scope) => scope'],
      hostile('own formats', 'the model'),
    ],
    [
      'tools that hooks took away are given back by BeforeModel',
      [EFFECTS, 'return isSame ? request : withinTools(request, selected);', 'return request;'],
      hostile('own formats', 'the model'),
    ],
    [
      'what a failed guard withholds is read',
      ['src/protocol/events.ts', 'if (!withheld) return output;', 'return output;'],
      hostile('a guard of the user, and Claude of the project', 'a tool'),
    ],
    [
      'a server that marks nothing has answered',
      ['src/fleet/answerMark.ts', 'if (isUnmarked && asking.mayBeUnmarked)', 'if (isUnmarked)'],
      [
        HOSTILE,
        'whatever a server says that is no answer, nothing gets past the guard that asks it',
      ],
    ],
  ].map(([what = '', edit, test]) => ({
    id: 'Scopes, guards, answers',
    what: String(what),
    edits: [edit],
    test,
  })),
];

const UNPROVED = 'does not pass without the break: correct the test, or name another one';

const [word = ''] = process.argv.slice(2);
const wanted = BREAKS.filter(({ id, what }) => `${id} ${what}`.includes(word));
if (wanted.length === 0) throw new Error(`No break has "${word}": leave it out to see them all`);
const copy = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-breaks-')));
try {
  await cp(ROOT, copy, {
    recursive: true,
    filter: (source) => !LEFT_OUT.has(path.relative(ROOT, source)),
  });
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const whole = await statusesOf(wanted.map(({ test }) => test));
  const outcomes = [];
  for (const each of wanted) {
    const problem = whole.get(keyOf(each.test)) === 'passed' ? await tryBreak(each) : UNPROVED;
    console.log(`${problem ? 'NOT NOTICED' : 'noticed'} ${each.id}: ${each.what}`);
    if (problem) console.log(`  ${each.test.join(' — ')}: ${problem}`);
    outcomes.push(problem);
  }
  const missed = outcomes.filter(Boolean).length;
  console.log(`breaks: ${wanted.length - missed} of ${wanted.length} noticed`);
  if (missed > 0) process.exitCode = 1;
} finally {
  await rm(copy, { recursive: true, force: true });
}

/** Why a break was not noticed, or nothing. */
async function tryBreak({ edits, test }) {
  const originals = new Map();
  try {
    for (const [file, from, to] of edits) {
      const target = path.join(copy, file);
      const text = await readFile(target, 'utf8');
      if (!originals.has(target)) originals.set(target, text);
      const found = text.split(from).length - 1;
      if (found !== 1) {
        return `${JSON.stringify(from)} stands ${found} times in ${file} and not once: write the break anew`;
      }
      await writeFile(
        target,
        text.replace(from, () => to),
      );
    }
    const status = (await statusesOf([test])).get(keyOf(test)) ?? 'not run, so the break is none';
    return status === 'failed' ? undefined : `is ${status}`;
  } finally {
    for (const [file, text] of originals) await writeFile(file, text);
  }
}

/** What becomes of tests in the copy, by file and title. */
async function statusesOf(tests) {
  const report = path.join(copy, 'coverage/report.json');
  const files = [...new Set(tests.map(([file]) => file))];
  const titles = tests.map(([, title]) => title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
  const options = ['--typecheck=false', '--reporter=json'];
  const pattern = `^(?:${titles.join('|')})$`;
  const args = [vitest, 'run', ...files, ...options, '-t', pattern];
  const { all } = await execa(process.execPath, args, { cwd: copy, all: true, reject: false });
  // Tests that fail make it fail: the report tells which.
  if (!existsSync(report)) throw new Error(`Vitest wrote no report:\n${all}`);
  const { testResults } = JSON.parse(await readFile(report, 'utf8'));
  await rm(report);
  return new Map(
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === 'passed' || status === 'failed')
        .map(({ fullName, status }) => [keyOf([path.relative(copy, name), fullName]), status]),
    ),
  );
}

function keyOf([file, title]) {
  return `${file}\n${title}`;
}
