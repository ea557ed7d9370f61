import { dirname } from 'node:path';
import type { ConsentReview } from '../../hooks/entry.js';
import type { HookDefinitions } from '../../protocol/types.js';
import { openConsent } from '../../trust/openConsent.js';
import { readFields } from '../../util/checks.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import {
  FileCheck,
  findTooManyHooks,
  readSettingsFile,
  type SettingsFileReading,
  type Warn,
} from './settingsFile.js';
import { fileError, type FileProblem, type SettingsFile } from '../../util/fileProblem.js';
import { MISPLACED_SETTINGS, SCALAR_FIELDS, type Scalars } from './settingsKeys.js';
import { UNKNOWN_HOME } from './settingsPlaces.js';

/** What one settings file contributes. */
export interface Layer {
  readonly source: SettingsFile;
  readonly status: 'read' | 'missing' | 'refused';
  /** What the user's consent says of a project's keys besides `hooks`, where one of them needs it. */
  readonly review?: ConsentReview;
  readonly scalars: Partial<Scalars>;
  /** What counts only where no other file says anything. */
  readonly fallback: Partial<Scalars>;
  readonly hooks: HookDefinitions;
  /** Its keys that mean nothing here. Absent where they are not known. */
  readonly otherKeys?: readonly string[];
  readonly problems: readonly FileProblem[];
}

/** How it is decided whether all of a project's file counts, and not only its hooks. */
export interface LayerOptions {
  /** `true`: all of it does. `false`: only what tightens. Default: what the user has allowed. */
  readonly trustProject?: boolean;
  /** Where consents are. Default: the home directory. */
  readonly home?: string;
}

/**
 * Reads one settings file. It is normal that one is missing, unless the user has named it.
 *
 * @returns never rejects: what is wrong is among the layer's problems
 */
export async function readLayer(source: SettingsFile, options: LayerOptions = {}): Promise<Layer> {
  if (source.file === UNKNOWN_HOME) {
    return refusedLayer(source, 'your home directory is not known, nor your settings: set HOME');
  }
  const reading = await readSettingsFile(source, 'an object of settings');
  if (reading.status === 'missing') {
    return source.scope === 'file'
      ? refusedLayer(source, 'there is no such file; check the path')
      : emptyLayer(source, 'missing');
  }
  if (reading.status === 'read') return parseLayer(source, reading, options);
  return emptyLayer(source, reading.status === 'refused' ? 'refused' : 'read', reading.problem);
}

async function parseLayer(
  source: SettingsFile,
  { value, document }: Extract<SettingsFileReading, { status: 'read' }>,
  options: LayerOptions,
): Promise<Layer> {
  const objection = source.scope === 'project' ? findTooManyHooks(value['hooks']) : undefined;
  if (objection !== undefined) {
    return emptyLayer(source, 'read', fileError(source, objection, document.locate(['hooks'])));
  }
  const check = new FileCheck(source, document, isKey);
  warnOfMisplacedSettings(value, check.warn);
  const scalars = withoutForbidden(
    readFields(value, SCALAR_FIELDS, 'file', check.warn) ?? {},
    source,
    check.warn,
  );
  const given = value['hooks'] === undefined ? {} : value['hooks'];
  const hooks = check.readHooks(given, source, value['mcpServers']);
  const counted = await weighScalars(source, scalars, options, check.warn);
  const otherKeys = Object.keys(value).filter((key) => !isKey(key));
  return { source, status: 'read', ...counted, hooks, otherKeys, problems: check.problems() };
}

function isKey(key: string): boolean {
  return key === 'hooks' || key === 'mcpServers' || Object.hasOwn(SCALAR_FIELDS, key);
}

function warnOfMisplacedSettings(value: Record<string, unknown>, warn: Warn): void {
  for (const { section, key, rightKey } of MISPLACED_SETTINGS) {
    const holder = section === undefined ? value : value[section];
    if (!isRecord(holder) || holder[key] === undefined) continue;
    const message = `has no effect; use the key '${rightKey}' at the top level of the file`;
    warn(section === undefined ? [key] : [section, key], message, 'misplaced-key');
  }
}

/** Why a project cannot say some keys: a cloned repository must not send elsewhere what happens here, nor spend on it. */
const NOT_OF_PROJECTS = {
  fleet: 'who records what happens',
  promptModel: 'which model is asked',
  promptBudget: 'how much a model is asked',
} as const satisfies { readonly [K in keyof Scalars]?: string };

function withoutForbidden(
  scalars: Partial<Scalars>,
  { scope }: SettingsFile,
  warn: Warn,
): Partial<Scalars> {
  if (scope !== 'project') return scalars;
  const entries = Object.entries(scalars).filter(([key]) => {
    if (!Object.hasOwn(NOT_OF_PROJECTS, key)) return true;
    const what = NOT_OF_PROJECTS[key as keyof typeof NOT_OF_PROJECTS];
    const message = `ignored, as a project cannot say ${what}; put it into ~/.llxprt/settings.json`;
    warn([key], message, 'misplaced-key');
    return false;
  });
  return Object.fromEntries(entries);
}

/** What of a file's scalars counts, and how much. */
async function weighScalars(
  { scope, file }: SettingsFile,
  scalars: Partial<Scalars>,
  { trustProject, home }: LayerOptions,
  warn: Warn,
): Promise<Pick<Layer, 'scalars' | 'fallback' | 'review'>> {
  if (scope !== 'project' || trustProject === true) return { scalars, fallback: {} };
  const { objection, review }: Judgement =
    trustProject === false
      ? { objection: 'is not trusted' }
      : await judgeScalars(file, scalars, home);
  if (objection !== undefined) {
    return { review, scalars: {}, fallback: withholdUntrusted(scalars, objection, warn) };
  }
  // Nobody is asked about `enableHooks: true` alone, so that consent to other keys must not make more of it.
  const { enableHooks, ...others } = scalars;
  return enableHooks
    ? { review, scalars: others, fallback: { enableHooks } }
    : { review, scalars, fallback: {} };
}

/** What comes of asking whether all that a project's file says counts. */
interface Judgement {
  /** Completes "What this file sets …"; `undefined` where all of it counts. */
  readonly objection?: string;
  readonly review?: ConsentReview;
}

async function judgeScalars(
  file: string,
  scalars: Partial<Scalars>,
  home: string | undefined,
): Promise<Judgement> {
  // Nearly every project says this. Nobody is to be asked about it alone, and it gives way to everybody else.
  const { enableHooks, ...others } = scalars;
  if (enableHooks !== false && Object.keys(others).length === 0) {
    return { objection: 'needs no consent' };
  }
  try {
    const consent = await openConsent({ workingDir: dirname(dirname(file)), home });
    const review = await consent.reviewSettings({ ...scalars });
    if (review.status === 'allowed') return { review };
    return { review, objection: review.reason ?? 'is not allowed' };
  } catch (error) {
    return { objection: `could not be compared with what is allowed (${errorMessage(error)})` };
  }
}

/** What a project may say before anybody has allowed it, where nobody else says anything: it only tightens. */
const TIGHTENING: Partial<Scalars> = {
  enableHooks: true,
  afterModelDisplay: 'hold',
  approvals: { whenNobody: 'deny' },
  unknownTools: 'deny',
};

export function isTightening(entry: [string, unknown]): boolean {
  // As text, because objects of a file have no prototype, and so are never the same as ours.
  const text = JSON.stringify(entry);
  return Object.entries(TIGHTENING).some((each) => JSON.stringify(each) === text);
}

/** Keeps only what cannot weaken the user's own guards. */
function withholdUntrusted(
  scalars: Partial<Scalars>,
  objection: string,
  warn: Warn,
): Partial<Scalars> {
  const entries = Object.entries(scalars);
  for (const entry of entries) {
    if (!isTightening(entry)) warn([entry[0]], `ignored, ${adviseTrust(objection)}`, 'untrusted');
  }
  return Object.fromEntries(entries.filter(isTightening));
}

/** @param objection completes "What this file sets …" */
export function adviseTrust(objection = 'is not trusted'): string {
  return `as what this file sets ${objection}; to see and allow it, run in the project: hookstack trust`;
}

function refusedLayer(source: SettingsFile, message: string): Layer {
  return emptyLayer(source, 'refused', fileError(source, message));
}

function emptyLayer(source: SettingsFile, status: Layer['status'], problem?: FileProblem): Layer {
  const problems = problem ? [problem] : [];
  return { source, status, scalars: {}, fallback: {}, hooks: {}, problems };
}
