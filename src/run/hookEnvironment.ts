import { delimiter, isAbsolute } from 'node:path';
import { removeControls } from '../protocol/sanitizeText.js';

/** Which variables of the host reach its hooks. */
export interface HookEnvironmentPolicy {
  /** `all` passes everything but what `redact` names; `none` passes what `allow` names. Default `all`. */
  readonly inherit?: 'all' | 'none';
  /** Names or patterns (`CI_*`) of variables that hooks get in any case. */
  readonly allow?: readonly string[];
  /**
   * Names or patterns of variables that hold secrets: hooks do not get them, unless `allow` names them, and their
   * values are masked wherever a hook's output is logged. `@secrets` stands for the usual patterns.
   */
  readonly redact?: readonly string[];
  /**
   * Names of variables with the tokens of remote hooks, whose values are masked as well. Settings cannot say them: a
   * `Config` adds those of its hooks.
   */
  readonly tokenVariables?: readonly string[];
  /** The variables of the host, where that is not this process. No settings say them either. */
  readonly host?: Readonly<NodeJS.ProcessEnv>;
}

/** The variables of the host, of which hooks inherit some. */
export function variablesOf({ host }: HookEnvironmentPolicy): NodeJS.ProcessEnv {
  return host ?? process.env;
}

/** What `@secrets` stands for. */
export const SECRET_PATTERNS = [
  '*_TOKEN',
  '*_KEY',
  '*_KEY_ID',
  '*SECRET*',
  '*PASSWORD*',
  '*PASSWD*',
  '*CREDENTIAL*',
  '*_PAT',
] as const;

/**
 * The entries of a search path that are relative, and so name a directory of whatever project is open; the empty one
 * means the project itself.
 */
export function relativeEntries(searchPath = ''): readonly string[] {
  return searchPath === '' ? [] : searchPath.split(delimiter).filter((entry) => !isAbsolute(entry));
}

/** Why the variables of a project's hook must not be set: they decide which code its programs load. */
export function forbiddenVariables(own: Readonly<Record<string, string>> = {}): string | undefined {
  const names = Object.keys(own).filter((name) => FORBIDDEN.test(name));
  if (names.length === 0) return undefined;
  return `its "env" sets ${names.join(', ')}, which makes programs run other code: remove it`;
}

/** What shells, loaders and interpreters run or load before the program that was named. Systems disagree on case. */
const FORBIDDEN = new RegExp(
  `^(?:${[
    'PATH|HOME|USERPROFILE|TMPDIR|TEMP|TMP|XDG_.*|SHELL|CDPATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|ZDOTDIR',
    'LD_.*|DYLD_.*|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_TUNABLES|OPENSSL_.*|SSL_CERT_.*',
    'NODE_(?!ENV$).*|npm_.*|YARN_.*|PNPM_.*|COREPACK_.*|BUN_.*|DENO_.*',
    'PYTHON(?!UNBUFFERED$|DONTWRITEBYTECODE$|IOENCODING$|UTF8$).*|PIP_.*|UV_.*|VIRTUAL_ENV|CONDA_.*',
    'PERL.*|RUBYOPT|RUBYLIB|GEM_.*|BUNDLE_.*|LUA_.*|PHPRC|PHP_INI_SCAN_DIR|R_.*',
    'JAVA_.*|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|DOTNET_.*|CORECLR_.*|COMPLUS_.*|CARGO_.*|RUST.*|GO[A-Z]+|MAKEFLAGS',
    'PAGER|EDITOR|VISUAL|BROWSER|LESS.*|CURL_HOME|RIPGREP_CONFIG_PATH|GIT_.*|SSH_.*|DOCKER_.*',
  ].join('|')})$`,
  'i',
);

/**
 * Replaces the values of redacted variables in a text by the variables' names. A value with colours, control
 * characters or escapes of JSON in between is found, too; then these are removed from the text.
 */
export function maskSecrets(
  text: string,
  policy: HookEnvironmentPolicy,
  host = variablesOf(policy),
): string {
  return secretMasker(policy, host)(text);
}

/** The same for many texts. Kept until a value changes, because each span needs one. */
export function secretMasker(
  policy: HookEnvironmentPolicy,
  host = variablesOf(policy),
): (text: string) => string {
  const redact = maskedPatterns(policy);
  if (redact.length === 0) return (text) => text;
  const patterns = redact.join('\n');
  const known = maskers.get(patterns);
  const isRedacted = known?.isRedacted ?? remembering(matcherOf(redact));
  // Only values that count are read, as each is asked of the system.
  const secrets = Object.keys(host)
    .filter(isRedacted)
    .map((name) => [name, host[name]] as const)
    .filter(([, value]) => isMaskable(value));
  const values = secrets.map(([name, value]) => `${name}=${value}`).join('\0');
  if (known?.values === values) return known.mask;
  const mask = maskerOf(secrets);
  if (maskers.size >= MAX_MASKERS) maskers.clear();
  maskers.set(patterns, { isRedacted, values, mask });
  return mask;
}

interface Masker {
  readonly isRedacted: (name: string) => boolean;
  /** Of which it was made. */
  readonly values: string;
  readonly mask: (text: string) => string;
}

/** By the patterns of a policy. */
const maskers = new Map<string, Masker>();
const MAX_MASKERS = 16;

/** Names of variables are few, and asked for again with each span. */
function remembering(matches: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    const found = known.get(name) ?? matches(name);
    if (known.size < MAX_NAMES) known.set(name, found);
    return found;
  };
}

const MAX_NAMES = 4096;

function maskerOf(
  secrets: readonly (readonly [string, string | undefined])[],
): (text: string) => string {
  if (secrets.length === 0) return (text) => text;
  const replaced = secrets
    .flatMap(([name, value = '']) => spellingsOf(value).map((writing) => ({ name, writing })))
    .toSorted((a, b) => b.writing.length - a.writing.length);
  const mask = (text: string) =>
    replaced.reduce((masked, { name, writing }) => masked.replaceAll(writing, `[${name}]`), text);
  return (text) => {
    const masked = mask(text);
    if (!MAY_HIDE.test(masked)) return masked;
    const plain = withoutControls(masked);
    if (plain === masked) return masked;
    const maskedPlain = mask(plain);
    return maskedPlain === plain ? masked : maskedPlain;
  };
}

function maskedPatterns({ redact = [], tokenVariables = [] }: HookEnvironmentPolicy): string[] {
  return [...redact, ...tokenVariables];
}

/** Without control characters, those that are escapes in JSON among them, and without invisible ones. */
function withoutControls(text: string): string {
  const decoded = text.replaceAll(ESCAPE_IN_JSON, (_, code: string, backslash?: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return backslash ? `${character}\\` : character;
  });
  return removeControls(decoded).replaceAll(/\p{Cf}/gu, '');
}

/** What {@link withoutControls} changes has one of these. */
const MAY_HIDE = /[\\\p{Cc}\p{Cf}\u2028\u2029]/u;

/** With a backslash behind it, which may end a terminal's escape sequence. */
const ESCAPE_IN_JSON = /\\{1,3}u([0-9a-f]{4})(\\{2,4}(?![\\u]))?/gi;

/** The names of redacted variables that a text has in brackets, as {@link maskSecrets} puts them for the values. */
export function maskedNames(text: string, policy: HookEnvironmentPolicy): string[] {
  const isRedacted = matcherOf(maskedPatterns(policy));
  const names = Array.from(text.matchAll(/\[(\w+)\]/g), ([, name = '']) => name);
  return [...new Set(names)].filter((name) => isRedacted(name));
}

/**
 * A value as it is, as a text of JSON has it, and as one does that is itself in a text of JSON; each also as it is left
 * without control characters.
 */
function spellingsOf(value: string): string[] {
  const plain = removeControls(value);
  const values = isMaskable(plain) ? [value, plain] : [value];
  return [...new Set(values.flatMap((each) => [each, inJson(each), inJson(inJson(each))]))];
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The variables of the host that reach its hooks. */
export function inherited(
  policy: HookEnvironmentPolicy,
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const { inherit = 'all', allow = [], redact = [] } = policy;
  if (inherit === 'all' && redact.length === 0) return host;
  const isAllowed = matcherOf(allow);
  const isRedacted = matcherOf(redact);
  const reaches = (name: string) => isAllowed(name) || (inherit === 'all' && !isRedacted(name));
  return Object.fromEntries(Object.entries(host).filter(([name]) => reaches(name)));
}

/** Whether masking a value helps: a shorter one would be found, and replaced, everywhere. */
function isMaskable(value: string | undefined): boolean {
  return value !== undefined && value.length >= 4;
}

/** Matches names, of which systems disagree whether upper case matters, against patterns with `*`. */
function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => false;
  const alternatives = patterns
    .flatMap((pattern) => (pattern === '@secrets' ? SECRET_PATTERNS : pattern))
    .map((pattern) => pattern.split('*').map(escapeRegExp).join('.*'));
  const expression = new RegExp(`^(?:${alternatives.join('|')})$`, 'i');
  return (name) => expression.test(name);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
