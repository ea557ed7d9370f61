import { nameOfModule } from '../../extensions/extensionMiddleware.js';
import { suggestName } from '../../util/suggestName.js';
import type { Config } from '../../config/config.js';
import { type StackName, STACK_NAMES, STAGES } from '../../protocol/stages.js';
import { paint, printJson, printLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { addMiddleware, openWorkspace } from '../shared/workspace.js';
import type { WorkspaceOptions } from '../shared/options.js';

/**
 * `hookstack stack`: the layers of each stack on stdout, from the outside in, with the middleware of extensions.
 *
 * @param only the name of one stack; all without it
 */
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
  } else printLine(stacks.map(formatStack).join('\n\n'));
}

/** @returns why layers are only named and do not run, by name */
async function fillStacks(config: Config): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  await addMiddleware(config, (module, { reason, blocks }) => {
    const { stack: stackName, before, after } = module.middleware;
    const name = nameOfModule(module);
    refused.set(name, reason);
    // What blocks has a place of its own.
    if (blocks) return;
    // Nothing is fired here: this only takes the place.
    config.use(stackName, (_ctx, next) => next(), { name, before, after });
  });
  return refused;
}

/** One layer, as `stack --json` writes it. */
type Layer = ReturnType<typeof describeLayers>[number];

function describeLayers(config: Config, name: StackName, refused: ReadonlyMap<string, string>) {
  const stages: readonly string[] = STAGES[name];
  return config.stack(name).map((layer) => ({
    name: layer,
    kind: stages.includes(layer) ? ('stage' as const) : ('middleware' as const),
    reason: refused.get(layer) ?? null,
  }));
}

function formatStack({ name, layers }: { name: StackName; layers: readonly Layer[] }): string {
  return [paint('bold', name), ...layers.map(formatLayer)].join('\n');
}

function formatLayer({ name, kind, reason }: Layer): string {
  if (kind === 'stage') return `  ${name}`;
  const state = reason === null ? 'active' : `not run: ${toVisible(reason)}`;
  const style = reason === null ? 'green' : 'yellow';
  return `  ${toVisible(name)} [${paint(style, state)}]`;
}
