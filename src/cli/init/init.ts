import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { events } from '../../protocol/events.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookEventName } from '../../protocol/types.js';
import { findProgram } from '../../process/findProgram.js';
import { formatHookTest, HOOK_TEST_SUFFIX, type HookTest } from '../shared/hookTestFile.js';
import { addToSettings, groupOf, schemaFor, scriptOf, type StarterGroup } from './starterGroup.js';
import {
  starterHook,
  starterLanguages,
  type StarterChoice,
  type StarterHook,
  type StarterLanguage,
} from './starterHooks.js';
import { cwdWords, type Obstacles } from '../shared/obstacles.js';
import { editAsAllowed } from '../shared/ownEdit.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import {
  paint,
  printJson,
  printLine,
  printNotice,
  toOneLine,
  toVisible,
} from '../shared/terminal.js';
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
  const group = groupOf(hook, language);
  const schema = schemaFor(project);
  await editAsAllowed(project, async () => {
    await createFiles(project, files, () => addToSettings(settings, { group, event, schema }));
    return true;
  });

  const standing = await standingOf(project, { group, event, files }, options.cwd);
  const created = files.map(({ path }) => path);
  const { isAllowed: allowed } = standing;
  const obstacles = obstaclesTo(standing);
  const next = nextCommands(hook, event, allowed, options.cwd);
  if (options.json) {
    printJson({ event, hook: hook.name, settings, created, allowed, obstacles, next });
  } else printLine(formatResult(hook, [...created, '.llxprt/settings.json'], standing, next));
}

/** Whether the hook may run, and what else is in its way. */
interface Standing {
  readonly isAllowed: boolean;
  /** Files that must be seen first. */
  readonly unseen: readonly string[];
  readonly obstacles: Obstacles;
}

async function standingOf(
  project: string,
  {
    group,
    event,
    files,
  }: {
    readonly group: StarterGroup;
    readonly event: HookEventName;
    readonly files: readonly NewFile[];
  },
  cwd: string | undefined,
): Promise<Standing> {
  const {
    hooks: [config],
    ...others
  } = group;
  const { allowOwn } = await import('./allowOwn.js');
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const written = { hook: { event, group: others, config }, files: contents };
  const standing = await allowOwn(project, written, cwd);
  return isTrustedRun({}) ? { ...standing, isAllowed: true } : standing;
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

function nextCommands(
  hook: StarterHook,
  event: HookEventName,
  isAllowed: boolean,
  cwd: string | undefined,
): string[] {
  const options = `${isAllowed ? '' : ' --trust'}${cwdWords(cwd)}`;
  const fire = ['hookstack fire', event, hook.fireArguments].filter(Boolean).join(' ');
  const tool = hook.tool === undefined ? '' : ` --tool ${hook.tool}`;
  return [
    `hookstack test${options}`,
    `${fire}${options}`,
    `hookstack explain ${event}${tool}${options}`,
    ...(isAllowed ? [] : [`hookstack trust${cwdWords(cwd)}`]),
  ];
}

/** The hook itself is told apart. */
function obstaclesTo({ isAllowed, obstacles: { off, notAllowed } }: Standing): string[] {
  return [off, isAllowed ? notAllowed : undefined].filter((each) => each !== undefined);
}

function formatResult(
  { purpose }: StarterHook,
  files: readonly string[],
  standing: Standing,
  next: readonly string[],
): string {
  const { isAllowed, unseen } = standing;
  const [first] = unseen;
  const why = first === undefined ? '' : `, as ${toVisible(first)} was there already`;
  return [
    paint('bold', purpose),
    ...files.map((file) => `  ${file}`),
    isAllowed
      ? 'It is allowed as it was written now. After a change of yours: hookstack trust'
      : `It is not allowed yet${why}. Until then, agents skip it.`,
    ...obstaclesTo(standing).map((obstacle) => paint('yellow', obstacle)),
    '',
    'Try next:',
    ...next.map((command) => `  ${removeControls(command)}`),
  ].join('\n');
}
