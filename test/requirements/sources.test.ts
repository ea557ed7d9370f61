import { describe, expect, it } from 'vitest';
import {
  describePlace,
  findIn,
  findNodes,
  isNode,
  listFiles,
  nameOf,
  readSource,
  type Found,
  type SyntaxNode,
} from './syntax.js';

/** The places, as `file:line: text`, at which files of this repository match. */
function find(pattern: RegExp, ...globs: string[]): string[] {
  return listFiles(...globs).flatMap((file) =>
    readSource(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? `${file}:${index + 1}: ${line.trim()}` : [])),
  );
}

const everything = ['src/**/*.ts', 'middleware/*.ts'];

/** Functions that fire events. */
const TRIGGER = /^(?:fire|fire\w*(?:Event|Hook)|ask(?:Before|After)\w+|executeToolWithHooks)$/;

/** Whether a call fires events and nothing waits for what comes of it. */
function isFloating(node: SyntaxNode, [parent, ...outside]: readonly SyntaxNode[]): boolean {
  if (node.type !== 'CallExpression' || !TRIGGER.test(nameOf(node['callee']) ?? '')) return false;
  return isDropped(node, parent, outside);
}

const PASSING_ON = /^(?:Parenthesized|Chain|Conditional|Logical|TSAs|TSNonNull|TSSatisfies)Exp/;

/** Whether the value of an expression ends nowhere, also that of `.then()`, `.catch()` and `.finally()` on it. */
function isDropped(
  node: SyntaxNode,
  parent: SyntaxNode | undefined,
  [next, ...outside]: readonly SyntaxNode[],
): boolean {
  if (!parent || parent.type === 'ExpressionStatement') return true;
  if (parent.type === 'UnaryExpression') return true;
  if (parent.type === 'SequenceExpression') {
    return (parent['expressions'] as unknown[]).at(-1) !== node || isDropped(parent, next, outside);
  }
  if (PASSING_ON.test(parent.type)) return isDropped(parent, next, outside);
  const isChained =
    parent.type === 'MemberExpression' &&
    parent['object'] === node &&
    /^(?:then|catch|finally)$/.test(nameOf(parent) ?? '');
  return isChained && next !== undefined && isDropped(next, outside[0], outside.slice(1));
}

/** Whether a node asks for the terminal of the process, by whatever name. */
function asksForTerminal(node: SyntaxNode): boolean {
  const name = node.type === 'TemplateElement' ? templateText(node) : nameOf(node);
  return (
    node.type !== 'MemberExpression' &&
    /^(?:is_?a?tty\w*|(?:node:)?(?:tty|readline)(?:\/promises)?|\/dev\/tty|setRawMode)$/i.test(
      name ?? '',
    )
  );
}

function templateText({ value }: SyntaxNode): string {
  return (value as { raw: string }).raw;
}

/** Whether a parameter, variable or field for the name of an event takes any text. */
function takesAnyEventName(node: SyntaxNode): boolean {
  const name = nameOf(node.type === 'Identifier' ? node : node['key']);
  return /^(?:hook_?)?event(?:_?name)?$/i.test(name ?? '') && saysString(node['typeAnnotation']);
}

/** Whether a type is `string`, also as one of several. */
function saysString(type: unknown): boolean {
  if (!isNode(type)) return false;
  if (type.type === 'TSTypeAnnotation') return saysString(type['typeAnnotation']);
  if (type.type === 'TSUnionType') return (type['types'] as unknown[]).some(saysString);
  return type.type === 'TSStringKeyword';
}

const PARTS = /^Hook(?:System|Registry|Planner|Runner|Aggregator|EventHandler)$/;

/** Whether a class of the hook system is imported as a value, which is needed to make one. */
function importsPart(node: SyntaxNode, [parent]: readonly SyntaxNode[]): boolean {
  const isValue = node['importKind'] !== 'type' && parent?.['importKind'] !== 'type';
  if (node.type === 'ImportSpecifier') return isValue && PARTS.test(nameOf(node['imported']) ?? '');
  const source = nameOf(parent?.['source'] ?? node['source']) ?? '';
  const isWhole = node.type === 'ImportNamespaceSpecifier' || node.type === 'ImportExpression';
  return (
    isWhole &&
    isValue &&
    /\/(?:hook(?:System|Registry|Planner|Runner|Aggregator|EventHandler)|hooks\/index)\.js$/.test(
      source,
    )
  );
}

/** The names of what was found, by file. */
function byFile(found: readonly Found[], name: (each: Found) => string): Record<string, string[]> {
  const files: Record<string, string[]> = {};
  for (const each of found) (files[each.file] ??= []).push(name(each));
  return files;
}

describe('the sources', () => {
  it('hold no id of a requirement and no marker of a plan', () => {
    const pattern = /\b(?:HOOK-\d|DELTA-H)|@(?:plan|requirement)\b/;
    expect(find(pattern, ...everything, 'examples/**/*.mjs')).toEqual([]);
  });

  it('fire no event without looking at what came of it', () => {
    const found = findNodes(listFiles(...everything, 'examples/**/*.mjs'), isFloating);
    expect(found.map((each) => describePlace(each))).toEqual([]);
  });

  it.each([
    'fireHook(config);',
    'void fireHook(config);',
    'void\n  fireHook(config);',
    'fireHook(config).catch(() => undefined);',
    'void fireHook(config)?.then(apply).finally(done);',
    'config && handler.fireBeforeToolEvent(config);',
    '(fireHook(config), 1);',
    'this.#hooks.fire(event) as unknown;',
  ])('would not get by with %s', (source) => {
    expect(findIn('a.ts', source, isFloating)).toHaveLength(1);
  });

  it.each([
    'await fireHook(config);',
    'const fired = fireHook(config);',
    'const fire = () => fireHook(config).catch(warn);',
    'apply(await askAfterModel(config));',
    'const fired = (await fireHook(config)) ?? none;',
  ])('may say %s', (source) => {
    expect(findIn('a.ts', source, isFloating)).toEqual([]);
  });

  it('ask for a terminal only where the program talks to a person', () => {
    const found = findNodes(listFiles(...everything), asksForTerminal);
    expect(byFile(found, ({ node }) => nameOf(node) ?? node.type)).toEqual({
      // A hook that its author runs by hand waits for its input, and says so.
      'src/author.ts': ['isTTY'],
      // Which guards are to be added.
      'src/cli/add/offerGuards.ts': ['node:readline/promises'],
      // Whether the hooks of a plugin may run.
      'src/cli/add/plugins/pluginReview.ts': ['node:readline/promises'],
      // A client is to start it, and not a person, which it says.
      'src/cli/mcp/mcp.ts': ['isTTY'],
      'src/cli/run/run.ts': ['isTTY', 'isTTY', 'isTTY'],
      // Reads lines of a pipe.
      'src/cli/run/stdinApprover.ts': ['node:readline'],
      'src/cli/run/terminalApprover.ts': [
        'node:tty',
        'isTTY',
        'isTTY',
        'isTTY',
        'setRawMode',
        'setRawMode',
      ],
      // For `trust`, and for what asks which hook is meant.
      'src/cli/shared/streams.ts': ['isTTY', 'isTTY'],
      'src/cli/shared/terminal.ts': ['isTTY', 'isTTY', 'node:tty'],
      // Of several hooks of one name, which is meant.
      'src/cli/switch/meantHook.ts': ['node:readline/promises'],
      'src/cli/trust/trust.ts': ['node:readline/promises'],
      // Asks nothing: the type of streams that somebody else has.
      'src/util/requester.ts': ['isTTY', 'isTTY'],
    });
  });

  it('make the parts of the hook system in one place', () => {
    const found = findNodes(listFiles(...everything), importsPart);
    const names = byFile(found, ({ node }) => nameOf(node['imported']) ?? node.type);
    for (const name of Object.keys(names)) names[name]?.sort();
    expect(names).toEqual({
      'src/config/config.ts': ['HookSystem'],
      'src/hooks/hookSystem.ts': [
        'HookAggregator',
        'HookEventHandler',
        'HookPlanner',
        'HookRegistry',
        'HookRunner',
      ],
      // What lists hooks and runs none.
      'src/cli/shared/workspace.ts': ['HookRegistry'],
    });
    const made = findNodes(
      ['src/config/config.ts', 'src/hooks/hookSystem.ts'],
      (node) => node.type === 'NewExpression' && PARTS.test(nameOf(node['callee']) ?? ''),
    );
    expect(made).toHaveLength(6);
  });

  it("keep the hooks' own format of requests and responses from the callers", () => {
    const callers = ['src/core/*.ts', 'middleware/callerEffects.ts'];
    expect(find(/\bLLM(?:Request|Response)\b|\b(?:to|from)HookLLM/, ...callers)).toEqual([]);
  });

  it('take names of events as the enum, except where they come from outside', () => {
    const internal = ['src/hooks/*.ts', 'src/protocol/*.ts', 'src/core/*.ts', 'src/context.ts'];
    const found = findNodes(listFiles(...internal, 'middleware/*.ts'), takesAnyEventName);
    expect(found.map((each) => describePlace(each))).toEqual([
      'src/hooks/errors.ts: readonly event?: string;',
      'src/protocol/events.ts: eventName: string',
      'src/protocol/names.ts: readonly event?: string;',
    ]);
  });

  it.each([
    'function plan(event: string) {}',
    'class A { #plan(hookEvent?: string) {} }',
    'interface A { readonly eventName?: string | undefined }',
    'const f = (event: HookEventName | string = "a") => event;',
  ])('would not get by with %s', (source) => {
    expect(findIn('a.ts', source, takesAnyEventName)).toHaveLength(1);
  });
});

describe('the types', () => {
  it.each(['BeforeModelHookResult', 'AfterModelHookResult', 'BeforeToolSelectionHookResult'])(
    '%s is exported beside its trigger',
    (name) => {
      const exported = /^export type \{([^}]*)\} from/m.exec(
        readSource('src/core/geminiChatHookTriggers.ts'),
      )?.[1];
      expect(exported?.split(',').map((each) => each.trim())).toContain(name);
    },
  );

  it('of the messages on the bus are those of the contract', () => {
    const contract = readSource('src/confirmation-bus/types.ts').replaceAll(/\/\*\*[^]*?\*\//g, '');
    const fields = Array.from(contract.matchAll(/^ {2}(\w+\??): (.+?);?$/gm), ([, name, type]) =>
      [name, type].join(': '),
    );
    const end = fields.indexOf('type: MessageBusType.TOOL_CONFIRMATION_REQUEST');
    expect(fields.slice(0, end)).toEqual([
      'type: MessageBusType.HOOK_EXECUTION_REQUEST',
      'eventName: HookEventName',
      'input: Record<string, unknown>',
      'correlationId: string',
      'type: MessageBusType.HOOK_EXECUTION_RESPONSE',
      'correlationId: string',
      'success: boolean',
      'output?: AggregatedHookResult',
      'error?: {',
    ]);
    expect(readSource('src/confirmation-bus/types.ts')).toContain(
      'type MessageBusMessage =\n  | HookExecutionRequest\n  | HookExecutionResponse\n',
    );
  });
});
