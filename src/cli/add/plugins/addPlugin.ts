import { existsSync } from 'node:fs';
import { chmod, mkdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { extensionsIn, settingsFileIn } from '../../../config/settings/settingsPlaces.js';
import { loadExtensions } from '../../../extensions/extensions.js';
import type { HookDefinition } from '../../../protocol/types.js';
import { requireHome } from '../../../util/homeDirectory.js';
import { readJsonFile } from '../../../util/guardedFile.js';
import { realPathOf, statsOf } from '../../../util/paths.js';
import { quoteWord } from '../../../util/quoteWord.js';
import { isRecord } from '../../../util/records.js';
import { HookNames } from '../../migrate/hookNames.js';
import { asWritten } from '../../migrate/plan.js';
import { editSettings } from '../../shared/editSettings.js';
import { warnIfOff } from '../../shared/obstacles.js';
import { makePrivate, ownFolder } from '../../shared/privateFolder.js';
import { printJson, printLine, printNotice, toVisible } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';
import { requireHarmless } from './loadedHooks.js';
import { type Offer, offerNamed, readMarketplace } from './marketplace.js';
import { readPlugin, type Plugin } from './plugin.js';
import { readFolder } from './pluginFolder.js';
import {
  agree,
  canAsk,
  type Standing,
  describePlugin,
  formatOffers,
  formatPlugin,
  usedServers,
} from './pluginReview.js';

export interface AddPluginOptions {
  readonly dryRun?: boolean;
  readonly json?: boolean;
  /** Whether somebody has said yes already. */
  readonly yes?: boolean;
}

/** What a folder of an extension has for a plugin: a manifest, and the plugin's own files below it. */
const MANIFEST = 'llxprt-extension.json';
const COPY = 'plugin';

/**
 * Makes an extension of the user of a plugin of Claude Code: its files are copied, so that only those run that were
 * shown. Without a name, it lists what a marketplace has.
 *
 * @param path the folder of a plugin, or of a marketplace
 * @param names which plugins of the marketplace
 * @returns the exit code: 0 added, listed, or there already; 1 it was not allowed
 * @throws UsageError for what is no plugin, and what cannot be taken over
 */
export async function addPlugins(
  path: string,
  names: readonly string[],
  options: AddPluginOptions,
): Promise<number> {
  const root = await realpath(path).catch(() => undefined);
  if (root === undefined || statsOf(root)?.isDirectory() !== true) {
    throw new UsageError(`There is no folder ${toVisible(path)}: name the folder of a plugin`);
  }
  const offers = await readMarketplace(root);
  const isPlugin = ['.claude-plugin/plugin.json', 'hooks/hooks.json'].some((each) =>
    existsSync(join(root, each)),
  );
  if (names.length === 0 && offers && !isPlugin) {
    if (options.json) printJson({ plugins: offers.map(describeOffer) });
    else printLine(formatOffers(offers, path));
    return 0;
  }
  if (names.length > 0 && !offers) {
    throw new UsageError(`${toVisible(path)} is no marketplace: it has no plugins to choose from`);
  }
  if (!offers && !isPlugin) {
    throw new UsageError(
      `${toVisible(path)} is no plugin: it has neither .claude-plugin/plugin.json nor hooks/hooks.json`,
    );
  }
  let code = 0;
  const chosen = names.map((name) => offerNamed(offers ?? [], name));
  for (const { folder, offer } of chosen.length > 0
    ? chosen.map((each) => ({ folder: each.folder, offer: each }))
    : [{ folder: root, offer: undefined }]) {
    code = Math.max(code, await addOne(folder, offer, options));
  }
  return code;
}

function describeOffer({ name, description, folder }: Offer) {
  return { name, description, folder: folder ?? null };
}

async function addOne(
  folder: string,
  offer: Offer | undefined,
  options: AddPluginOptions,
): Promise<number> {
  const { dryRun = false, json = false } = options;
  const home = await realpath(requireHome()).catch(requireHome);
  const target = (name: string) => join(extensionsIn(home), name);
  const plugin = await readPlugin(folder, offer, (name) => ({
    root: join(target(name), COPY),
    data: join(home, '.llxprt', DATA, name),
  }));
  const standing = await standingOf(plugin, target(plugin.name));
  const isDone = standing.status === 'present' || standing.groups.length === 0;
  const isAsked = !isDone && !dryRun && canAsk(options);
  if (!json && !isAsked) printLine(formatPlugin(plugin, standing));
  const isAgreed = !isDone && !dryRun && (await agree(plugin, standing, options));
  if (isAgreed) await install(plugin, standing, home);
  if (json) printJson({ ...describePlugin(plugin, standing), dryRun, added: isAgreed });
  else if (isAgreed) tellAdded(plugin, standing, home);
  if (isAgreed) await warnIfOff(home);
  if (standing.groups.length === 0) {
    printNotice('error', `"${plugin.name}" has no hook that can run here: nothing is added`);
  }
  return isAgreed || dryRun || standing.status === 'present' ? 0 : 1;
}

/** In the user's folder. */
const DATA = 'plugin-data';

/** What is there of it already. */
async function standingOf(plugin: Plugin, extension: string): Promise<Standing> {
  const groups = groupsOf(plugin);
  const text = manifestText(plugin, groups);
  requireHarmless(plugin.name, text);
  await requireFreeName(plugin.name, extension);
  const reading = await readJsonFile(join(extension, MANIFEST), { groupMayWrite: true });
  if (reading.status === 'missing' && !existsSync(extension)) {
    return { status: 'new', extension, groups, text };
  }
  const installed = reading.status === 'read' ? reading.value['plugin'] : undefined;
  if (reading.status !== 'read' || !isRecord(installed)) {
    throw takenBy(extension);
  }
  const copy = await readFolder(join(extension, COPY)).catch(() => undefined);
  const isSame = reading.text === text && copy?.digest === plugin.folder.digest;
  const { files, links } = copy ?? { files: new Map(), links: new Map() };
  const before = { text: reading.text, from: installed['from'], files, links };
  return { status: isSame ? 'present' : 'changed', extension, groups, text, before };
}

/** Of two extensions with one name, only one counts. */
async function requireFreeName(name: string, extension: string): Promise<void> {
  const home = requireHome();
  const { extensions } = await loadExtensions({ workingDir: home, home });
  const own = realPathOf(extension);
  const taken = extensions.find((each) => each.name === name && each.directory !== own);
  if (taken) throw takenBy(taken.directory ?? extension);
}

function takenBy(directory: string): UsageError {
  return new UsageError(
    `${toVisible(directory)} is an extension of yours with the name of this plugin: rename or remove one of them`,
  );
}

function groupsOf({ sources }: Plugin): Standing['groups'] {
  const carried = sources.flatMap((source) => source.carried.groups);
  const hooks = carried.flatMap(({ group }) => group.hooks);
  const names = new HookNames(hooks, new Set());
  return carried.map(({ key, group }) => {
    const named = group.hooks.map((hook) => names.named(hook, group.matcher));
    return { key, group: { ...group, hooks: named } };
  });
}

function manifestText(plugin: Plugin, groups: Standing['groups']): string {
  const { name, version, folder } = plugin;
  const hooks: Record<string, object[]> = {};
  for (const { key, group } of groups) (hooks[key] ??= []).push(written(group));
  const manifest = {
    name,
    ...(version !== undefined && { version }),
    plugin: { from: folder.root, digest: folder.digest },
    mcpServers: usedServers(plugin, groups),
    hooks,
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function written(group: HookDefinition): object {
  return { ...group, hooks: group.hooks.map(asWritten) };
}

/** All of it, or nothing: the folder is made beside, and then takes the place of what was there. */
async function install(plugin: Plugin, standing: Standing, home: string): Promise<void> {
  const { extension, text } = standing;
  // A name with a dot is no extension.
  const draft = join(dirname(extension), `.${plugin.name}.${process.pid}.new`);
  const old = join(dirname(extension), `.${plugin.name}.${process.pid}.old`);
  makePrivate(ownFolder(DATA));
  makePrivate(join(ownFolder(DATA), plugin.name));
  await mkdir(dirname(extension), { recursive: true, mode: 0o700 });
  await rm(draft, { recursive: true, force: true });
  try {
    await writeCopy(plugin, join(draft, COPY));
    await writeFile(join(draft, MANIFEST), text, { mode: 0o600 });
    if (standing.status !== 'new') await rename(extension, old);
    await rename(draft, extension);
  } catch (error) {
    if (!existsSync(extension) && existsSync(old)) await rename(old, extension);
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
  await editSettings(settingsFileIn(home), (current) =>
    current['enableHooks'] === undefined ? [{ path: ['enableHooks'], value: true }] : [],
  );
}

async function writeCopy({ folder: { files, links } }: Plugin, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true, mode: 0o700 });
  for (const [name, { bytes, isProgram }] of files) {
    const file = join(copy, name);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, bytes, { flag: 'wx' });
    await chmod(file, isProgram ? 0o700 : 0o600);
  }
  for (const [name, target] of links) {
    await mkdir(dirname(join(copy, name)), { recursive: true, mode: 0o700 });
    await symlink(target, join(copy, name));
  }
}

function tellAdded({ name }: Plugin, { extension, status }: Standing, home: string): void {
  const data = join(home, '.llxprt', DATA, name);
  printLine(
    [
      `\n${status === 'new' ? 'Added' : 'Changed'}: ${toVisible(extension)}, for all your projects. A change of the plugin's own folder counts once you add it again.`,
      `To remove it: rm -r ${toVisible(quoteWord(extension))} ${toVisible(quoteWord(data))}`,
      '\nTry next:\n  hookstack list\n  hookstack doctor',
    ].join('\n'),
  );
}
