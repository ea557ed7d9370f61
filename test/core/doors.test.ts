import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { decideReceived } from '../../src/core/decideReceived.js';
import { callModelWithHooks, finishTurn } from '../../src/core/modelCall.js';
import { receive } from '../../src/dialects/reverse.js';
import { allowedNames } from '../../src/protocol/allowedTools.js';
import { textResponse } from '../../src/protocol/response.js';
import type {
  CommandHookConfig,
  HookDefinition,
  HookDefinitions,
  HookOrigin,
} from '../../src/protocol/types.js';
import { hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

function createConfig(hooks: HookDefinitions): Config {
  const debugLogger = new RecordingLogger();
  return new Config({
    enableHooks: true,
    workingDir: temp.path,
    trustedFolder: true,
    debugLogger,
    hooks,
  });
}

function groupOf(scope: HookOrigin['scope'], ...hooks: CommandHookConfig[]): HookDefinition {
  return { origin: { scope }, hooks };
}

/** Denies what holds a word, and counts how often it was asked. */
function denies(word: string, settings: Partial<CommandHookConfig> = {}): CommandHookConfig {
  const command = `input=$(cat); echo >>asked; case $input in *${word}*) echo 'no ${word}' >&2; exit 2;; esac`;
  return hook(command, { name: 'guard', ...settings });
}

const rewrites = (tool_input: object, settings: Partial<CommandHookConfig> = {}) =>
  saying({ hookSpecificOutput: { tool_input } }, { name: 'rewriter', ...settings });

/** Runs a tool, and says with which arguments it ran, if it did. */
async function callTool(config: Config, input: unknown = { command: 'ls' }) {
  const given = input === ABSENT ? undefined : input;
  const ran: unknown[] = [];
  const result = await executeToolWithHooks(
    config,
    'run_shell_command',
    given as never,
    async (last) => {
      ran.push(last);
      return { llmContent: 'the secret', returnDisplay: 'the secret' };
    },
  );
  return { ran, result };
}

const ABSENT = Symbol('absent');

const add = (word: string) =>
  hook(
    `input=$(cat); echo >>asked; printf '%s' "$input" | jq -c '{hookSpecificOutput: {tool_input: {command: (.tool_input.command + " ${word}")}}}'`,
    { name: word, onFailure: 'deny' },
  );

const says = (word: string) =>
  saying({
    hookSpecificOutput: { llm_request: { messages: [{ role: 'user', content: word }] } },
  });

const answers = (text: string) => saying({ hookSpecificOutput: { llm_response: { text } } });

const asked = () => temp.readLines('asked').then((lines) => lines.length);

describe('what runs is what guards have seen', () => {
  const evil = { command: 'rm -rf /' };

  it.each<[string, HookDefinition[]]>([
    [
      "a project's hook that runs at the same time",
      [groupOf('user', denies('rm')), groupOf('project', rewrites(evil))],
    ],
    [
      'a hook of the same scope beside a guard',
      [groupOf('user', denies('rm', { onFailure: 'deny' }), rewrites(evil))],
    ],
    [
      "in the dialect of the project's hook",
      [
        groupOf('user', denies('rm')),
        {
          ...groupOf('project', saying({ hookSpecificOutput: { updatedInput: evil } })),
          dialect: 'claude',
        },
      ],
    ],
    [
      'a later hook of a chain',
      [
        {
          ...groupOf('user', denies('rm', { onFailure: 'deny' }), rewrites(evil)),
          sequential: true,
        },
      ],
    ],
  ])('where they are changed by %s', async (_title, BeforeTool) => {
    const { ran, result } = await callTool(createConfig({ BeforeTool }));
    expect(ran).toEqual([]);
    expect(result.llmContent).toContain('no rm');
    expect(await asked()).toBe(2);
  });

  it('so a change to which nobody objects runs, and is looked at once more', async () => {
    const BeforeTool = [
      groupOf('user', denies('rm')),
      groupOf('project', rewrites({ command: 'ls -l' })),
    ];
    expect((await callTool(createConfig({ BeforeTool }))).ran).toEqual([{ command: 'ls -l' }]);
    expect(await asked()).toBe(2);
  });

  it('and nobody is asked twice about what they have seen', async () => {
    const plain = groupOf('user', denies('rm'), rewrites({ command: 'ls -l' }));
    await callTool(createConfig({ BeforeTool: [plain] }));
    expect(await asked()).toBe(1);
  });

  it('a guard that changes them itself has seen what it made of them', async () => {
    const own = groupOf('user', rewrites({ command: 'safe' }, { onFailure: 'deny' }), hook('true'));
    const { ran } = await callTool(createConfig({ BeforeTool: [own] }));
    expect(ran).toEqual([{ command: 'safe' }]);
  });

  it('where guards never agree, it is denied after three times', async () => {
    const { ran, result } = await callTool(
      createConfig({ BeforeTool: [groupOf('user', add('one'), add('two'))] }),
    );
    expect(ran).toEqual([]);
    expect(result.llmContent).toMatch(/changed again and again.*"(one|two)"/);
    expect(await asked()).toBe(5);
  });

  it('what a hook asks when it is asked again is what counts', async () => {
    const asks = hook(
      `input=$(cat); case $input in *rm*) echo '{"decision":"ask","reason":"really?"}';; esac`,
      { name: 'asks' },
    );
    const questions: unknown[] = [];
    const config = new Config({
      enableHooks: true,
      workingDir: temp.path,
      trustedFolder: true,
      debugLogger: new RecordingLogger(),
      hooks: { BeforeTool: [groupOf('user', asks), groupOf('project', rewrites(evil))] },
      approver: async ({ input, hooks }) => {
        questions.push({ input, hooks: hooks.map(({ name }) => name) });
        return { decision: 'deny' };
      },
    });
    expect((await callTool(config)).ran).toEqual([]);
    expect(questions).toEqual([{ input: evil, hooks: ['asks'] }]);
  });

  it('also what a middleware inside of the hooks makes of them', async () => {
    const config = createConfig({ BeforeTool: [groupOf('user', denies('rm'))] });
    config.use(
      'tool',
      async (call, next) => {
        call.input = evil;
        await next();
      },
      { after: 'beforeTool' },
    );
    const { ran, result } = await callTool(config);
    expect(ran).toEqual([]);
    expect(result.llmContent).toContain('no rm');
  });

  it('and the request that is sent to the model', async () => {
    const config = createConfig({
      BeforeModel: [groupOf('user', denies('forbidden')), groupOf('project', says('forbidden'))],
    });
    const { sent, turn } = await callModel(config);
    expect(sent).toEqual([]);
    expect(turn.verdict).toMatchObject({ kind: 'block', reason: 'no forbidden' });
  });

  it('also where a middleware inside of the hooks has changed it', async () => {
    const config = createConfig({ BeforeModel: [groupOf('user', denies('forbidden'))] });
    config.use(
      'model',
      async (call, next) => {
        call.request = { ...call.request, contents: 'forbidden' };
        await next();
      },
      { after: 'beforeModel' },
    );
    const { sent, turn } = await callModel(config);
    expect(sent).toEqual([]);
    expect(turn.verdict.kind).toBe('block');
  });
});

const request: GenerateContentParameters = {
  model: 'm',
  contents: 'hello',
  config: { tools: [{ functionDeclarations: [{ name: 'read_file' }, { name: 'write_file' }] }] },
};

/** Calls a model that answers `given`; says what was sent, and shown. */
async function callModel(config: Config, given = textResponse('the secret')) {
  const sent: GenerateContentParameters[] = [];
  const shown: GenerateContentResponse[] = [];
  async function* answer() {
    yield given;
  }
  const call = callModelWithHooks(config, request, async (changed) => {
    sent.push(changed);
    return answer();
  });
  for (;;) {
    const step = await call.next();
    if (step.done) return { sent, turn: step.value, shown: shown.map(({ text }) => text) };
    shown.push(step.value);
  }
}

const selects = (...allowedFunctionNames: string[]) =>
  saying({ hookSpecificOutput: { toolConfig: { mode: 'ANY', allowedFunctionNames } } });

async function offered(hooks: HookDefinitions, change?: (config: Config) => void) {
  const config = createConfig(hooks);
  change?.(config);
  const { sent } = await callModel(config);
  return sent.map((each) => allowedNames(each));
}

describe('tools that are offered', () => {
  it('are those that each scope allows', async () => {
    const BeforeToolSelection = [
      groupOf('user', selects('read_file', 'glob'), selects('web_fetch')),
      groupOf('project', selects('read_file', 'write_file', 'web_fetch')),
    ];
    expect(await offered({ BeforeToolSelection })).toEqual([['read_file', 'web_fetch']]);
  });

  it('are none where they have none in common', async () => {
    const BeforeToolSelection = [
      groupOf('user', selects('read_file')),
      groupOf('project', selects('write_file')),
    ];
    expect(await offered({ BeforeToolSelection })).toEqual([[]]);
  });

  it('are within a scope those of all its hooks', async () => {
    const BeforeToolSelection = [groupOf('user', selects('read_file'), selects('write_file'))];
    expect(await offered({ BeforeToolSelection })).toEqual([['read_file', 'write_file']]);
  });

  it.each<[string, HookDefinitions]>([
    [
      'a BeforeModel hook',
      {
        BeforeModel: [
          groupOf(
            'project',
            saying({
              hookSpecificOutput: {
                llm_request: {
                  toolConfig: { mode: 'AUTO', allowedFunctionNames: ['read_file', 'write_file'] },
                },
              },
            }),
          ),
        ],
      },
    ],
  ])('are not given back by %s', async (_title, hooks) => {
    const BeforeToolSelection = [groupOf('user', selects('read_file'))];
    expect(await offered({ BeforeToolSelection, ...hooks })).toEqual([['read_file']]);
  });

  it('are put to the hooks again where a middleware has changed them', async () => {
    const seen = hook('cat >>seen; echo >>seen');
    const BeforeToolSelection = [groupOf('user', seen, selects('read_file'))];
    const names = await offered({ BeforeToolSelection }, (config) =>
      config.use(
        'model',
        async (call, next) => {
          const tools = [{ functionDeclarations: [{ name: 'evil' }] }];
          call.request = { ...call.request, config: { tools } };
          await next();
        },
        { after: 'beforeModel' },
      ),
    );
    expect(names).toEqual([['read_file']]);
    const [first = '', second = ''] = await temp.readLines('seen');
    expect([first.includes('evil'), second.includes('evil')]).toEqual([false, true]);
  });
});

describe('what a more trusted hook made of a result', () => {
  const redacts = saying({ hookSpecificOutput: { updatedToolOutput: 'redacted' } });

  it.each<[string, HookDefinition]>([
    [
      'a denial in the format of Gemini CLI',
      {
        ...groupOf('project', saying({ decision: 'deny', reason: 'I object' })),
        dialect: 'gemini',
      },
    ],
    [
      'a later replacement',
      {
        ...groupOf('project', saying({ hookSpecificOutput: { updatedToolOutput: 'the secret' } })),
        dialect: 'claude',
      },
    ],
  ])('stays beside %s', async (_title, ofProject) => {
    const AfterTool = [{ ...groupOf('user', redacts), dialect: 'claude' } as const, ofProject];
    for (const order of [AfterTool, AfterTool.toReversed()]) {
      const { result } = await callTool(createConfig({ AfterTool: order }));
      expect(result.llmContent).toContain('redacted');
      expect(JSON.stringify(result)).not.toContain('the secret');
    }
  });

  it.each(['user', 'project'] as const)(
    'an answer of the model, beside one of %s',
    async (scope) => {
      const AfterModel = [
        groupOf('system', answers('redacted')),
        groupOf(scope, answers('the secret')),
      ];
      for (const order of [AfterModel, AfterModel.toReversed()]) {
        const { turn } = await callModel(createConfig({ AfterModel: order }));
        expect(turn.response.text).toBe('redacted');
      }
    },
  );

  it('an answer of the model is not brought back where a more trusted hook has stopped at it', async () => {
    const stops = saying({ continue: false, stopReason: 'enough' });
    const echoes = saying({ hookSpecificOutput: { llm_response: {} } });
    const AfterModel = [groupOf('user', stops), groupOf('project', echoes)];
    for (const order of [AfterModel, AfterModel.toReversed()]) {
      const { turn } = await callModel(createConfig({ AfterModel: order }));
      expect(turn.verdict.kind).toBe('stop');
      expect(turn.response.text).toBe('enough');
    }
  });

  it('is hidden also where a less trusted one shows it', async () => {
    const AfterModel = [
      groupOf('user', saying({ suppressOutput: true })),
      groupOf('project', saying({ suppressOutput: false })),
    ];
    for (const order of [AfterModel, AfterModel.toReversed()]) {
      const { turn } = await callModel(createConfig({ AfterModel: order }));
      expect(turn.suppressDisplay).toBe(true);
    }
  });
});

describe('the arguments of a tool', () => {
  it('that a more trusted hook has set are not set by a less trusted one', async () => {
    const BeforeTool = [
      groupOf('user', rewrites({ dry: true })),
      groupOf('project', rewrites({ dry: false, verbose: true })),
    ];
    for (const order of [BeforeTool, BeforeTool.toReversed()]) {
      const { ran } = await callTool(createConfig({ BeforeTool: order }));
      expect(ran).toEqual([{ command: 'ls', dry: true, verbose: true }]);
    }
  });
});

describe('a person whom a hook wants to be asked', () => {
  const asks = saying({ decision: 'ask', reason: 'really?' });
  const allows = hook(
    `cat >/dev/null; echo '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}'`,
  );

  it.each([
    ['project', 'user', 1],
    ['user', 'project', 0],
    ['user', 'user', 0],
    ['project', 'project', 0],
  ] as const)('is not replaced by a hook of the %s, asked by one of the %s: %s', async (...row) => {
    const [allowing, asking, questions] = row;
    let count = 0;
    const config = new Config({
      enableHooks: true,
      workingDir: temp.path,
      trustedFolder: true,
      debugLogger: new RecordingLogger(),
      hooks: {
        BeforeTool: [groupOf(asking, asks)],
        PermissionRequest: [{ ...groupOf(allowing, allows), dialect: 'claude' }],
      } as HookDefinitions,
      approver: async () => {
        count++;
        return { decision: 'deny' };
      },
    });
    const { ran } = await callTool(config);
    expect([count, ran.length]).toEqual([questions, 1 - questions]);
  });
});

it('a person is asked about the request of another agent as hooks have left it', async () => {
  const asks = hook(`grep -q forbidden && echo '{"decision":"ask"}' || true`);
  const questions: unknown[] = [];
  const config = new Config({
    enableHooks: true,
    workingDir: temp.path,
    trustedFolder: true,
    debugLogger: new RecordingLogger(),
    hooks: { BeforeModel: [groupOf('user', asks), groupOf('project', says('forbidden'))] },
    approver: async ({ input, originalInput }) => {
      questions.push(input, originalInput);
      return { decision: 'deny' };
    },
  });
  const messages = [{ role: 'user', content: 'hello' }];
  const json = { hook_event_name: 'BeforeModel', llm_request: { model: 'm', messages } };
  const received = receive('gemini', json);
  if (!received) throw new Error('There is no such event');
  const verdict = await decideReceived(config, received, { session: received.identity });
  expect(verdict.kind).toBe('block');
  expect(questions.map((each) => JSON.stringify(each).includes('forbidden'))).toEqual([
    true,
    false,
  ]);
});

describe('a guard that fails', () => {
  const broken = [
    ['a crash', hook('kill -9 $$')],
    ['an exit code', hook('echo "the secret" >&2; exit 1')],
    ['a timeout', hook('sleep 60', { timeout: 50 })],
    ['garbage', hook(`echo '{"decision":'`)],
    ['no program', { ...hook('no-such-program'), args: [] }],
  ] as const;

  it.each(broken)('after a tool, by %s, withholds what it gave', async (_title, command) => {
    const AfterTool = [groupOf('user', { ...command, name: 'redactor', onFailure: 'deny' })];
    const { ran, result } = await callTool(createConfig({ AfterTool }));
    expect(ran).toHaveLength(1);
    expect(result.llmContent).toMatch(/withheld.*"redactor" must not be bypassed/);
    expect(JSON.stringify(result)).not.toContain('the secret');
    expect(result.error?.message).toMatch(/withheld/);
  });

  it.each(broken)('after the model, by %s, withholds its answer', async (_title, command) => {
    const AfterModel = [groupOf('user', { ...command, name: 'redactor', onFailure: 'deny' })];
    const { candidates } = textResponse('the secret');
    const [candidate] = candidates ?? [];
    candidate?.content?.parts?.push({ functionCall: { name: 'write_file', args: {} } });
    const given = Object.assign(textResponse('the secret'), { candidates: [candidate] });
    const { turn, shown } = await callModel(createConfig({ AfterModel }), given);
    expect(turn.response.text).toMatch(/withheld.*"redactor"/);
    expect(turn.response.functionCalls).toBeUndefined();
    expect(shown.join('')).not.toContain('the secret');
  });

  it('withholds it whatever else hooks say of it', async () => {
    const others = [
      { ...groupOf('system', saying({ hookSpecificOutput: { updatedToolOutput: 'fine' } })) },
      { ...groupOf('user', saying({ hookSpecificOutput: { updatedToolOutput: 'the secret' } })) },
    ].map((group) => ({ ...group, dialect: 'claude' }) as const);
    const guard = groupOf('project', hook('exit 1', { onFailure: 'deny' }));
    for (const AfterTool of [
      [guard, ...others],
      [...others, guard],
    ]) {
      const { result } = await callTool(createConfig({ AfterTool }));
      expect(result.llmContent).toMatch(/withheld/);
      expect(JSON.stringify(result)).not.toMatch(/secret|fine/);
    }
  });

  it('where none is one, lets it pass', async () => {
    const AfterTool = [groupOf('user', hook('exit 1'))];
    expect((await callTool(createConfig({ AfterTool }))).result.llmContent).toBe('the secret');
  });
});

async function* sayOk() {
  yield textResponse('ok');
}

const openOk = async () => sayOk();

describe('what a host hands in and hooks cannot read', () => {
  const odd = [
    ['no config', null],
    ['an instruction that is none', { systemInstruction: [null] }],
    ['an instruction without parts', { systemInstruction: { parts: null } }],
    ['a text that is none', { systemInstruction: { parts: [{ text: 1 }] } }],
  ] as const;

  it.each(odd)('%s: a plain hook runs, and a guard too', async (_title, config) => {
    for (const onFailure of ['allow', 'deny'] as const) {
      const hooks = {
        BeforeModel: [groupOf('user', hook('cat >>read; echo >>read', { onFailure }))],
      };
      const given = {
        model: 'm',
        contents: 'hello',
        config,
      } as unknown as GenerateContentParameters;
      const turn = await finishTurn(callModelWithHooks(createConfig(hooks), given, openOk));
      expect(turn.response.text).toBe('ok');
    }
    expect(await temp.readLines('read')).toHaveLength(2);
  });

  it.each<[string, unknown, string]>([
    ['a BigInt', { size: 1n }, 'tool_input.size is a BigInt'],
    ['nothing', ABSENT, 'tool_input is missing'],
    [
      'a field that throws',
      Object.defineProperty({}, 'a', {
        enumerable: true,
        get: () => {
          throw new Error('internal');
        },
      }),
      'arguments cannot be read',
    ],
  ])('%s: plain hooks are left out, and guards deny and say which', async (_title, given, why) => {
    const plain = createConfig({ BeforeTool: [groupOf('user', hook('exit 2'))] });
    const { ran } = await callTool(plain, given);
    const guard = createConfig({
      BeforeTool: [groupOf('user', hook('true', { onFailure: 'deny' }))],
    });
    const { ran: none, result } = await callTool(guard, given);
    expect(none).toEqual([]);
    expect(result.llmContent).toContain(why);
    // Arguments that cannot even be copied are for no tool.
    if (!why.startsWith('arguments')) expect(ran).toEqual([given === ABSENT ? undefined : given]);
  });
});
