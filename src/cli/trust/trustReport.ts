import { relative } from 'node:path';
import { compareItems, definitionLines } from '../../trust/consentChanges.js';
import type { ConsentItem, ConsentReview } from '../../hooks/entry.js';
import { paint, toVisible, type TextStyle } from '../shared/terminal.js';
import type { ReviewedItem, ReviewedProject } from '../shared/reviewProject.js';

/** An extension may have hundreds. */
const MAX_SHOWN_FILES = 20;

export function describeProject({ consent, items }: ReviewedProject) {
  return {
    project: consent.project,
    allowed: items.every(({ review }) => review.status === 'allowed'),
    problems: consent.problems,
    items: items.map(({ review, file, position }) => ({
      kind: review.item.kind,
      status: review.status,
      reason: review.reason ?? null,
      class: review.class,
      covers: review.covers,
      definition: review.item.definition,
      files: review.item.files,
      digest: review.item.digest,
      file: file ?? null,
      line: position?.line ?? null,
      previous: review.previous
        ? { definition: review.previous.definition, files: review.previous.files }
        : null,
    })),
  };
}

export function formatProject({ consent, items }: ReviewedProject): string {
  const project = toVisible(consent.project);
  if (items.length === 0) return `Nothing in ${project} needs to be allowed.`;
  const formatted = items.map((item) => formatItem(item, consent.project));
  return [`What ${project} would run:`, ...formatted].join('\n\n');
}

export function formatItem({ review, file, position }: ReviewedItem, project: string): string {
  const { extension } = review.item.definition;
  const of = typeof extension === 'string' ? ` of the extension ${toVisible(extension)}` : '';
  const at = position ? `:${position.line}:${position.column}` : '';
  return [
    `${formatTitle(review.item)}${of} [${formatStatus(review)}]`,
    ...(review.status === 'changed' ? [`    it ${toVisible(review.reason ?? '')}`] : []),
    ...(file === undefined ? [] : [`    from ${toVisible(relative(project, file))}${at}`]),
    ...(review.status === 'refused'
      ? []
      : [`    ${paint(CLASS_STYLES[review.class], review.class)}: ${toVisible(review.covers)}`]),
    ...formatDefinition(review),
    ...formatFiles(review),
  ].join('\n');
}

export function formatTitle(item: ConsentItem): string {
  return paint('bold', toVisible(titleOf(item)));
}

function titleOf({ kind, definition: { event, stack } }: ConsentItem): string {
  if (kind === 'settings') return 'Settings';
  return typeof event === 'string' ? event : `Middleware (${JSON.stringify(stack)})`;
}

const STATUS_STYLES: Readonly<Record<ConsentReview['status'], TextStyle>> = {
  allowed: 'green',
  new: 'yellow',
  changed: 'yellow',
  refused: 'red',
};

function formatStatus({ status, reason = '' }: ConsentReview): string {
  const text = status === 'refused' ? reason.replace(/^is /, '') : status;
  return paint(STATUS_STYLES[status], toVisible(text));
}

const CLASS_STYLES: Readonly<Record<ConsentReview['class'], TextStyle>> = {
  pinned: 'green',
  open: 'red',
};

/** What a hook says, and what of that differs from before. */
export function formatDefinition({
  item,
  previous,
}: Pick<ConsentReview, 'item' | 'previous'>): string[] {
  if (!previous) return definitionLines(item).map((line) => mark(' ', line));
  const { removedLines, addedLines } = compareItems(previous, item);
  const kept = definitionLines(item).filter((line) => !addedLines.includes(line));
  return [
    ...kept.map((line) => mark(' ', line)),
    ...removedLines.map((line) => mark('-', line)),
    ...addedLines.map((line) => mark('+', line)),
  ];
}

function formatFiles({ item, previous, scripts }: ConsentReview): string[] {
  const toLine = (sign: Sign) => (file: string) =>
    mark(sign, `${file}  ${toShort(item.files[file] ?? previous?.files[file] ?? '')}`);
  const { changedFiles, addedFiles, removedFiles } = compareItems(previous ?? item, item);
  const different = new Set([...changedFiles, ...addedFiles]);
  const rankOf = (file: string) =>
    scripts.includes(file) ? 0 : file.includes('/node_modules/') ? 2 : 1;
  // What is cut off must not be what the hook starts, behind files that nobody reads.
  const same = Object.keys(item.files).filter((file) => !different.has(file));
  const toLines = (sign: Sign, files: readonly string[]) => {
    const sorted = files.toSorted((a, b) => rankOf(a) - rankOf(b));
    const more = sorted.length - MAX_SHOWN_FILES;
    return [
      ...sorted.slice(0, MAX_SHOWN_FILES).map(toLine(sign)),
      ...(more > 0 ? [mark(sign, `and ${more} more files`)] : []),
    ];
  };
  return [
    ...toLines(' ', same),
    ...toLines('~', changedFiles),
    ...toLines('-', removedFiles),
    ...toLines('+', addedFiles),
  ];
}

/** `sha256:` and 12 digits, with the mode. */
function toShort(digest: string): string {
  return digest.replace(/^(.{19})\w*( \d+)?.*$/u, '$1$2');
}

const SIGN_STYLES = { '-': 'red', '+': 'green', '~': 'yellow' } as const;

type Sign = ' ' | keyof typeof SIGN_STYLES;

function mark(sign: Sign, line: string): string {
  const text = `  ${sign} ${toVisible(line)}`;
  return sign === ' ' ? text : paint(SIGN_STYLES[sign], text);
}
