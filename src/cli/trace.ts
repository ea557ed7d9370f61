import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { errorMessage } from '../errorMessage.js';
import { readTrace, type TraceReading } from '../trace/readTrace.js';
import { slowest, tellStory } from '../trace/story.js';
import { formatSlowest, formatStory, type StoryFormat } from '../trace/storyText.js';
import { paint, printJson, printLine, printNotice, toOneLine } from './terminal.js';
import { UsageError } from './usageError.js';

/** The options of `hookstack trace`. */
export interface TraceOptions {
  readonly slowest?: number;
  /** Where to write the page. */
  readonly html?: string;
  readonly json?: boolean;
}

const format: StoryFormat = {
  paint: (style, text) => paint(process.stdout, style, text),
  toOneLine,
};

/**
 * `hookstack trace`: the story that a trace file tells, on stdout or as a page.
 *
 * @throws UsageError
 */
export async function trace(file: string, options: TraceOptions): Promise<void> {
  const { spans, unreadable } = await read(file);
  if (unreadable.length > 0) {
    const count = unreadable.length === 1 ? '1 line is' : `${unreadable.length} lines are`;
    printNotice('warning', 'yellow', `${file}:${unreadable[0]}: ${count} no span and left out`);
  }
  const story = tellStory(spans);
  if (options.html !== undefined) {
    await writePage(file, options.html, story);
    return;
  }
  const chosen = options.slowest === undefined ? story : slowest(story, options.slowest);
  if (options.json) printJson({ spans: chosen });
  else if (chosen.length === 0) printLine(`${file} holds no spans`);
  else if (options.slowest === undefined) printLine(formatStory(chosen, format));
  else printLine(formatSlowest(chosen, format));
}

async function read(file: string): Promise<TraceReading> {
  try {
    return await readTrace(file);
  } catch (cause) {
    throw new UsageError(
      `The trace ${file} cannot be read (${errorMessage(cause)}); write one with --trace ${file}`,
      { cause },
    );
  }
}

async function writePage(
  file: string,
  out: string,
  story: ReturnType<typeof tellStory>,
): Promise<void> {
  if (await isSameFile(out, file)) {
    throw new UsageError(`--html ${out} would overwrite the trace itself; name another file`);
  }
  const { renderPage } = await import('../trace/renderPage.js');
  try {
    // It holds what the trace does, which is its owner's alone.
    await writeFile(out, renderPage(story, path.basename(file)), { mode: 0o600 });
  } catch (cause) {
    throw new UsageError(`--html ${out} cannot be written (${errorMessage(cause)})`, { cause });
  }
  printLine(`Wrote ${out}: open it in a browser`);
}

/** Whether both paths lead to one file, by links of any kind. */
async function isSameFile(a: string, b: string): Promise<boolean> {
  const [first, second] = await Promise.all(
    [a, b].map((file) => stat(file, { bigint: true }).catch(() => undefined)),
  );
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
