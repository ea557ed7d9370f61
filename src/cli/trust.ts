import { createInterface } from 'node:readline/promises';
import { HookConsent } from '../config/consent.js';
import { lockFileIn, writeLock } from '../config/hooksLock.js';
import { requireInside } from './projectFile.js';
import { printJson, printLine, printNotice } from './terminal.js';
import { reviewProject, type ReviewedProject } from './trustItems.js';
import { countItems, describeProject, formatProject } from './trustReport.js';
import { UsageError } from './usageError.js';
import { resolveWorkingDir } from './workspace.js';

/** The options of `hookstack trust`. */
export interface TrustOptions {
  readonly cwd?: string;
  readonly yes?: boolean;
  readonly check?: boolean;
  readonly lock?: boolean;
  readonly json?: boolean;
}

const NOT_ALLOWED = 3;

/**
 * `hookstack trust`: shows what would run, and asks whether it may.
 *
 * @returns the exit code: 0 all is allowed, or the lock is written; 3 something is not
 * @throws UsageError
 */
export async function trust(options: TrustOptions): Promise<number> {
  if ([options.yes, options.check, options.lock].filter(Boolean).length > 1) {
    throw new UsageError('--yes, --check and --lock exclude each other: use one of them');
  }
  const project = await reviewProject(options.cwd);
  for (const problem of project.consent.problems) printNotice('warning', 'yellow', problem);
  if (options.lock) return await lock(project, options);
  if (options.check) return check(project, options);
  return await allow(project, options);
}

/** `hookstack untrust`: forgets what was allowed for a project. */
export async function untrust({ cwd }: Pick<TrustOptions, 'cwd'>): Promise<void> {
  const workingDir = await resolveWorkingDir(cwd ?? process.cwd());
  const consent = await HookConsent.open({ workingDir });
  const count = await consent.forget();
  printLine(count === 0 ? 'Nothing was allowed here.' : `No longer allowed: ${countItems(count)}.`);
}

function check(project: ReviewedProject, { json }: TrustOptions): number {
  const refused = project.items.filter(({ review }) => review.status !== 'allowed');
  if (json) printJson(describeProject(project));
  else if (refused.length === 0) printLine('All is allowed.');
  else printLine(formatProject({ ...project, items: refused }));
  if (refused.length === 0) return 0;
  printNotice(
    'error',
    'red',
    `${countItems(refused.length)} not allowed; see them with: hookstack trust`,
  );
  return NOT_ALLOWED;
}

async function lock(project: ReviewedProject, { json }: TrustOptions): Promise<number> {
  const refused = project.items.filter(({ review }) => review.status === 'refused');
  if (refused.length > 0) {
    if (!json) printLine(formatProject({ ...project, items: refused }));
    printNotice('error', 'red', 'No lock is written: what is refused cannot be allowed anywhere');
    return NOT_ALLOWED;
  }
  const file = lockFileIn(project.consent.project);
  await requireInside(project.consent.project, file);
  const digest = await writeLock(
    project.consent.project,
    project.items.map(({ review }) => review.item),
  );
  if (json) printJson({ file, digest, ...describeProject(project) });
  else printLine(digest);
  printNotice(
    'note',
    'cyan',
    `${file} is written; HOOKSTACK_TRUST_LOCK=${digest} allows what it lists`,
  );
  return 0;
}

async function allow(project: ReviewedProject, options: TrustOptions): Promise<number> {
  const { consent, items } = project;
  if (options.json) printJson(describeProject(project));
  else printLine(formatProject(project));
  const open = items.filter(({ review }) => review.status !== 'allowed');
  if (open.length === 0) return 0;

  const allowable = open.filter(({ review }) => review.status !== 'refused');
  if (allowable.length > 0) {
    const isAgreed = options.yes === true || (await ask(allowable.length, options));
    if (!isAgreed) return NOT_ALLOWED;
    await consent.allow(items.map(({ review }) => review));
    const told = `Allowed: ${countItems(allowable.length)}.`;
    if (!options.json) printLine(told);
  }
  if (allowable.length === open.length) return 0;
  const count = countItems(open.length - allowable.length);
  printNotice('error', 'red', `${count} refused, and cannot be allowed: mend what is named above`);
  return NOT_ALLOWED;
}

/** Asks where somebody can answer. */
async function ask(count: number, { json }: TrustOptions): Promise<boolean> {
  if (json || !process.stdin.isTTY || !process.stdout.isTTY) {
    const advice = 'nobody can be asked here; look at the list, then run: hookstack trust --yes';
    printNotice('error', 'red', `${countItems(count)} not allowed: ${advice}`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    // The end of the input answers as well.
    const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('')));
    const question = `Allow ${countItems(count)} to run on this machine? (y/N) `;
    const answer = await Promise.race([terminal.question(question), closed]);
    const isAgreed = /^\s*y(es)?\s*$/i.test(answer);
    if (!isAgreed) printLine('Nothing is allowed.');
    return isAgreed;
  } finally {
    terminal.close();
  }
}
