/** What a patch does to one file, as a call of `write_file` or `replace`. */
export interface PatchedFile {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const LIMITS = ['*** Begin Patch', '*** End Patch'] as const;

/**
 * Reads a patch of files as the tool `apply_patch` of other agents takes it: one write a file.
 *
 * @returns `undefined` for what is no patch as a whole
 */
export function readPatch(text: string): readonly PatchedFile[] | undefined {
  const lines = text.trim().split(/\r?\n/);
  const [begin, end] = LIMITS;
  if (lines.shift()?.trim() !== begin || lines.pop()?.trim() !== end) return undefined;
  const calls: PatchedFile[] = [];
  let change: string[] | undefined;
  for (const line of lines) {
    // A header may be indented. Where a line could be one, one file more is looked at.
    const [, kind, file = ''] = FILE.exec(line.trim()) ?? [];
    const [, target] = MOVE.exec(line.trim()) ?? [];
    if (kind !== undefined) {
      change = [];
      calls.push(new FileChange(kind, file.trim(), change));
    } else if (target !== undefined && change) {
      calls.push(new FileChange('Add', target.trim(), change));
    } else if (change) change.push(line);
    else return undefined;
  }
  return calls.length > 0 ? calls : undefined;
}

/** The files that patches within a text name, whatever stands around them: programs take a patch for more than it is. */
export function filesOfPatch(text: string): readonly string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const name = FILE.exec(line.trim())?.[2] ?? MOVE.exec(line.trim())?.[1];
    return name === undefined ? [] : [name.trim()];
  });
}

/** What a patch does to one file. A file that goes is written with nothing. */
class FileChange implements PatchedFile {
  constructor(
    private readonly kind: string,
    private readonly file: string,
    private readonly lines: readonly string[],
  ) {}

  get tool(): string {
    return this.kind === 'Update' ? 'replace' : 'write_file';
  }

  get input(): Record<string, unknown> {
    const { kind, file: file_path } = this;
    if (kind !== 'Update') return { file_path, content: this.#side('+') };
    return { file_path, old_string: this.#side(' -'), new_string: this.#side(' +') };
  }

  #side(marks: string): string {
    const kept = this.lines.filter((line) => line !== '' && marks.includes(line.charAt(0)));
    return kept.map((line) => line.slice(1)).join('\n');
  }
}

/** A patch that does to a file what a call of `write_file` or `replace` does. */
export function patchOf(
  tool: string,
  { file_path, content, old_string, new_string }: Readonly<Record<string, unknown>>,
): string {
  const change =
    tool === 'replace'
      ? ['Update', '@@', ...marked('-', old_string), ...marked('+', new_string)]
      : ['Add', ...marked('+', content)];
  const [kind, ...lines] = change;
  const [begin, end] = LIMITS;
  return [begin, `*** ${kind} File: ${asText(file_path)}`, ...lines, end, ''].join('\n');
}

function marked(mark: string, text: unknown): string[] {
  const lines = asText(text).split('\n');
  return lines.map((line) => mark + line);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
