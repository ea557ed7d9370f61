import { removeControls } from '../protocol/sanitizeText.js';
import {
  inherited,
  maskSecrets,
  variablesOf,
  type HookEnvironmentPolicy,
} from './hookEnvironment.js';
import { findLikelyCause } from './likelyCause.js';
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
  const line =
    stderr
      .trim()
      .split(/[\r\n]+/)
      .at(-1) ?? '';
  return line.trim().slice(0, MAX_LINE);
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
