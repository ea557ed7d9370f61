// Whatever the settings and extensions of a project are, the guards of the user decide as they do without it.
// node test/faults/hostileProjects.mjs [--runs 10000] [--seed N]: needs the build.
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as fc from 'fast-check';

const GUARD = {
  type: 'command',
  name: 'guard',
  command: 'cat > /dev/null; echo guarded >&2; exit 2',
  onFailure: 'deny',
};
const PLAIN = {
  type: 'command',
  name: 'plain',
  command: 'echo plain >&2; exit 2',
  timeout: 30_000,
};

const OF_USER = {
  enableHooks: true,
  disabledHooks: ['off'],
  hooks: {
    BeforeTool: [
      { matcher: '^(write_file|replace)$', hooks: [GUARD] },
      { hooks: [PLAIN, { ...PLAIN, name: 'off' }] },
    ],
    PreToolUse: [{ dialect: 'claude', matcher: 'Bash', hooks: [{ ...GUARD, name: 'claude' }] }],
    BeforeModel: [{ sequential: true, hooks: [{ ...GUARD, name: 'model' }] }],
  },
};
const EXTENSION = {
  name: 'policy',
  hooks: {
    BeforeTool: [{ hooks: [{ ...GUARD, name: 'extension', command: '${extensionPath}/x' }] }],
  },
};

const EVENTS = [
  ['BeforeTool', { toolName: 'write_file' }],
  ['BeforeTool', { toolName: 'run_shell_command' }],
  ['BeforeModel', undefined],
];

const long = (text, count) => text.repeat(count);

/** Texts that some reader of commands, expressions or names once choked on, or that the user's hooks have. */
const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'guard',
      'plain',
      'off',
      'claude',
      'model',
      'extension',
      'policy',
      GUARD.command,
      PLAIN.command,
      '',
      '*',
      '.*',
      '^(\\w+)+!$',
      '(?:',
      '((a+)+)+',
      '__proto__',
      'constructor',
      'toString',

      '${extensionPath}/x',
      '$(',
      '`',
      "'",
      '"',
      "$'\\x41'",
      '{a,b',
      '[[',
      '<<E',
      '> x',
      '~root',
      '\\',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...['-', '{', '(', '"', '\\', '$(', 'a ', '\u00A0', '*/', '../'].map((part) =>
        long(part, 20_000),
      ),
      `true ${long('-', 20_000)}`,
      long('x', 70_000),
      long('(a*)*', 300),
    ),
  },
);

const anything = fc.jsonValue({ maxDepth: 3 });
const odd = (likely) =>
  fc.oneof({ weight: 5, arbitrary: likely }, { weight: 1, arbitrary: anything });
const partial = (fields) => fc.record(fields, { requiredKeys: [] });

const hook = partial({
  type: odd(fc.constantFrom('command', 'command', 'command', 'plugin')),
  command: odd(text),
  name: odd(text),
  timeout: odd(fc.constantFrom(1, -1, 1e300)),
  env: odd(fc.dictionary(fc.oneof(text, fc.constantFrom('PATH', 'HOME')), text, { maxKeys: 3 })),
  onFailure: odd(fc.constantFrom('allow', 'deny')),
  maxConsecutiveFailures: odd(fc.constant(1)),
  prestart: odd(fc.boolean()),
  extensionPath: odd(text),
});

const group = partial({
  matcher: odd(text),
  sequential: odd(fc.boolean()),
  dialect: odd(fc.constantFrom('claude', 'gemini')),
  hooks: odd(fc.array(odd(hook), { maxLength: 4 })),
  origin: odd(fc.constantFrom({ scope: 'user' }, { scope: 'system', file: '/etc/x' })),
});

const event = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('BeforeTool', 'BeforeModel', 'PreToolUse') },
  { weight: 1, arbitrary: text },
);
const hooks = odd(
  fc.dictionary(event, odd(fc.array(odd(group), { maxLength: 4 })), { maxKeys: 4 }),
);

const settings = fc.oneof(
  {
    weight: 8,
    arbitrary: partial({
      hooks,
      enableHooks: odd(fc.constant(false)),
      disabledHooks: odd(fc.array(text, { maxLength: 5 })),
      hookEnvironment: odd(fc.constant({ inherit: 'none' })),
      maxParallelHooks: odd(fc.constant(1)),
      trustedFolder: odd(fc.boolean()),
    }).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      long('[', 100_000),
      long('{"hooks":', 20_000),
      long('\n', 1_100_000),
      `{"hooks":{"BeforeTool":[${long('{"hooks":[]},', 1100)}]}}`,
    ),
  },
);

const manifest = partial({
  name: odd(text),
  version: odd(text),
  hooks,
  middleware: odd(
    fc.array(
      odd(
        partial({
          module: odd(text),
          stack: odd(fc.constantFrom('tool', 'model', 'hook')),
          policy: odd(fc.boolean()),
          before: odd(text),
        }),
      ),
      { maxLength: 3 },
    ),
  ),
});

/** Any project: the text of its settings, and the manifests of its extensions. */
export const hostileProject = fc.record({
  settings,
  manifests: fc.array(
    fc.oneof(
      manifest.map((value) => JSON.stringify(value)),
      fc.json(),
    ),
    {
      maxLength: 2,
    },
  ),
});

async function execute() {
  return { llmContent: 'ran', returnDisplay: 'ran' };
}

/** Compares what a user's hooks do in projects with what they do without. */
export class HostileProjects {
  #runs = 0;

  /** @param library what `hookstack` exports */
  static async open(library) {
    const base = await mkdtemp(path.join(tmpdir(), 'hookstack-hostile-'));
    const projects = new HostileProjects(library, base);
    await projects.#write('home/.llxprt/settings.json', JSON.stringify(OF_USER));
    const manifestOfUser = 'home/.llxprt/extensions/policy/llxprt-extension.json';
    await projects.#write(manifestOfUser, JSON.stringify(EXTENSION));
    projects.expected = (await projects.#plan('nothing')).plans;
    strictEqual(projects.expected[0].hookConfigs.length, 3);
    return projects;
  }

  constructor(library, base) {
    this.library = library;
    this.base = base;
  }

  /** @throws AssertionError when a guard of the user decides otherwise than without the project */
  async check({ settings: ofProject, manifests }) {
    this.#runs += 1;
    const name = `project-${this.#runs}`;
    await this.#write(`${name}/.llxprt/settings.json`, ofProject);
    for (const [index, each] of manifests.entries()) {
      await this.#write(`${name}/.llxprt/extensions/x${index}/llxprt-extension.json`, each);
    }
    // Nobody has allowed anything: the plans are the same to the last field.
    const { plans, config } = await this.#plan(name);
    deepStrictEqual(plans, this.expected);
    // A process takes longer than all the rest.
    if (this.#runs % 50 === 1) await this.#checkCall(config);
    // Where the host trusts the project, its hooks run beside the user's, and not in their place.
    const trusted = await this.#plan(name, { trustedFolder: true });
    for (const [index, { hookConfigs }] of this.expected.entries()) {
      const planned = trusted.plans[index].hookConfigs;
      for (const own of hookConfigs) {
        const found = planned.some((each) => isAtLeast(each, own));
        strictEqual(found, true, `"${own.name}" is not planned as the user has it`);
      }
    }
    await rm(path.join(this.base, name), { recursive: true });
  }

  async close() {
    await rm(this.base, { recursive: true, force: true });
  }

  async #checkCall(config) {
    const { executeToolWithHooks } = this.library;
    const { error, llmContent } = await executeToolWithHooks(config, 'write_file', {}, execute);
    strictEqual(error?.type, 'blocked_by_hook', `the tool was not blocked: ${llmContent}`);
  }

  async #plan(name, options = {}) {
    const { Config, DebugLogger, HookPlanner, loadExtensions, loadSettings, openConsent } =
      this.library;
    class Silent extends DebugLogger {
      warn() {}
      extend() {
        return this;
      }
    }
    const home = path.join(this.base, 'home');
    const workingDir = path.join(this.base, name);
    const loaded = await loadSettings({
      workingDir,
      home,
      systemPath: path.join(this.base, 'none'),
    });
    const { extensions } = await loadExtensions({ workingDir, home });
    const consent = await openConsent({ workingDir, home });
    const debugLogger = new Silent('hostile');
    const config = new Config({
      ...loaded.settings,
      workingDir,
      extensions,
      consent,
      debugLogger,
      hooksRunner: { warmShells: 0 },
      ...options,
    });
    const system = config.getHookSystem();
    await system.initialize();
    const planner = new HookPlanner(system.getRegistry(), debugLogger);
    const plans = EVENTS.map(([each, context]) => planner.createExecutionPlan(each, context));
    return { plans, config };
  }

  async #write(file, content) {
    const target = path.join(this.base, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, content, { mode: 0o644 });
  }
}

/** Whether a planned hook is one of the user, which the project may at most have made a guard. */
function isAtLeast({ onFailure, ...planned }, { onFailure: given, ...own }) {
  if (given === 'deny' && onFailure !== 'deny') return false;
  return JSON.stringify(planned) === JSON.stringify(own);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string' } },
  });
  const projects = await HostileProjects.open(await import('../../dist/index.js'));
  const numRuns = Number(values.runs);
  const startedAt = performance.now();
  let slowestMs = 0;
  try {
    const property = fc.asyncProperty(hostileProject, async (project) => {
      const before = performance.now();
      await projects.check(project);
      slowestMs = Math.max(slowestMs, performance.now() - before);
    });
    await fc.assert(property, { numRuns, ...(values.seed && { seed: Number(values.seed) }) });
  } finally {
    await projects.close();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    `${numRuns} projects in ${seconds} s, the slowest in ${Math.round(slowestMs)} ms: the user's guards decide as without them`,
  );
}
