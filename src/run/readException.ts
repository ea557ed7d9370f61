import { fileURLToPath } from 'node:url';
import { orUndefined } from '../util/paths.js';

/** What a program that failed says of it on stderr. */
export interface Exception {
  readonly language: string;
  /** As its language writes it, such as `KeyError: 'user'`. */
  readonly line: string;
  /** File and line of the script, such as `guard.py:3`. */
  readonly where?: string;
  /** That line itself, where the language shows it. */
  readonly source?: string;
}

/** In characters. Messages may quote all that a hook has read. */
export const MAX_LINE = 300;

/** The exception that a text of stderr ends in, for the languages of {@link LANGUAGES}. */
export function readException(stderr: string): Exception | undefined {
  const lines = stderr.split(/\r?\n/);
  for (const [language, read] of Object.entries(LANGUAGES)) {
    const found = read(lines);
    if (found) return { ...cut(found), language };
  }
  return undefined;
}

/** Of a long path, the end is kept. */
function cut({ line, where, ...others }: FoundException): FoundException {
  return {
    ...others,
    line: line.slice(0, MAX_LINE),
    ...(where !== undefined && { where: where.slice(-MAX_LINE) }),
  };
}

type FoundException = Omit<Exception, 'language'>;

/** THE table of languages. What comes first is asked first: shells quote what their commands say. */
const LANGUAGES: Readonly<
  Record<string, (lines: readonly string[]) => FoundException | undefined>
> = {
  python: readPython,
  node: readNode,
  jq: readJq,
  shell: readShell,
};

const PYTHON_FRAME = /^ {2}File "(.+)", line (\d+)/;

/** Where Python's own code is, and what was installed. */
const PYTHON_LIBRARY = /^<frozen |[\\/](?:python[\d.]+|site-packages|dist-packages)[\\/]/i;

function readPython(lines: readonly string[]): FoundException | undefined {
  const last = lines.findLastIndex((line) => PYTHON_FRAME.test(line));
  const end = lines.findIndex((line, index) => index > last && /^[A-Za-z_]/.test(line));
  if (last === -1 || end === -1) return undefined;
  const start = lines.findLastIndex((line, index) => index < last && line.startsWith('Traceback '));
  const frames = lines.slice(start + 1, end).flatMap((line, index, all) => {
    const [, file, number] = PYTHON_FRAME.exec(line) ?? [];
    const source = all[index + 1] ?? '';
    return file === undefined ? [] : { file, number, source: source.trim() };
  });
  const frame = frames.findLast(({ file }) => !PYTHON_LIBRARY.test(file)) ?? frames.at(-1);
  return {
    line: lines[end] ?? '',
    ...(frame && { where: `${frame.file}:${frame.number}`, source: frame.source }),
  };
}

/** Such as `TypeError [ERR_X]: no`; the first word may be the name of any class. */
const NODE_ERROR = /^(?:Uncaught )?[A-Z][\w$.]*(?: \[\w+\])?(?::|$)/;

/** What stands above the excerpt of the source that Node shows. */
const NODE_EXCERPT = /^(\/.*|file:\/\/.*|[A-Za-z]:\\.*|\[eval\d*\]):(\d+)$/;

function readNode(lines: readonly string[]): FoundException | undefined {
  const first = lines.findIndex((line) => /^\s+at \S/.test(line));
  const error = lines.findLastIndex((line, index) => index < first && NODE_ERROR.test(line));
  if (first === -1 || error === -1) return undefined;
  const excerpt = lines.findIndex((line, index) => index < error && NODE_EXCERPT.test(line));
  const frames = lines
    .slice(first)
    .flatMap(locationOfFrame)
    .filter((place) => !place.startsWith('node:'));
  const [, file, line = ''] = NODE_EXCERPT.exec(lines[excerpt] ?? '') ?? [];
  const shown = file === undefined ? undefined : locationOf(file, line);
  const ours = frames.find((place) => !/[\\/]node_modules[\\/]/.test(place));
  const where = ours ?? shown ?? frames[0];
  return {
    line: lines[error] ?? '',
    ...(where !== undefined && { where }),
    ...(excerpt !== -1 && { source: lines[excerpt + 1]?.trim() }),
  };
}

/** Of `at name (file:line:column)`, and of `at file:line:column`. */
function locationOfFrame(frame: string): string[] {
  const [, rest] = /^\s+at (?:async )?(.*)/.exec(frame) ?? [];
  if (rest === undefined) return [];
  const place = rest.endsWith(')') ? rest.slice(rest.lastIndexOf('(') + 1, -1) : rest;
  const position = /:(\d+):\d+$/.exec(place);
  return position ? [locationOf(place.slice(0, position.index), position[1] ?? '')] : [];
}

function locationOf(file: string, line: string): string {
  const path = file.startsWith('file://') ? orUndefined(() => fileURLToPath(file)) : undefined;
  return `${path ?? file}:${line}`;
}

function readJq(lines: readonly string[]): FoundException | undefined {
  const line = lines.find((each) => /^(?:jq: (?:parse )?error|parse error: )/.test(each));
  return line === undefined ? undefined : { line };
}

/** What a shell calls itself where it runs a command, and no file. */
const SHELL_ITSELF = /(?:^|[\\/])(?:ba|da|z|k)?sh(?:\.exe)?$/;

/** The last one, which the script ended with. Bash writes the line as text again behind a syntax error. */
function readShell(lines: readonly string[]): FoundException | undefined {
  for (const text of lines.toReversed()) {
    const [whole = '', file = '', isBash, number] = SHELL_ERROR.exec(text) ?? [];
    const line = text.slice(whole.length);
    if (whole !== '' && (isBash ? /^[^\s`]/ : OTHER_SHELLS_SAY).test(line)) {
      const where = SHELL_ITSELF.test(file) ? `line ${number} of the command` : `${file}:${number}`;
      return { line, where };
    }
  }
  return undefined;
}

const SHELL_ERROR = /^(\S.*?): (?:(?:-c: )?(line) )?(\d+): /;

/** Messages of other shells have the form of a compiler's, so only words count that compilers do not use. */
const OTHER_SHELLS_SAY = /^Syntax error|(?:not found|not set|Permission denied)$/;
