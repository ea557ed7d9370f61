import type { Abortion } from './abortion.js';
import type { ModelAnswer, ScenarioTool, ScriptedAnswer, Seen } from './types.js';

/** What the model says, with the pause in it that a scenario may want. */
export function toAnswer(
  said: ScriptedAnswer,
  turn: number,
  afterFirst: () => Promise<void>,
): ModelAnswer {
  if (typeof said === 'string') return { text: said, chunks: toChunks([said]), calls: [] };
  if (!('calls' in said)) {
    return { text: said.join(''), chunks: toChunks(said, afterFirst), calls: [] };
  }
  const calls = said.calls.map((call, position) => ({ id: `call_${turn}_${position}`, ...call }));
  return { text: '', chunks: toChunks([]), calls };
}

async function* toChunks(pieces: readonly string[], afterFirst?: () => Promise<void>) {
  for (const [position, piece] of pieces.entries()) {
    yield piece;
    if (position === 0) await afterFirst?.();
  }
}

/** The tools of the agent, which record their runs. */
export function makeTools(
  runs: Seen['runs'][number][],
  abortion: Abortion,
  throws: boolean,
): ScenarioTool[] {
  const make = (
    name: string,
    fields: string[],
    run: (args: Record<string, unknown>) => string,
  ) => ({
    name,
    description: `Can ${name} files.`,
    parameters: {
      type: 'object' as const,
      properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' as const }])),
      required: fields,
      additionalProperties: false as const,
    },
    async execute(args: Record<string, unknown>, signal?: AbortSignal) {
      runs.push({ name, args: { ...args } });
      await abortion.work('tool', signal);
      if (throws) throw new Error('The disk is full.');
      return run(args);
    },
  });
  return [
    make('write', ['path', 'text'], ({ path: file }) => `Wrote ${String(file)}.`),
    make('read', ['path'], () => 'The password is hunter2.'),
  ];
}
