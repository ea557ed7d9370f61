import { dialects, eventWords } from '../../dialects/dialects.js';
import { events } from '../../protocol/events.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { ProjectHook } from '../../trust/consentItem.js';
import type { DialectName, HookEventName } from '../../protocol/types.js';
import { findProgram } from '../../process/command/findProgram.js';
import { createFiles, filesOf, withoutPresent, type NewFile } from './starterFiles.js';
import { addToSettings, groupOf, asLoaded, schemaFor } from './starterGroup.js';
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
  readonly dialect?: DialectName;
  readonly persistent?: boolean;
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
  const language = await languageOf(options, project);
  for (const program of language.programs) {
    if (findProgram(program) !== undefined) continue;
    printNotice('warning', `the hook needs ${program}, which is not on your PATH`);
  }
  const files = filesOf(hook, language, event);
  const missing = await withoutPresent(project, files);
  const group = groupOf(hook, language);
  const schema = schemaFor(project);
  await editAsAllowed(project, async () => {
    await createFiles(project, missing, () => addToSettings(settings, { group, event, schema }));
    return true;
  });

  const standing = await standingOf(project, files, asLoaded(event, group), options.cwd);
  const created = missing.map(({ path }) => path);
  const { isAllowed: allowed } = standing;
  const obstacles = obstaclesTo(standing);
  const next = nextCommands(hook, event, allowed, options.cwd);
  if (options.json) {
    printJson({ event, hook: hook.name, settings, created, allowed, obstacles, next });
  } else printLine(formatResult(hook, [...created, '.llxprt/settings.json'], standing, next));
}

/** @throws UsageError */
async function languageOf(options: InitOptions, project: string): Promise<StarterLanguage> {
  const { language, dialect, persistent } = options;
  if (!persistent) return starterLanguages[language];
  const { persistentLanguage } = await import('./persistentStarters.js');
  return persistentLanguage(language, project, dialect);
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
  hook: ProjectHook | undefined,
  cwd: string | undefined,
): Promise<Standing> {
  const { allowOwn } = await import('./allowOwn.js');
  const contents = new Map(files.map(({ path, content }) => [path, content]));
  const standing = await allowOwn(project, { hook, files: contents }, cwd);
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
  if (!events[event].matchOn) {
    throw new UsageError(
      `--matcher has no effect at ${event}, which is about no tool: leave it out, or add --event BeforeTool`,
    );
  }
  const { findTool } = await import('./findTool.js');
  const found = findTool(matcher);
  const named = dialect && dialects[dialect].tools.find(({ theirs }) => theirs.includes(found));
  return { name, matcher, dialect, tool: named?.ours ?? found };
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
