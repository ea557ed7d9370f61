import { defineTool } from './defineTool.js';
import { integer, nonEmptyText, optional } from './parameters.js';
import { readTextFile } from './textFile.js';
import { invalid } from './toolFailure.js';

const DEFAULT_LINES = 2000;
const MAX_CHARACTERS = 200_000;

export const readFile = defineTool({
  name: 'read_file',
  description:
    `Reads a UTF-8 text file inside of the working directory. Gives at most ${DEFAULT_LINES} lines ` +
    'unless limit says otherwise, and says so at the top when there is more.',
  parameters: {
    file_path: nonEmptyText('The file to read, relative to the working directory or absolute.'),
    offset: optional(integer('The line to start at, counted from 0. Default 0.', 0)),
    limit: optional(integer(`How many lines to read. Default ${DEFAULT_LINES}.`, 1)),
  },
  targetOf: (args) => args.file_path,
  async run({ offset = 0, limit = DEFAULT_LINES }, target) {
    const content = await readTextFile(target);
    const text = content.replace(/^\uFEFF/, '');
    if (text === '') {
      const note = `${target.shown} is empty`;
      return { llmContent: `[${note}]`, returnDisplay: note };
    }
    // With their line ends, so that joining them gives the text again.
    const lines = text.split(/(?<=\n)/);
    if (offset >= lines.length) {
      throw invalid(
        `read_file: the argument offset is ${offset}; the last line of ${target.shown} is at ${lines.length - 1}.`,
        'Use a smaller offset.',
      );
    }

    const selected = takeUpTo(MAX_CHARACTERS, lines.slice(offset, offset + limit));
    const range = `lines ${offset + 1}-${offset + selected.count} of ${lines.length}`;
    if (selected.count === lines.length && !selected.cut) {
      return { llmContent: selected.text, returnDisplay: `Read ${target.shown}` };
    }
    const note = describePart(range, offset + selected.count, lines.length, selected.cut);
    return {
      llmContent: `[${target.shown}: ${note}]\n${selected.text}`,
      returnDisplay: `Read ${range} from ${target.shown}`,
    };
  },
});

/** Whole lines only; of a first line that does not fit, its beginning. */
function takeUpTo(maxCharacters: number, lines: readonly string[]) {
  const kept: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += line.length;
    if (characters > maxCharacters) break;
    kept.push(line);
  }
  const [first = ''] = lines;
  return kept.length > 0
    ? { text: kept.join(''), count: kept.length, cut: false }
    : { text: first.slice(0, maxCharacters), count: 1, cut: true };
}

function describePart(range: string, next: number, total: number, cut: boolean): string {
  const cutNote = cut ? `, cut after ${MAX_CHARACTERS} characters` : '';
  const more = next < total ? ` To read on, call read_file with offset ${next}.` : '';
  return `showing ${range}${cutNote}.${more}`;
}
