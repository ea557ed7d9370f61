import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { editSettings, planSettings } from '../shared/editSettings.js';
import { findProgram } from '../../process/command/findProgram.js';
import { diffLines } from '../../trace/diff.js';
import { suggestName } from '../../util/suggestName.js';
import { printJson, printLine, printNotice, toOneLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { findServers, planInstall, type InstallPlan, type Program } from './installPlan.js';

interface InstallOptions {
  readonly into?: string;
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

const CONTEXT = 2;
const MAX_CHANGED = 2000;

/** Writes `hookstack mcp` into the settings of a client of MCP, in place of its servers, or takes it out again. */
export async function install(
  servers: readonly string[],
  { into, undo = false, dryRun = false, json = false }: InstallOptions,
): Promise<void> {
  if (into === undefined) {
    throw new UsageError(
      'Say which file lists the servers: --into .mcp.json (Claude Code), .cursor/mcp.json, .vscode/mcp.json, .gemini/settings.json, or that of another client',
    );
  }
  const file = path.resolve(into);
  const program = findOwnProgram();
  let plan: InstallPlan = { changes: [], edits: [] };
  const decide = (settings: Readonly<Record<string, unknown>>) => {
    checkServers(into, settings, servers);
    plan = planInstall(settings, servers, undo, program);
    return plan.edits;
  };
  const { before, after } = await planSettings(file, decide);
  const diff = diffLines(toUnix(before), toUnix(after), CONTEXT, MAX_CHANGED).flat();
  if (!dryRun) await editSettings(file, decide);
  if (json)
    printJson({ file, dryRun, undo, changed: before !== after, servers: plan.changes, diff });
  else for (const line of report(file, plan, diff, { undo, dryRun })) printLine(line);
  if (program.length > 1 && plan.edits.length > 0 && !undo) {
    printNotice(
      'note',
      'hookstack is not on the PATH: its place on this machine was written. Install it with npm install --global hookstack to share the file',
    );
  }
}

function checkServers(
  into: string,
  settings: Readonly<Record<string, unknown>>,
  chosen: readonly string[],
): void {
  const found = findServers(settings);
  if (found.length === 0) {
    throw new UsageError(
      `${toVisible(into)} lists no servers under "mcpServers", "servers" or "mcp.servers"; name the file in which your client does`,
    );
  }
  const known = found.map(({ server }) => server);
  const missing = chosen.find((name) => !known.includes(name));
  if (missing === undefined) return;
  throw new UsageError(
    `${toVisible(into)} has no server "${toVisible(missing)}"; ${suggestName(missing, known)}`,
  );
}

/** By its name, where a client finds it by that; else by its place. */
function findOwnProgram(): Program {
  if (findProgram('hookstack') !== undefined) return ['hookstack'];
  return [
    process.execPath,
    fileURLToPath(import.meta.resolve('hookstack/package.json')).replace(
      /package\.json$/u,
      'dist/cli.cjs',
    ),
  ];
}

function report(
  file: string,
  { changes }: InstallPlan,
  diff: readonly string[],
  { undo, dryRun }: { readonly undo: boolean; readonly dryRun: boolean },
): string[] {
  const changed = changes.filter(({ left }) => left === undefined);
  const [would, done] = undo ? ['would be restored', 'restored'] : ['would be', 'is now'];
  const lines = changes.map(({ server, name = '', left }) => {
    const title = toOneLine(server);
    if (left !== undefined) return `${title}: left as it is: ${toOneLine(left)}`;
    const what = dryRun ? would : done;
    return undo
      ? `${title}: ${what}`
      : `${title}: ${what} behind hookstack, its tools are mcp__${name}__…`;
  });
  const next =
    changed.length > 0 && !dryRun
      ? [
          `Restart the client, or its servers. To take it back: hookstack mcp install --into ${toVisible(file)} --undo`,
        ]
      : [];
  const isUndone = undo ? [] : next;
  return [toVisible(file), ...(dryRun ? diff.map(toVisible) : []), ...lines, ...isUndone];
}

function toUnix(text: string): string {
  return text.replaceAll('\r\n', '\n');
}
