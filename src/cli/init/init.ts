import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonEdit } from '../../config/settings/editJson.js';
import { editSettings } from '../../config/settings/editSettings.js';
import { parseHookDefinitions } from '../../hooks/hookSettings.js';
import { events } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { isRecord } from '../../util/records.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookEventName } from '../../protocol/types.js';
import { findProgram } from '../../process/findProgram.js';
import { quoteWord } from '../../util/quoteWord.js';
import { formatHookTest, HOOK_TEST_SUFFIX, type HookTest } from '../shared/hookTestFile.js';
import {
  starterHook,
  starterLanguages,
  type StarterChoice,
  type StarterHook,
  type StarterLanguage,
} from './starterHooks.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { paint, printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { isTrustedRun, resolveWorkingDir } from '../shared/workspace.js';

interface InitOptions {
  readonly language: keyof typeof starterLanguages;
  readonly event: HookEventName;
  readonly name?: string;
  readonly matcher?: string;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** @throws UsageError when the hook or a file is there already; Error when a file cannot be written */
export async function init(options: InitOptions): Promise<void> {
  const { event } = options;
  const choice = await checkChoice(options);
  const project = await resolveWorkingDir(options.cwd);
  const settings = await projectSettingsToWrite(project);
  const hook = starterHook(event, choice);
  const language = starterLanguages[options.language];
  for (const program of language.programs) {
    if (findProgram(program) !== undefined) continue;
    printNotice('warning', `the hook needs ${program}, which is not on your PATH`);
  }
  const files = filesOf(hook, language, event);
  const schema = schemaFor(project);
  await createFiles(project, files, () =>
    addToSettings(settings, { hook, language, event, schema }),
  );

  const created = files.map(({ path }) => path);
  const next = nextCommands(hook, event, options.cwd);
  if (options.json) printJson({ event, hook: hook.name, settings, created, next });
  else printLine(formatResult(hook, [...created, '.llxprt/settings.json'], next));
}

/** It becomes the name of files. */
const NAME = /^\w[\w.-]{0,59}$/u;

/** @throws UsageError */
async function checkChoice({ event, name, matcher }: InitOptions): Promise<StarterChoice> {
  if (name !== undefined && !NAME.test(name)) {
    throw new UsageError(
      `--name ${toOneLine(name)} cannot be used: write up to 60 letters, digits, "-", "_" and "."`,
    );
  }
  if (matcher === undefined) return { name };
  if (!events[event].matchOn) {
    throw new UsageError(
      `--matcher has no effect at ${event}, which is about no tool: leave it out, or add --event BeforeTool`,
    );
  }
  const { findTool } = await import('./findTool.js');
  return { name, matcher, tool: findTool(matcher) };
}

interface NewFile {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
  readonly mode: number;
}

function filesOf(hook: StarterHook, language: StarterLanguage, event: HookEventName): NewFile[] {
  const { name } = hook;
  // Other hooks of the event may speak as well.
  const test: HookTest = {
    event,
    input: { ...hook.input },
    expect: hook.field
      ? { decision: 'block', exit: { [name]: 2 } }
      : { decision: 'allow', exit: { [name]: 0 } },
  };
  return [
    { path: scriptOf(hook, language), content: language.write(hook), mode: 0o755 },
    {
      path: `.llxprt/hooks/${name}${HOOK_TEST_SUFFIX}`,
      content: formatHookTest(test),
      mode: 0o644,
    },
  ];
}

function scriptOf({ name }: StarterHook, { extension }: StarterLanguage): string {
  return `.llxprt/hooks/${name}.${extension}`;
}

/** All files, or none. */
async function createFiles(
  project: string,
  files: readonly NewFile[],
  andThen: () => Promise<unknown>,
): Promise<void> {
  const created: string[] = [];
  try {
    await mkdir(join(project, '.llxprt', 'hooks'), { recursive: true });
    for (const { path, content, mode } of files) {
      await writeFile(join(project, path), content, { mode, flag: 'wx' });
      created.push(join(project, path));
    }
    await andThen();
  } catch (error) {
    await Promise.all(created.map((file) => rm(file, { force: true })));
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
    throw new UsageError(
      `${files[created.length]?.path} is there already; remove it, or choose another --name`,
      { cause: error },
    );
  }
}

/**
 * What editors complete the settings with: the installed schema, relative to the settings, as they may have no network
 * and others have the project elsewhere. None where the package is not installed in the project.
 */
function schemaFor(project: string): string | undefined {
  const installed = 'node_modules/hookstack/schema/settings.json';
  return existsSync(join(project, installed)) ? `../${installed}` : undefined;
}

interface Addition {
  readonly hook: StarterHook;
  readonly language: StarterLanguage;
  readonly event: HookEventName;
  readonly schema: string | undefined;
}

async function addToSettings(
  file: string,
  { hook, language, event, schema }: Addition,
): Promise<void> {
  const words = [language.interpreter, `$LLXPRT_PROJECT_DIR/${scriptOf(hook, language)}`];
  const command = words.filter(Boolean).join(' ');
  const group = {
    ...(hook.matcher !== undefined && { matcher: hook.matcher }),
    hooks: [
      {
        type: 'command',
        name: hook.name,
        command,
        timeout: 10_000,
        ...(hook.failsClosed && { onFailure: 'deny' }),
      },
    ],
  };
  await editSettings(file, (current) => {
    refuseSecond(file, hook, current['hooks']);
    const isOn = current['enableHooks'] === true;
    // In a file that is there, it would stand behind the rest.
    const isNew = Object.keys(current).length === 0;
    return [
      ...(isNew && schema !== undefined ? [{ path: ['$schema'], value: schema }] : []),
      ...(isOn ? [] : [{ path: ['enableHooks'], value: true }]),
      insertGroup(current['hooks'], event, group),
    ];
  });
}

function refuseSecond(file: string, { name }: StarterHook, configured: unknown): void {
  const { hooks } = parseHookDefinitions(configured ?? {});
  const present = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  if (!present.some((hook) => hookIdentity(hook) === name)) return;
  throw new UsageError(
    `${file} has a hook named "${name}" already; remove it, or choose another --name`,
  );
}

function insertGroup(hooks: unknown, event: HookEventName, group: object): JsonEdit {
  const groups = isRecord(hooks) ? hooks[event] : undefined;
  if (!Array.isArray(groups)) return { path: ['hooks', event], value: [group] };
  return { path: ['hooks', event, groups.length], value: group, isInsertion: true };
}

function nextCommands(hook: StarterHook, event: HookEventName, cwd: string | undefined): string[] {
  const at = cwd === undefined ? '' : ` --cwd ${quoteWord(cwd)}`;
  const fire = ['hookstack fire', event, hook.fireArguments].filter(Boolean).join(' ');
  const tool = hook.tool === undefined ? '' : ` --tool ${hook.tool}`;
  return [
    `hookstack test --trust${at}`,
    `${fire} --trust${at}`,
    `hookstack explain ${event}${tool} --trust${at}`,
    ...(isTrustedRun({}) ? [] : [`hookstack trust${at}`]),
  ];
}

function formatResult(
  { purpose }: StarterHook,
  files: readonly string[],
  next: readonly string[],
): string {
  return [
    paint('bold', purpose),
    ...files.map((file) => `  ${file}`),
    '',
    'Try next:',
    ...next.map((command) => `  ${removeControls(command)}`),
    ...(isTrustedRun({}) ? [] : ['', 'The last one allows the hook: until then, agents skip it.']),
  ].join('\n');
}
