import { nameOfModule } from '../../extensions/extensionMiddleware.js';
import { suggestName } from '../../util/suggestName.js';
import type { Config } from '../../config/config.js';
import { type StackName, STACK_NAMES, STAGES } from '../../protocol/stages.js';
import { paint, printJson, printLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { addMiddleware, openWorkspace } from '../shared/workspace.js';
import type { WorkspaceOptions } from '../shared/options.js';

/** @param only the name of one stack. Default: all */
export async function stack(only: string | undefined, options: WorkspaceOptions): Promise<void> {
  const names = STACK_NAMES.filter((name) => only === undefined || name === only);
  if (names.length === 0) {
    throw new UsageError(`There is no stack "${only}"; ${suggestName(String(only), STACK_NAMES)}`);
  }
  const { config } = await openWorkspace(options, { needsAllFiles: false });
  const refused = await fillStacks(config);
  const stacks = names.map((name) => ({ name, layers: describeLayers(config, name, refused) }));
  if (options.json) {
    printJson(Object.fromEntries(stacks.map(({ name, layers }) => [name, layers])));
    return;
  }
  const texts = stacks.map(({ name, layers }) =>
    [paint('bold', name), ...layers.map(formatLayer)].join('\n'),
  );
  printLine(texts.join('\n\n'));
}

/** @returns why layers do not run, by name */
async function fillStacks(config: Config): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  await addMiddleware(config, (module, { reason, blocks }) => {
    const { stack: stackName, before, after } = module.middleware;
    const name = nameOfModule(module);
    refused.set(name, reason);
    // It has a layer that blocks already.
    if (blocks) return;
    // Only takes the place: nothing is fired here.
    config.use(stackName, (_ctx, next) => next(), { name, before, after });
  });
  return refused;
}

function describeLayers(config: Config, name: StackName, refused: ReadonlyMap<string, string>) {
  const stages: readonly string[] = STAGES[name];
  return config.stack(name).map((layer) => ({
    name: layer,
    kind: stages.includes(layer) ? ('stage' as const) : ('middleware' as const),
    reason: refused.get(layer) ?? null,
  }));
}

function formatLayer({ name, kind, reason }: ReturnType<typeof describeLayers>[number]): string {
  if (kind === 'stage') return `  ${name}`;
  const state = reason === null ? 'active' : `not run: ${toVisible(reason)}`;
  const style = reason === null ? 'green' : 'yellow';
  return `  ${toVisible(name)} [${paint(style, state)}]`;
}
