import { readFileSync } from 'node:fs';
import path from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What may be done in some files only: the door, and those who may stand at it. */
interface Door {
  readonly door: string;
  /** What goes through it, as it is written in code. */
  readonly what: RegExp;
  readonly only: readonly string[];
  /** A line that goes round it. */
  readonly round: string;
}

const DOORS: readonly Door[] = [
  {
    door: 'a tool is run, and a model called, where it is known what hooks have seen',
    what: /\bcall\.(?:execute|open)\(/,
    only: ['middleware/callerEffects.ts'],
    round: 'call.result = await call.execute(changed);',
  },
  {
    door: 'what hooks have seen is noted where they have answered',
    what: /\bcall\.(?:seenInput|seenRequest|selected) = /,
    only: ['middleware/callerEffects.ts'],
    round: 'call.seenInput = call.input;',
  },
  {
    door: 'what hooks said to a call is applied to it in one file, for calls whole and in halves',
    what: /\bcall\.(?:block|stop)\(|\bcall\.input = /,
    only: ['middleware/callerEffects.ts'],
    round: "if (verdict.kind === 'block') return call.block(reasonOf(verdict));",
  },
  {
    door: 'the verdict of a call is made in the file that says what a block and a stop mean',
    what: /\bkind: '(?:block|stop)', event\b/,
    // The other one is of a call that is not made, since a tool before it has stopped the agent.
    only: ['src/context.ts', 'src/hosts/translate.ts'],
    round: "verdict: stopped ? { kind: 'stop', event, reason, hooks } : ALLOW,",
  },
  {
    door: 'a plan is run, and guards are asked again, by the runner',
    what: /\.executeHooks(?:Parallel|Sequential)\(/,
    only: ['middleware/runner.ts'],
    round: 'await hooks.executeHooksParallel(some, event, input);',
  },
  {
    door: 'answers of several scopes are merged by trust',
    what: /\b(?:distrustOf|mergeScopes|mostTrusted)\(/,
    only: [
      'src/protocol/identity.ts',
      'middleware/scopes.ts',
      'middleware/aggregator.ts',
      'middleware/askAgain.ts',
      'src/core/decideReceived.ts',
    ],
    round: 'if (distrustOf(hook) > 0) continue;',
  },
  {
    door: 'what is said in place of a guard that failed is written in one place',
    what: /foreign\??\.withheld|foreign: \{ withheld/,
    only: ['src/protocol/events.ts', 'src/run/hookFailure.ts'],
    round: "return { foreign: { withheld: 'it failed' } };",
  },
  {
    door: 'what a command of LangChain says is read, and written, in one file',
    what: /\bgoto\b|\bupdate\?*\.messages\b|\bupdate\[/,
    only: ['src/hosts/langchain/commands.ts'],
    round: 'const messages = given.update.messages;',
  },
  {
    door: 'raw data of a provider goes on by the files that know whether hooks changed the answer',
    what: /\bproviderData\b|\b(?:groundingMetadata|citationMetadata|customMetadata)\b/,
    only: [
      'src/hosts/adk/answer.ts',
      'src/hosts/openai/answer.ts',
      'src/hosts/openai/types.ts',
      // Our own word in it.
      'src/hosts/openai/items.ts',
      'src/hosts/openai/tools.ts',
    ],
    round: 'return { ...given, providerData: raw };',
  },
  {
    door: 'servers are asked where it is read whether their answers are some',
    what: /\b(?:postQuestion|askOverNats)\(/,
    only: ['src/fleet/ask.ts', 'src/fleet/postQuestion.ts', 'src/fleet/natsQuestions.ts'],
    round: 'const { text } = await postQuestion(url, asking);',
  },
  {
    door: 'an answer of a server is marked, and read, in one file',
    what: /\bNOTE_KEY\b/,
    only: ['src/fleet/answerMark.ts', 'src/fleet/question.ts', 'src/fleet/secret.ts'],
    round: 'const { [NOTE_KEY]: note } = JSON.parse(text);',
  },
  {
    door: 'whether an answer may call a tool is decided by one function, which says no where that is not known',
    what: /\b(?:notAllowed|refusalOfCall)\((?!received)|llowed(?:Tools|Names)?\)?\??\.includes\((?:\w+\.)?name\)\) (?:return|throw)/,
    only: [
      'src/core/coreToolScheduler.ts',
      'src/hosts/allowed.ts',
      'src/hosts/langchain.ts',
      'src/hosts/adk.ts',
      'src/hosts/ai/memory.ts',
      'src/hosts/openai/tools.ts',
    ],
    round: 'if (!allowedTools.includes(call.name)) return refuse(call);',
  },
  {
    door: 'what a call carries of what its answer may call is written and read in one file',
    what: /\b(?:allowedBy|readAllowed)\(/,
    only: [
      'src/hosts/allowed.ts',
      'src/hosts/langchain.ts',
      'src/hosts/ai/memory.ts',
      'src/hosts/openai/model.ts',
      'src/hosts/openai/tools.ts',
    ],
    round: 'const allowed = readAllowed(call.providerData);',
  },
  {
    door: 'a main thread that does not come back is ended by one thread beside it',
    what: /\bnew Watchdog\(|watchdogThread/,
    only: ['src/cli/shared/watchdog.ts', 'src/cli/hook/runHooks.ts', 'src/cli/mcp/mcp.ts'],
    round: "import thread from './watchdogThread.js?raw';",
  },
  {
    door: 'hooks for another agent run where it is known what ends them',
    what: /\brunHooks\(/,
    only: ['src/cli/main.ts', 'src/cli/hook/runHooks.ts'],
    round: 'return runHooks(options);',
  },
];

/** The code of a source, without its comments. */
function readCode(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/^\s*\/\/.*$/gm, '');
}

const sources = new Map(
  globSync(['src/**/*.ts', 'middleware/*.ts'], { cwd: ROOT }).map((file) => [file, readCode(file)]),
);

/** Who goes through without being one of those who may. */
function strangers({ what, only }: Door, code: ReadonlyMap<string, string>): string[] {
  return [...code].flatMap(([file, text]) =>
    what.test(text) && !only.includes(file) ? [file] : [],
  );
}

describe.each(DOORS)('$door', (door) => {
  it('and nowhere else', () => {
    expect(strangers(door, sources)).toEqual([]);
  });

  it('by all that are named', () => {
    expect(door.only.filter((file) => !door.what.test(sources.get(file) ?? ''))).toEqual([]);
  });

  it('which is noticed where somebody goes round it', () => {
    const changed = new Map([...sources, ['src/hosts/new.ts', door.round]]);
    expect(strangers(door, changed)).toEqual(['src/hosts/new.ts']);
  });
});
