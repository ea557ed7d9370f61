import { Console } from 'node:console';
import type { Config } from '../../config/config.js';
import { whyHooksAreOff } from '../shared/hookColumns.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { LIMITS } from '../shared/limits.js';
import { printNotice, toVisible } from '../shared/terminal.js';
import { Watchdog } from '../shared/watchdog.js';
import { UsageError } from '../shared/usageError.js';
import { withTrace } from '../shared/withTrace.js';
import { addMiddleware, openWorkspace, type Workspace } from '../shared/workspace.js';
import { Outlet } from './lines.js';
import { McpProxy } from './proxy.js';
import { hostEnvironment } from '../../util/requester.js';
import type { Place } from './http/place.js';
import { serve, type Ends } from './serve.js';

interface McpOptions extends Omit<WorkspaceOptions, 'json'> {
  readonly name?: string;
  readonly trace?: string;
  readonly url?: string;
  readonly listen?: string;
}

/** @returns the exit code: 0 the client, or a signal, has ended it; 1 the server could not be started, or is gone */
export async function mcp(command: readonly string[], options: McpOptions): Promise<number> {
  const name = checkName(options.name);
  const place = await findPlace(command, options);
  // What code of extensions prints must not stand between messages.
  globalThis.console = new Console(process.stderr);
  const configs = new Map<boolean, Promise<Config>>();
  const configFor = (canAsk: boolean) => {
    if (configs.size === 0) watch(name, workspace);
    const config = configs.get(canAsk) ?? prepare(workspace, canAsk);
    configs.set(canAsk, config);
    return config;
  };
  const client = new Outlet(process.stdout);
  const warn = (what: string) => printNotice('warning', `the MCP server "${name}" ${what}`);
  const proxy = new McpProxy({ name, client, configFor, warn });
  const workspace = await openWorkspace(options, { asking: { approver: proxy.approver } });
  tellState(name, workspace, place);
  try {
    const recording = { trace: options.trace, fleet: workspace.settings.fleet };
    return await withTrace(recording, workspace.config, () =>
      place
        ? serveAt(place, { name, proxy, client }, warn)
        : serve({ name, proxy, client, command }),
    );
  } finally {
    process.stdin.destroy();
    const made = await Promise.allSettled(configs.values());
    for (const each of made) if (each.status === 'fulfilled') await each.value.dispose();
  }
}

const NO_SERVER =
  'Say what starts the server, behind --: hookstack mcp --name github -- npx -y my-server; or where it is: --url https://example.com/mcp';

/** Where a server over HTTP is; `undefined` for one that is started. */
async function findPlace(
  command: readonly string[],
  { url, listen }: McpOptions,
): Promise<Place | undefined> {
  const named = url ?? (command.length === 0 ? hostEnvironment()['HOOKSTACK_MCP_URL'] : undefined);
  if (command.length > 0 && (named ?? listen) !== undefined) {
    throw new UsageError('A server is started, or is at a --url: leave out one of them');
  }
  if (command.length > 0) return undefined;
  if (named === undefined) throw new UsageError(NO_SERVER);
  // It may hold a key, and no hook is to have it.
  Reflect.deleteProperty(process.env, 'HOOKSTACK_MCP_URL');
  const { readPlace } = await import('./http/place.js');
  return readPlace(named, listen);
}

async function serveAt(place: Place, ends: Ends, warn: (what: string) => void): Promise<number> {
  const { serveDoor, serveRemote } = await import('./http/serve.js');
  return place.listen ? serveDoor(place, place.listen, ends, warn) : serveRemote(place, ends, warn);
}

/** The name stands between two underscores in the names of tools, which have to be told apart. */
const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]|_(?!_|$))*$/u;

function checkName(name: string | undefined): string {
  if (name === undefined) {
    throw new UsageError(
      'Say what the server is called: --name github. Matchers of hooks see its tools as mcp__github__TOOL',
    );
  }
  if (NAME.test(name)) return name;
  throw new UsageError(
    `--name ${toVisible(name)} is no name for a server: use letters, digits, "-", "." and single "_", such as my-server`,
  );
}

function tellState(name: string, { config, origins }: Workspace, place: Place | undefined): void {
  if (!config.getEnableHooks()) {
    const why = whyHooksAreOff(origins.enableHooks?.file);
    printNotice('note', `no hook runs around the tools of "${name}": ${why}`);
  }
  if (process.stdin.isTTY && !place?.listen) {
    printNotice(
      'note',
      'a client of MCP is to start this command, and speaks through stdin; "hookstack mcp install" tells one to',
    );
  }
}

/** Ms for which the main thread may be busy with one thing: as long as a middleware may take. */
const BUSY_MS = Math.min(60_000, LIMITS.blocked);

/**
 * A main thread that does not come back would have the client wait for ever. The end of the process is an answer to all of
 * its requests, and no yes. Where nothing runs that could keep it, nothing is watched, which takes memory.
 */
function watch(name: string, { config, settings }: Workspace): void {
  if (config.getExtensions().length === 0 && Object.keys(settings.hooks ?? {}).length === 0) return;
  const why = `the process of the hooks does not go on, and was ended after ${BUSY_MS} ms: look at code of extensions, and at drives that do not answer`;
  const watchdog = new Watchdog({ err: `error: the MCP server "${name}": ${why}` }, BUSY_MS);
  setInterval(() => watchdog.expectWithin(BUSY_MS), BUSY_MS / 10).unref();
}

async function prepare(workspace: Workspace, canAsk: boolean): Promise<Config> {
  const config = canAsk ? workspace.config : workspace.configOfNobody();
  await addMiddleware(config);
  // The first event reports a failure.
  await config
    .getHookSystem()
    ?.initialize()
    .catch(() => undefined);
  return config;
}
