import { closeSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { removeControls } from '../../protocol/sanitizeText.js';
import { quoteWord } from '../../util/quoteWord.js';
import { openPrivately } from '../../trace/privateFile.js';
import type { SpanRecord } from '../../trace/record.js';
import {
  followTrace,
  isDirectory,
  lastBlock,
  openTrace,
  refuseDirectory,
} from '../shared/readTrace.js';
import { ShadowDiff } from './shadowDiff.js';
import { slowest, storyOf, type StorySpan } from './story.js';
import { watchInterruption } from '../shared/interruption.js';
import type { NatsServerOptions } from '../shared/natsServer.js';
import { printJson, printLine, printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { formatEnded, formatSlowest, formatStory } from './storyText.js';
import { hostEnvironment } from '../../util/requester.js';

interface TraceOptions extends NatsServerOptions {
  readonly slowest?: number;
  readonly html?: string;
  readonly follow?: boolean;
  readonly query?: string;
  readonly json?: boolean;
  /** Only what a policy server and its shadow say otherwise. */
  readonly diff?: boolean;
}

/** @returns the exit code: 1 where there is nothing to tell of a file */
export async function trace(
  named: string | undefined,
  options: TraceOptions,
): Promise<number | void> {
  if (options.nats !== undefined) return followNats(named, options);
  const file = named ?? hostEnvironment()['HOOKSTACK_TRACE'];
  if (!file) throw new UsageError('There is no trace: name its file, or set HOOKSTACK_TRACE');
  if (options.query !== undefined) {
    const { queryRecord } = await import('./queryRecord.js');
    return queryRecord(file, options.query, options.json === true);
  }
  if (options.follow) return follow(file, options);
  if (options.diff) return tellDiff(file, options);
  const spans = await openTrace(file);
  if (spans.length === 0 && !options.json) {
    printNotice('error', `${file} holds no spans; write some with --trace ${file}`);
    return 1;
  }
  const story = storyOf(spans);
  if (options.html !== undefined) return writePage(file, options.html, story);
  const chosen = options.slowest === undefined ? story : slowest(story, options.slowest);
  if (options.json) printJson({ spans: chosen });
  else if (options.slowest !== undefined) printLine(formatSlowest(chosen));
  else printLine([formatStory(chosen), ...formatReplay(file, spans)].join('\n'));
  return spans.length === 0 ? 1 : 0;
}

/** @param place a trace, or a directory of those of `hookstack collect` */
async function tellDiff(place: string, { json }: TraceOptions): Promise<number> {
  const diff = new ShadowDiff();
  const add = (span: SpanRecord) => void diff.add(span);
  if (await isDirectory(place)) {
    const { scanDirectory } = await import('../record/days.js');
    await orUsageError(
      scanDirectory(place, add),
      (detail) => `${place} cannot be read (${detail}); name what collect has written`,
    );
  } else (await openTrace(place)).forEach(add);
  const { questions } = diff;
  if (json) printJson({ questions, differences: diff.list() });
  else if (questions > 0) printLine(diff.text());
  else
    printNotice('error', `${place} holds no questions to a shadow; see hookstack serve --shadow`);
  return questions > 0 ? 0 : 1;
}

async function followNats(named: string | undefined, options: TraceOptions): Promise<void> {
  if (named !== undefined) {
    throw new UsageError(`--nats tells what comes, and reads no file; leave out ${named}`);
  }
  const { followFleet } = await import('./followFleet.js');
  return followFleet(options, options);
}

async function follow(file: string, { json }: TraceOptions): Promise<void> {
  await refuseDirectory(file);
  const { signal, dispose } = watchInterruption();
  try {
    for await (const span of followTrace(file, signal)) {
      if (json) printJson(span);
      else printLine(formatEnded(span));
    }
  } finally {
    dispose();
  }
}

/** What a trace holds is data: the shell must not interpret it. */
function formatReplay(file: string, spans: readonly SpanRecord[]): string[] {
  const blocked = lastBlock(spans);
  if (!blocked) return [];
  return ['', `Replay: ${replayFrom(file)} ${shellWord(blocked.id)}`];
}

function replayFrom(file: string): string {
  return `hookstack fire --from-trace ${shellWord(file)} --span`;
}

function shellWord(given: string): string {
  const text = removeControls(given);
  return /^[\w./][\w./-]*$/.test(text) ? text : quoteWord(text);
}

async function writePage(file: string, out: string, story: readonly StorySpan[]): Promise<void> {
  if (await isSameFile(out, file)) {
    throw new UsageError(`--html ${out} would overwrite the trace itself; name another file`);
  }
  const { renderPage } = await import('./renderPage.js');
  const page = renderPage(story, path.basename(file), replayFrom(file));
  const write = () => {
    // The page is as private as the trace.
    const descriptor = openPrivately(out, 'replace');
    try {
      writeFileSync(descriptor, page);
    } finally {
      closeSync(descriptor);
    }
  };
  await orUsageError(write, (detail) => `--html ${out} cannot be written (${detail})`);
  printLine(`Wrote ${out}: open it in a browser`);
}

/** Also by links of any kind. */
async function isSameFile(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [a, b].map((file) => stat(file, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
