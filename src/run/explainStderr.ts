import { removeControls } from '../protocol/sanitizeText.js';
import {
  inherited,
  maskSecrets,
  variablesOf,
  type HookEnvironmentPolicy,
} from './hookEnvironment.js';
import { MAX_LINE, readException, type Exception } from './readException.js';

/**
 * Why a program failed, in one sentence: the line of its exception with file and line, the likely cause with what to do
 * about it, and the variables it names that hooks do not get. Of a program that ended with 2, which means block, whether
 * that was an accident.
 *
 * @returns `undefined` where it is not known. Secrets are masked
 */
export function explainStderr(
  program: { readonly stderr: string; readonly exitCode?: number | null },
  policy: HookEnvironmentPolicy,
  host = variablesOf(policy),
): string | undefined {
  const exitCode = program.exitCode ?? undefined;
  const stderr = maskSecrets(removeControls(program.stderr), policy, host);
  const found = readException(stderr);
  const cause = findLikelyCause(stderr, exitCode);
  if (exitCode === 2 && !cause && !(found && found.language !== 'shell')) return undefined;
  const names = found ? withheldNames(found, policy, host) : [];
  const message = found ? withPlace(found) : (cause?.line.slice(0, MAX_LINE) ?? lastLine(stderr));
  const advice = [
    ...(cause ? [cause.advice] : []),
    ...(names.length > 0 ? [adviseOnWithheld(names)] : []),
  ];
  if (!found && advice.length === 0) return undefined;
  return `${exitCode === 2 ? BY_ACCIDENT : ''}${[message, ...advice].join('; ')}`;
}

const BY_ACCIDENT = 'blocks by accident, as exit code 2 means block: ';

function withPlace({ line, where }: Exception): string {
  return where === undefined ? line : `${line} (${where})`;
}

/** The last line, which usually says why a program ended. */
export function lastLine(stderr: string): string {
  const lines = stderr.trim().split(/[\r\n]+/);
  return (lines.at(-1) ?? '').trim().slice(0, MAX_LINE);
}

function adviseOnWithheld(names: readonly string[]): string {
  const [is, it] = names.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `${names.join(', ')} ${is} withheld from hooks: name ${it} in "allow" of "hookEnvironment" in your settings`;
}

/**
 * What a model may read of it: the exception's class, its file and line. Messages quote what a hook has read, and paths
 * tell of the machine.
 *
 * @returns nothing where that is not known
 */
export function outlineStderr(stderr: string): string | undefined {
  const { line = '', where = '' } = readException(stderr) ?? {};
  const [, name] = CLASS.exec(line) ?? [];
  const [place] = /[^\\/]+:\d+$/.exec(where) ?? [];
  const said = place !== undefined && /^[\w.@-]{1,60}:\d+$/.test(place) ? `at ${place}` : undefined;
  return [name, said].filter(Boolean).join(' ') || undefined;
}

/** A class of Python or Node; messages of shells and jq begin with none. */
const CLASS = /^(?:Uncaught )?([\w$.]{0,40}(?:Error|Exception|Interrupt|Exit|Warning))(?=$|:| \[)/;

/** Variables of the host that an exception names and that hooks do not get. */
function withheldNames(
  { line, source = '' }: Exception,
  policy: HookEnvironmentPolicy,
  host: NodeJS.ProcessEnv,
): string[] {
  const reaching = inherited(policy, host);
  if (reaching === host) return [];
  const words = new Set(`${line} ${source}`.match(/\b[A-Za-z_]\w{2,}/g));
  return [...words].filter((name) => host[name] !== undefined && reaching[name] === undefined);
}

/** What usually lies behind a message of stderr, and what to do about it. */
export interface LikelyCause {
  /** The message. */
  readonly line: string;
  readonly advice: string;
  /** Whether a file is missing: `doctor`, which runs the hook in another folder, may be the cause of that. */
  readonly isFile: boolean;
}

/** @param exitCode of the program that wrote the text */
export function findLikelyCause(
  stderr: string,
  exitCode: number | undefined,
): LikelyCause | undefined {
  for (const { says, advice, about, code = exitCode } of CAUSES) {
    const found = code === exitCode ? says.exec(stderr) : null;
    if (!found) continue;
    return {
      line: lineAt(stderr, found.index),
      advice: advice.replace('NAME', () => found[1] ?? ''),
      isFile: about === 'file',
    };
  }
  return undefined;
}

function lineAt(text: string, index: number): string {
  const end = text.indexOf('\n', index);
  return text.slice(text.lastIndexOf('\n', index - 1) + 1, end === -1 ? undefined : end).trim();
}

/**
 * Messages and what they mean. Whole messages, since the reason of a block may contain single words of them. What comes
 * first counts.
 */
const CAUSES: readonly {
  readonly says: RegExp;
  /** `NAME` stands for the group of the expression. */
  readonly advice: string;
  readonly about?: 'file';
  /** The exit code that the message comes with. */
  readonly code?: number;
}[] = [
  {
    says: /\\r['’]: No such file or directory|\^M: bad interpreter|^\S+: line \d+: \$'.*\\r': command not found/mu,
    advice: 'the script has line ends of Windows: save it with those of Unix (LF)',
  },
  {
    says: /^(?:\/\S*\/)?env: ['‘]?([^'’\n]{1,100})['’]?: No such file or directory/mu,
    advice:
      'NAME, which the first line of the script names, is not there: install it, or change that line',
  },
  {
    says: /bad interpreter|: cannot execute: required file not found/u,
    advice:
      'the program that the first line of the script names is not there: install it, or change that line',
  },
  {
    says: /can't open file '[^'\n]*': \[Errno \d+\]|Error: Cannot find module '\//u,
    advice: 'correct the path of the script in "command"',
    about: 'file',
  },
  {
    says: /^TypeError \[ERR_UNKNOWN_FILE_EXTENSION\]: Unknown file extension "\.[cm]?ts"/mu,
    advice: 'Node runs TypeScript as it is from 22.18 on: update Node, or compile the script',
  },
  {
    says: /^\S+: (?:-c: )?(?:line )?\d+: .*(?:syntax error|unexpected EOF|unterminated)/imu,
    advice: 'correct the shell script there',
  },
  {
    says: /^\S+: (?:-c: )?(?:line )?\d+: [^\s/]+: (?:command )?not found/mu,
    advice:
      'install it, or write its whole path; entries of PATH that lead into the project do not count',
  },
  {
    says: /^\S+: (?:(?:-c: )?(?:line )?\d+: .*not found$|.*(?:No such file or directory|can't open|cannot access))/mu,
    advice: 'the file is not there: correct its path',
    about: 'file',
  },
  {
    says: /^\S+: (?:-c: )?(?:line )?\d+: .*Permission denied/mu,
    advice: 'it may not be executed: run chmod +x on it',
    code: 126,
  },
  {
    says: /Argument list too long/u,
    advice: 'the event is too long for an argument: hand it on through stdin',
  },
  {
    says: /^\S+: .*(?:unrecognized|invalid|illegal|unknown) option|^usage: /imu,
    advice: 'the program does not know the option: correct its call',
  },
];
