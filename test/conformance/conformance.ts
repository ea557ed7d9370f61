import { errorMessage } from '../../src/util/errorMessage.js';
import { momentScenarios } from './momentScenarios.js';
import { modelScenarios } from './modelScenarios.js';
import { stage } from './stage.js';
import { toolScenarios } from './toolScenarios.js';
import type {
  Harness,
  ModelScenarioName,
  MomentScenarioName,
  Scenario,
  ScenarioName,
  Seen,
} from './types.js';

export type {
  Difference,
  Harness,
  ModelAnswer,
  ModelAnswerCall,
  ModelScenarioName,
  MomentScenarioName,
  ScenarioName,
  ScenarioTool,
  Seen,
  SentRequest,
  Turn,
  TurnResult,
} from './types.js';

const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  ...toolScenarios,
  ...modelScenarios,
  ...momentScenarios,
};

/** The names of all scenarios, in the order of the table. */
export const scenarioNames = Object.keys(scenarios) as readonly ScenarioName[];

/** Those of model calls: a host that lets nobody see them does otherwise in all of these. */
export const modelScenarioNames = Object.keys(modelScenarios) as readonly ModelScenarioName[];

/** Those of what happens between calls: hosts have some of these moments. */
export const momentScenarioNames = Object.keys(momentScenarios) as readonly MomentScenarioName[];

/** What came of one scenario. */
export interface ScenarioResult {
  readonly scenario: ScenarioName;
  /** What an adapter does that covers it. */
  readonly title: string;
  /**
   * `covered`: as it should be. `differs`: otherwise, in the way in which the harness has declared it. `failed`: otherwise,
   * or covered although a difference was declared.
   */
  readonly outcome: 'covered' | 'differs' | 'failed';
  /** Where it is not covered: what was seen. */
  readonly why?: string;
  /** Where a difference was declared: what happens instead. */
  readonly instead?: string;
}

/** What `runConformance` takes. */
export interface ConformanceOptions {
  /** Only these scenarios. */
  readonly only?: readonly ScenarioName[];
}

/**
 * Runs an adapter through all scenarios, one after the other. Hooks are real processes; a turn that takes longer than
 * 30 s counts as one that hangs.
 *
 * @throws TypeError for a scenario that does not exist
 */
export async function runConformance(
  harness: Harness,
  { only = scenarioNames }: ConformanceOptions = {},
): Promise<ScenarioResult[]> {
  for (const name of [...only, ...Object.keys(harness.differences ?? {})]) {
    if (!Object.hasOwn(scenarios, name)) {
      const known = scenarioNames.join(', ');
      throw new TypeError(`There is no scenario "${name}"; there are: ${known}`);
    }
  }
  const results: ScenarioResult[] = [];
  for (const name of only) results.push(await runScenario(harness, name));
  return results;
}

async function runScenario(harness: Harness, name: ScenarioName): Promise<ScenarioResult> {
  const scenario = scenarios[name];
  const { title } = scenario;
  const seen = await stage(harness, scenario);
  const why = complaint(scenario, seen);
  const declared = harness.differences?.[name];
  if (!declared) {
    return why === undefined
      ? { scenario: name, title, outcome: 'covered' }
      : { scenario: name, title, outcome: 'failed', why };
  }
  const { instead } = declared;
  const failed = { scenario: name, title, outcome: 'failed', instead } as const;
  if (why === undefined) return { ...failed, why: `It is covered: declare no difference` };
  if (declared.isSeen(seen)) return { ...failed, outcome: 'differs', why };
  return { ...failed, why: `${why}, and not what was declared: ${instead}` };
}

function complaint(scenario: Scenario, seen: Seen): string | undefined {
  const why = scenario.check(seen);
  if (why === undefined || seen.error === undefined) return why;
  return `${why}; the turn failed: ${errorMessage(seen.error)}`;
}

/** The results of one host, a column of the table. */
export interface HostResults {
  readonly host: string;
  readonly results: readonly ScenarioResult[];
}

/** A table in Markdown: what happens, by scenario and host. `✓` is what every adapter should do. */
export function toTable(columns: readonly HostResults[]): string {
  const rows = scenarioNames.map((name) => [
    scenarios[name].title,
    ...columns.map(({ results }) => toCell(results.find(({ scenario }) => scenario === name))),
  ]);
  const lines = [['', ...columns.map(({ host }) => host)], ...rows].map((cells) =>
    cells.map((cell) => cell.replaceAll(/\s+/g, ' ').replaceAll(/[\\|]/g, String.raw`\$&`)),
  );
  const [head = [], ...body] = lines;
  const widths = head.map((_, at) => Math.max(3, ...lines.map((cells) => cells[at]?.length ?? 0)));
  const rule = widths.map((width) => '-'.repeat(width));
  return [head, rule, ...body].map((cells) => toRow(cells, widths)).join('\n');
}

function toCell(result: ScenarioResult | undefined): string {
  if (!result) return '–';
  if (result.outcome === 'covered') return '✓';
  return result.outcome === 'differs' ? (result.instead ?? '') : `✗ ${result.why}`;
}

function toRow(cells: readonly string[], widths: readonly number[]): string {
  return `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
}
