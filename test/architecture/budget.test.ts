import { describe, expect, it } from 'vitest';
import { findNodes, listFiles, readSource } from '../requirements/syntax.js';

/**
 * The most lines that each of these rooms may have. Growth is a decision: who raises a number says in the commit
 * what it buys.
 */
const LINES: Readonly<Record<string, number>> = {
  middleware: 2940,
  'src/config': 1880,
  'src/context.ts src/compose.ts src/stack.ts src/middlewareGuard.ts': 730,
  'src/core': 1660,
  'src/dialects': 3500,
  'src/hooks': 3020,
  'src/mcp src/prompts': 1370,
  'src/process': 3860,
  'src/protocol': 3370,
  'src/rules': 6200,
  'src/run': 1850,
  'src/shell': 340,
  'src/tools src/confirmation-bus': 310,
  'src/trace': 1300,
  'src/trust': 1880,
  'src/util': 2030,
};
const ALL = 36_150;

/** The same for the rooms around the engine: adapters; of a fleet its servers, their policies, its record, and who asks. */
const AROUND: Readonly<Record<string, number>> = {
  'src/cli/collect src/cli/record': 1470,
  'src/cli/policy': 460,
  'src/cli/serve': 3870,
  'src/fleet': 2920,
  'src/hosts': 4890,
};

/** The same for what people who write hooks look at them with. */
const LOOKING: Readonly<Record<string, number>> = {
  'src/cli/commands.ts src/cli/main.ts src/cli/program.ts src/cli/completion': 890,
  'src/cli/explain src/cli/fire src/cli/list src/cli/stack src/cli/switch src/cli/trace': 1600,
  'src/cli/shared': 4840,
  'src/cli/test src/cli/trust src/cli/validate': 1170,
  'src/validate': 1160,
};

/** The same for what is left: the program's other rooms, the reference agent, and the small parts of the library. */
const OTHERS: Readonly<Record<string, number>> = {
  'src/agent': 2260,
  'src/approvals src/author src/extensions': 1410,
  'src/cli/add': 2520,
  'src/cli/doctor src/cli/init src/cli/migrate src/cli/run': 5020,
  'src/cli/hook src/cli/install src/cli/resident': 3820,
  'src/cli/mcp': 4100,
  'src/author.ts src/fleet.ts src/index.ts src/debug-common.d.ts src/koa-compose.d.ts src/raw.d.ts src/sdk.d.ts': 430,
};
const WHOLE = 78_850;

const filesOf = (room: string): string[] =>
  listFiles(...room.split(' ').map((part) => (part.endsWith('.ts') ? part : `${part}/**/*.ts`)));

const countLines = (text: string): number => text.split('\n').length - 1;

const linesOf = (room: string): number =>
  filesOf(room).reduce((sum, file) => sum + countLines(readSource(file)), 0);

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/u;

/** The lines of each function that has a block, or a name. */
function lengthsOf(files: readonly string[]): number[] {
  const functions = findNodes(
    files,
    ({ type, body }, [parent]) =>
      FUNCTION.test(type) &&
      ((body as { type?: string } | null)?.type === 'BlockStatement' ||
        parent?.type === 'VariableDeclarator'),
  );
  const sources = new Map(files.map((file) => [file, readSource(file)]));
  return functions.map(({ file, node }) =>
    countLines(`${sources.get(file)?.slice(node.start, node.end)}\n`),
  );
}

const ROOMS = { ...LINES, ...AROUND, ...LOOKING, ...OTHERS };

describe('the rooms', () => {
  it('are all that there is, each file in one of them', () => {
    const inRooms = Object.keys(ROOMS).flatMap(filesOf);
    expect(inRooms.toSorted()).toEqual(listFiles('src/**/*.ts', 'middleware/**/*.ts').toSorted());
  });

  it.each(Object.entries(ROOMS))('%s: at most %i lines', (room, most) => {
    const lines = linesOf(room);
    expect(lines).toBeLessThanOrEqual(most);
    // A room that has become smaller keeps what it has gained.
    expect(lines).toBeGreaterThan(most - 60);
  });

  it.each([
    ['the engine', LINES, ALL],
    ['all', ROOMS, WHOLE],
  ])('have a budget together: %s', (_title, rooms, most) => {
    const lines = Object.keys(rooms).reduce((sum, room) => sum + linesOf(room), 0);
    expect(lines).toBeLessThanOrEqual(most);
  });

  it('of the engine have functions of at most nine lines in the median', () => {
    const lengths = lengthsOf(Object.keys(LINES).flatMap(filesOf)).toSorted((a, b) => a - b);
    expect(lengths.length).toBeGreaterThan(1000);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(9);
  });
});
