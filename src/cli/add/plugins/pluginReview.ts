import { createInterface } from 'node:readline/promises';
import { isUtf8 } from 'node:buffer';
import type { HookDefinition } from '../../../protocol/types.js';
import { commandLine } from '../../../protocol/identity.js';
import { findPrevious } from '../../../trust/consentChanges.js';
import { removeControls } from '../../../protocol/sanitizeText.js';
import { quoteWord } from '../../../util/quoteWord.js';
import { isInteractive } from '../../shared/streams.js';
import {
  paint,
  plural,
  printLine,
  printNotice,
  toOneLine,
  toVisible,
} from '../../shared/terminal.js';
import { differenceOf, wholeOf } from '../../trust/fileLines.js';
import { Pager } from '../../trust/pager.js';
import { readAnswer } from '../../trust/trust.js';
import { formatDefinition, formatTitle } from '../../trust/trustReport.js';
import { itemsIn } from './loadedHooks.js';
import type { Offer } from './marketplace.js';
import type { Plugin } from './plugin.js';
import type { PluginFile, PluginFolder } from './pluginFolder.js';

/** How a plugin stands to what is installed. */
export interface Standing {
  readonly status: 'new' | 'changed' | 'present';
  /** The folder of its extension. */
  readonly extension: string;
  readonly groups: readonly { readonly key: string; readonly group: HookDefinition }[];
  /** The manifest of its extension. */
  readonly text: string;
  /** What is installed. */
  readonly before?: Pick<PluginFolder, 'files' | 'links'> & {
    readonly text: string;
    /** The folder that it was taken from. */
    readonly from: unknown;
  };
}

const MAX_SHOWN_FILES = 20;
/** In characters. */
const MAX_REMARK = 500;

export function formatOffers(offers: readonly Offer[], path: string): string {
  const lines = offers.map(({ name, description, folder }) => {
    const where = folder === undefined ? ' (elsewhere: it is not in this folder)' : '';
    return `${paint('bold', name)}${where}\n  ${description}`;
  });
  return `${lines.join('\n')}\n\nAdd one: hookstack add ${removeControls(quoteWord(path))} NAME`;
}

export function describePlugin(plugin: Plugin, standing: Standing) {
  const { name, version, folder } = plugin;
  return {
    plugin: name,
    version: version ?? null,
    from: folder.root,
    status: standing.status,
    extension: standing.extension,
    digest: folder.digest,
    hooks: standing.groups.flatMap(({ key, group }) =>
      group.hooks.map((hook) => ({
        event: key,
        matcher: group.matcher ?? null,
        name: hook.name ?? null,
        command: commandLine(hook),
      })),
    ),
    definitions: itemsIn(standing.text).map(({ definition }) => definition),
    files: [...folder.files.keys()],
    remarks: remarksOf(plugin),
  };
}

function remarksOf({ sources }: Plugin) {
  return sources.flatMap(({ remarks }) => remarks.filter(({ kind }) => kind !== 'other'));
}

/** What a person has to see before the answer. */
export function formatPlugin(plugin: Plugin, standing: Standing): string {
  const { name, version, folder } = plugin;
  const remarks = remarksOf(plugin);
  const title = `${paint('bold', toVisible(name))}${version === undefined ? '' : ` ${version}`}`;
  const size = plural(folder.files.size, 'file');
  const head = `${title} from ${toVisible(folder.root)} (${size}, sha256 ${folder.digest.slice(0, 12)})`;
  if (standing.status === 'present') return `${head} is there already: nothing is changed`;
  const told = remarks.map(({ file, line, column, path, message, kind }) => {
    const text = toOneLine(`${file}:${line}:${column}: ${path}: ${message}`, MAX_REMARK);
    return kind === 'lost' ? paint('red', `${text} (it could stop something there)`) : text;
  });
  return [
    head,
    ...(standing.before ? [formatBefore(standing.before, folder.root)] : []),
    ...hooksOf(standing),
    ...filesOf(plugin, standing),
    ...(told.length > 0 ? ['Not taken over, or worth a look:', ...told] : []),
  ].join('\n');
}

/** One of the same name may be of somebody else. */
function formatBefore({ from }: NonNullable<Standing['before']>, root: string): string {
  if (from === root || typeof from !== 'string') return 'It differs from what you have added:';
  return `It takes the place, and the data, of what you have added from ${toVisible(from)}, and differs:`;
}

/** Only a server that a hook names is started. */
export function usedServers(
  { servers }: Plugin,
  groups: Standing['groups'],
): Readonly<Record<string, unknown>> | undefined {
  const named = new Set(groups.flatMap(({ group }) => group.hooks.map(serverOf)));
  const used = Object.entries(servers).filter(([name]) => named.has(name));
  return used.length > 0 ? Object.fromEntries(used) : undefined;
}

function serverOf(hook: object): unknown {
  return 'server' in hook ? hook.server : undefined;
}

/** As consent to a project's hooks shows them; of those that are installed, what differs. */
function hooksOf({ text, before }: Standing): string[] {
  const items = itemsIn(text);
  const known = itemsIn(before?.text ?? '{}');
  const gone = known.filter(({ digest }) => items.every((item) => item.digest !== digest));
  const shown = items
    .filter(({ digest }) => known.every((item) => item.digest !== digest))
    .flatMap((item) => {
      const previous = findPrevious(item, gone);
      if (previous) gone.splice(gone.indexOf(previous), 1);
      return [formatTitle(item), ...formatDefinition({ item, previous })];
    });
  const removed = gone.flatMap((item) => [
    `${formatTitle(item)} [no longer there]`,
    ...formatDefinition({ item, previous: undefined }),
  ]);
  return [...shown, ...removed];
}

function filesOf(plugin: Plugin, standing: Standing): string[] {
  const { before } = standing;
  if (!before) return [];
  const { files, links } = plugin.folder;
  const removed = [...before.files.keys()].filter((name) => !files.has(name));
  const led = [...links].filter(([name, target]) => before.links.get(name) !== target);
  const marked = [
    ...led.map(([name, target]) => `~ ${toVisible(name)} leads to ${toVisible(target)}`),
    ...removed.map((name) => paint('red', `- ${toVisible(name)}`)),
    ...namesToShow(plugin, standing).map((name) =>
      before.files.has(name) ? `~ ${toVisible(name)}` : paint('green', `+ ${toVisible(name)}`),
    ),
  ];
  const more = marked.length - MAX_SHOWN_FILES;
  return [...marked.slice(0, MAX_SHOWN_FILES), ...(more > 0 ? [`and ${more} more files`] : [])];
}

function changedFiles(
  files: ReadonlyMap<string, PluginFile>,
  known: ReadonlyMap<string, PluginFile>,
): string[] {
  return [...files].flatMap(([name, { bytes, isProgram }]) => {
    const before = known.get(name);
    const isSame = !before || (before.bytes.equals(bytes) && before.isProgram === isProgram);
    return isSame ? [] : [name];
  });
}

export function canAsk({ yes, json }: Answers): boolean {
  return !yes && !json && isInteractive();
}

interface Answers {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Shows it, and asks. Anything but a clear yes is a no. */
export async function agree(
  plugin: Plugin,
  standing: Standing,
  options: Answers,
): Promise<boolean> {
  if (options.yes) return true;
  if (!canAsk(options)) {
    const advice = 'nobody can be asked here; look at it, then run the same with --yes';
    printNotice('error', `not added: ${advice}`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const pager = new Pager((question) => readAnswer(question, terminal));
  try {
    await pager.show(formatPlugin(plugin, standing).split('\n'));
    for (;;) {
      const question =
        'They run as you, in all projects. Add it? (y)es, (s)how its files, (q)uit: ';
      const answer = (await readAnswer(question, terminal)).trim().toLowerCase();
      if (/^y(?:es)?$/u.test(answer)) return true;
      if (!/^s(?:how)?$/u.test(answer)) break;
      pager.begin();
      for (const name of namesToShow(plugin, standing))
        await pager.show(linesOf(name, plugin, standing));
    }
  } finally {
    terminal.close();
  }
  printLine('Nothing is added.');
  return false;
}

/** What commands name comes first, and of a change only what differs. */
function namesToShow({ folder: { files } }: Plugin, { groups, before }: Standing): string[] {
  const commands = groups.flatMap(({ group }) => group.hooks.map(commandLine)).join('\n');
  const names = [...files.keys()].filter((name) => !before?.files.has(name));
  const shown = before ? [...changedFiles(files, before.files), ...names] : names;
  return shown.toSorted((a, b) => Number(commands.includes(b)) - Number(commands.includes(a)));
}

function linesOf(name: string, { folder: { files } }: Plugin, { before }: Standing): string[] {
  const shown = toVisible(name);
  const bytes = files.get(name)?.bytes ?? Buffer.alloc(0);
  const known = before?.files.get(name)?.bytes;
  if (!isUtf8(bytes)) return [`--- ${shown} is no text: ${bytes.length} bytes`];
  return known && isUtf8(known)
    ? differenceOf(shown, known.toString(), bytes.toString())
    : wholeOf(shown, bytes.toString());
}
