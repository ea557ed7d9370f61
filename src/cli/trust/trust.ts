import { createInterface, type Interface } from 'node:readline/promises';
import { HookConsent } from '../../trust/consent.js';
import { lockFileIn } from '../../trust/consentStore.js';
import { writeLock } from './writeLock.js';
import { warnIfOff } from '../shared/obstacles.js';
import { requireInside } from '../shared/projectFile.js';
import {
  printJson,
  printJsonError,
  printLine,
  printNotice,
  toVisible,
} from '../shared/terminal.js';
import {
  countItems,
  reviewProject,
  type ReviewedItem,
  type ReviewedProject,
} from '../shared/reviewProject.js';
import { describeProject, formatItem, formatProject } from './trustReport.js';
import { changedFilesOf, filesToShow, linesOf } from './fileLines.js';
import { Pager } from './pager.js';
import { isInteractive } from '../shared/streams.js';
import { UsageError } from '../shared/usageError.js';
import { resolveWorkingDir } from '../shared/workspace.js';

interface TrustOptions {
  readonly cwd?: string;
  /** Allows what is pinned. */
  readonly yes?: boolean;
  /** Allows what is open as well, or puts it into the lock. */
  readonly open?: boolean;
  readonly check?: boolean;
  readonly lock?: boolean;
  readonly json?: boolean;
}

const NOT_ALLOWED = 1;

const WITHOUT_GUARDS =
  'and would neither run nor deny where it is all that is known (to put them in, run hookstack trust --lock --open, or put what they run into scripts in .llxprt/hooks)';
const OF_OLD = 'allowed by an earlier version, without the modes of files';

/** @returns the exit code: 0 all is allowed, or the lock is written; 1 something is not */
export async function trust(options: TrustOptions): Promise<number> {
  if ([options.yes, options.check, options.lock].filter(Boolean).length > 1) {
    throw new UsageError('--yes, --check and --lock exclude each other: use one of them');
  }
  if (options.open && options.check) {
    throw new UsageError('--open and --check exclude each other: --check allows nothing');
  }
  const project = await reviewProject(options.cwd);
  for (const problem of project.consent.problems) printNotice('warning', problem);
  const code = options.lock
    ? await lock(project, options)
    : options.check
      ? await check(project, options)
      : await allow(project, options);
  const [file] = project.unreadable;
  if (file === undefined) return code;
  printNotice(
    'error',
    `${toVisible(file)} cannot be read, and may hold more: fix what is named above`,
  );
  return NOT_ALLOWED;
}

export async function untrust({ cwd, json }: Pick<TrustOptions, 'cwd' | 'json'>): Promise<void> {
  const workingDir = await resolveWorkingDir(cwd);
  const consent = await HookConsent.read({ workingDir });
  const { allowed } = consent;
  await consent.forget();
  if (json) printJson({ project: workingDir, removed: allowed.length });
  else if (allowed.length === 0) printLine('Nothing was allowed here.');
  else printLine(`No longer allowed: ${countItems(allowed)}.`);
}

async function check(project: ReviewedProject, { json }: TrustOptions): Promise<number> {
  const refused = project.items.filter(({ review }) => review.status !== 'allowed');
  if (json) printJson(describeProject(project));
  else if (refused.length === 0) printLine('All is allowed.');
  else {
    printLine(formatProject({ ...project, items: refused }));
    await printChanges(refused, project.consent);
  }
  if (refused.length === 0) return 0;
  printNotice('error', `not allowed: ${count(refused)}; see with: hookstack trust`);
  return NOT_ALLOWED;
}

async function lock(project: ReviewedProject, { json, open }: TrustOptions): Promise<number> {
  const refused = project.items.filter(({ review }) => review.status === 'refused');
  if (refused.length > 0) {
    if (!json) printLine(formatProject({ ...project, items: refused }));
    return refuseLock('what is refused cannot be allowed anywhere', json);
  }
  const locked = project.items.filter(({ review }) => open || review.class !== 'open');
  const left = project.items.filter((item) => !locked.includes(item));
  const guards = left.filter(({ isGuard }) => isGuard);
  if (guards.length > 0) {
    const names = guards.map(({ name = '' }) => `"${toVisible(name)}"`).join(', ');
    return refuseLock(`these guards are open, ${WITHOUT_GUARDS}: ${names}`, json);
  }
  const file = lockFileIn(project.consent.project);
  await requireInside(project.consent.project, file);
  const digest = await writeLock(
    project.consent.project,
    locked.map(({ review }) => review.item),
  );
  if (json) printJson({ file, digest, ...describeProject(project) });
  else printLine(digest);
  if (left.length > 0) {
    printNotice('warning', `left out, as open: ${count(left)}; add --open to put in`);
  }
  printNotice(
    'note',
    `${toVisible(file)} is written; HOOKSTACK_TRUST_LOCK=${digest} allows what it lists`,
  );
  return 0;
}

function refuseLock(why: string, json: boolean | undefined): number {
  const message = `No lock is written: ${why}`;
  if (json) printJsonError(message);
  printNotice('error', message);
  return NOT_ALLOWED;
}

async function allow(project: ReviewedProject, options: TrustOptions): Promise<number> {
  const { consent, items } = project;
  const { yes, json } = options;
  if (json) printJson(describeProject(project));
  else printLine(formatProject(project));
  const missing = items.filter(({ review }) => review.status !== 'allowed');
  const allowable = missing.filter(({ review }) => review.status !== 'refused');
  const agreed = allowable.length === 0 ? [] : await agree(allowable, project, options);
  const old = items.filter(({ review }) => review.isOld);
  const renewed = yes || options.open ? old : [];
  if (agreed.length + renewed.length > 0) {
    const left = missing.filter((item) => !agreed.includes(item));
    const allowed = items.filter((item) => !left.includes(item));
    await consent.allow(
      allowed.map(({ review }) => review),
      // A changed guard goes on denying, as it was allowed.
      { open: true, keep: left.flatMap(({ review }) => review.previous ?? []) },
    );
    if (!json && agreed.length > 0) printLine(`Allowed: ${count(agreed)}.`);
    if (!json && renewed.length > 0) printLine(`Renewed: ${count(renewed)}, ${OF_OLD}.`);
  }
  if (renewed.length < old.length && agreed.length === 0) {
    printNotice('note', `${count(old)} ${OF_OLD}; to renew that, run: hookstack trust --yes`);
  }
  const open = allowable.filter((item) => isOpen(item) && !agreed.includes(item));
  if (yes && open.length > 0) {
    const advice =
      'only their definition is covered; if you accept that, run: hookstack trust --open';
    printNotice('error', `not allowed, as open: ${count(open)}; ${advice}`);
  }
  const refused = missing.filter((item) => !allowable.includes(item));
  if (refused.length > 0) {
    const advice = 'nobody can allow that: fix what is named above';
    printNotice('error', `refused: ${count(refused)}; ${advice}`);
  }
  if (items.length > 0) await warnIfOff(consent.project);
  return agreed.length === missing.length ? 0 : NOT_ALLOWED;
}

async function agree(
  allowable: readonly ReviewedItem[],
  { consent }: ReviewedProject,
  { yes, open, json }: TrustOptions,
): Promise<readonly ReviewedItem[]> {
  if (yes || open) return allowable.filter((item) => open || !isOpen(item));
  if (!json && isInteractive()) return ask(allowable, consent);
  if (!json) await printChanges(allowable, consent);
  const withOpen = allowable.some(isOpen) ? ', or with what is open: hookstack trust --open' : '';
  const advice = 'nobody can be asked here; look at the list, then run: hookstack trust --yes';
  printNotice('error', `not allowed: ${count(allowable)}; ${advice}${withOpen}`);
  return [];
}

function count(items: readonly ReviewedItem[]): string {
  return countItems(items.map(({ review }) => review.item));
}

function isOpen({ review }: ReviewedItem): boolean {
  return review.class === 'open';
}

/** Anything but a clear answer is a no. */
async function ask(
  allowable: readonly ReviewedItem[],
  consent: HookConsent,
): Promise<readonly ReviewedItem[]> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const pager = new Pager((question) => readAnswer(question, terminal));
  const agreed: ReviewedItem[] = [];
  const seen = new Set<string>();
  let allPinned = false;
  try {
    for (const [index, item] of allowable.entries()) {
      const { review } = item;
      if (allPinned && !isOpen(item)) {
        agreed.push(item);
        continue;
      }
      const shown = `${index + 1} of ${allowable.length}: ${formatItem(item, consent.project)}`;
      pager.begin();
      await pager.show(['', ...shown.split('\n')]);
      for (const file of filesToShow(review)) {
        const lines = await linesOf(consent, file, review);
        const text = lines.join('\n');
        await pager.show(seen.has(text) ? [`${toVisible(file)}: shown above`] : lines);
        seen.add(text);
      }
      const answer = await answerTo(
        'Allow it? (y)es, (n)o, (a)ll that are pinned, (q)uit: ',
        terminal,
      );
      allPinned ||= answer === 'a';
      if (answer === 'y' || (answer === 'a' && !isOpen(item))) agreed.push(item);
      else if (answer === 'a') printLine('This one is open: it needs a yes of its own.');
      if (answer === 'q') break;
    }
  } finally {
    terminal.close();
  }
  if (agreed.length === 0) printLine('Nothing is allowed.');
  return agreed;
}

/** The first letter of the answer; `q` once the input has ended. */
async function answerTo(question: string, terminal: Interface): Promise<string> {
  const answer = await readAnswer(question, terminal);
  const [, word = 'n'] = /^\s*(y|yes|n|no|a|all|q|quit)\s*$/iu.exec(answer) ?? [];
  return word.charAt(0).toLowerCase();
}

/** The line that somebody writes; `q` once the input has ended. */
export async function readAnswer(question: string, terminal: Interface): Promise<string> {
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('q')));
  return Promise.race([terminal.question(question).catch(() => 'q'), closed]);
}

/** A file that several hooks share is shown once. */
async function printChanges(items: readonly ReviewedItem[], consent: HookConsent): Promise<void> {
  const shown = new Set<string>();
  for (const { review } of items) {
    for (const file of changedFilesOf(review)) {
      const text = (await linesOf(consent, file, review)).join('\n');
      if (!shown.has(text)) printLine(`\n${text}`);
      shown.add(text);
    }
  }
}
