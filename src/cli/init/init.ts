import type { Command } from 'commander';
import { referenceToolNames } from '../../agent/tools/toolNames.js';
import { dialects, eventWords } from '../../dialects/dialects.js';
import { isOfTool } from '../../protocol/events.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { ProjectHook } from '../../trust/consentItem.js';
import type { DialectName, HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { testWithLimit } from '../../util/limitedRegExp.js';
import { DEFAULT_TOOL } from '../shared/options.js';
import { findProgram } from '../../process/command/findProgram.js';
import {
  addToSettings,
  createFiles,
  filesOf,
  groupOf,
  schemaFor,
  starterAsLoaded,
  type NewFile,
} from './starterFiles.js';
import {
  starterHook,
  starterLanguages,
  type StarterChoice,
  type StarterHook,
} from './starterHooks.js';
import { cwdWords, type Obstacles } from '../shared/obstacles.js';
import { allowOwn } from './allowOwn.js';
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
import { isInteractive } from '../shared/streams.js';
import { UsageError } from '../shared/usageError.js';
import { isTrustedRun, resolveWorkingDir } from '../shared/workspace.js';

interface InitOptions {
  readonly language: keyof typeof starterLanguages;
  readonly event: HookEventName;
  readonly name?: string;
  readonly matcher?: string;
  readonly dialect?: DialectName;
  readonly cwd?: string;
  readonly json?: boolean;
}

/**
 * @param command what was given to it; without options, it offers guards on a terminal
 * @throws UsageError when the hook or a file is there already; Error when a file cannot be written
 */
export async function init(
  options: InitOptions,
  command?: Pick<Command, 'getOptionValueSource'>,
): Promise<void> {
  if (isInteractive() && command !== undefined && isBare(options, command)) {
    const names = await (await import('../add/offerGuards.js')).offerGuards();
    if (names.length > 0) {
      await (await import('../add/add.js')).add(names, options);
      return;
    }
  }
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

  const standing = await standingOf(project, files, starterAsLoaded(event, group), options.cwd);
  const created = files.map(({ path }) => path);
  const { isAllowed: allowed } = standing;
  const obstacles = obstaclesTo(standing);
  const next = nextCommands(hook, event, allowed, options.cwd);
  if (options.json) {
    printJson({ event, hook: hook.name, settings, created, allowed, obstacles, next });
  } else printLine(formatResult(hook, [...created, '.llxprt/settings.json'], standing, next));
}

/** Whether nothing is said of what to write, but where. */
function isBare(options: InitOptions, command: Pick<Command, 'getOptionValueSource'>): boolean {
  const said = Object.keys(options).filter((key) => key !== 'cwd');
  return said.every((key) => command.getOptionValueSource(key) === 'default');
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
  files: readonly NewFile[],
  hooks: readonly ProjectHook[],
  cwd: string | undefined,
): Promise<Standing> {
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const standing = await allowOwn(project, { hooks, files: contents }, cwd);
  return isTrustedRun({}) ? { ...standing, isAllowed: true } : standing;
}

/** It becomes the name of files. */
const NAME = /^\w[\w.-]{0,59}$/u;

/** @throws UsageError */
async function checkChoice(options: InitOptions): Promise<StarterChoice> {
  const { event, name, matcher, dialect } = options;
  if (options.language === 'typescript') requireStripping();
  const spoken = dialect && dialects[dialect];
  if (spoken && !eventWords(spoken, event)) {
    const known = new Set(spoken.events.map((words) => words.event));
    throw new UsageError(
      `${spoken.agent} has no hooks at ${event}: leave --dialect out, or choose an --event of ${[...known].join(', ')}`,
    );
  }
  if (name !== undefined && !NAME.test(name)) {
    throw new UsageError(
      `--name ${toOneLine(name)} cannot be used: write up to 60 letters, digits, "-", "_" and "."`,
    );
  }
  if (matcher === undefined) return { name, dialect };
  if (!isOfTool(event)) {
    throw new UsageError(
      `--matcher has no effect at ${event}, which is about no tool: leave it out, or add --event BeforeTool`,
    );
  }
  const found = findTool(matcher);
  const named = dialect && dialects[dialect].tools.find(({ theirs }) => theirs.includes(found));
  return { name, matcher, dialect, tool: named?.ours ?? found };
}

/**
 * The name of a tool that a matcher fits: a known one, one that the matcher itself names, or one that it would fit.
 *
 * @throws UsageError for a matcher that is no expression, or for which no such name is found
 */
function findTool(matcher: string): string {
  if (matcher === '' || matcher === '*') return DEFAULT_TOOL;
  const like = matcher.replaceAll(/\.[*+]\??/gu, 'x').replaceAll(/[^\w-]/gu, '');
  const named = matcher.match(/[\w-]+/gu) ?? [];
  const known = [DEFAULT_TOOL, ...referenceToolNames];
  const found = [...known, ...named, like].find((name) => name !== '' && fits(matcher, name));
  if (found !== undefined) return found;
  throw new UsageError(
    `--matcher ${matcher} fits no tool that is known here: name one in it, as in ^(write_file|my_tool)$`,
  );
}

function fits(matcher: string, name: string): boolean {
  try {
    return testWithLimit(matcher, '', name);
  } catch (cause) {
    throw new UsageError(
      `--matcher ${matcher} cannot be used (${errorMessage(cause)}); write a regular expression`,
      { cause },
    );
  }
}

/** @throws UsageError */
function requireStripping(): void {
  if ('typescript' in process.features && process.features.typescript) return;
  throw new UsageError(
    `Node runs TypeScript as it is from 22.18 on, and this is ${process.version}: update Node, or write --language node, where a line "// @ts-check" lets tsc and editors check the types`,
  );
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
