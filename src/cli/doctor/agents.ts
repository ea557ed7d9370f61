import { spawnSync } from 'node:child_process';
import { dialects } from '../../dialects/dialects.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { findHome } from '../../util/homeDirectory.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { isRecord } from '../../util/records.js';
import { askResident, clientFile, NO_RESIDENT } from '../resident/resident.js';
import { foreignSettingsIn } from '../shared/foreignSettings.js';
import { isOwnHook, missingProgram } from '../shared/ownHook.js';
import { hostEnvironment } from '../../util/requester.js';

/** How long an agent waits for an event that no hook is interested in, in ms. */
export interface AgentTimes {
  readonly agent: DialectName;
  /** Answered by the process that stays; `null` where none is used. */
  readonly residentMs: number | null;
  readonly ownMs: number;
  /** The program that the agent would start, and does not find; else `null`. */
  readonly missing: string | null;
}

/** Measures it for each agent that runs all hooks of the project. */
export async function timeAgents(project: string): Promise<AgentTimes[]> {
  if (process.platform === 'win32') return [];
  const found: AgentTimes[] = [];
  for (const agent of DIALECT_NAMES) {
    const commands = await findInstalled(agent, project);
    const missing = commands.map(missingProgram).find((name) => name !== undefined) ?? null;
    if (commands.length > 0) found.push({ ...timeEvents(agent, project), missing });
  }
  return found;
}

export function formatTimes({ agent, residentMs, ownMs, missing }: AgentTimes): string {
  const own = `${ownMs} ms by one of its own`;
  const name = dialects[agent].agent;
  if (missing !== null) {
    return `${name} runs no hooks, or is blocked with --strict, as ${missing} is not on the search path: npm install --global hookstack, or install it in the project, and run hookstack install again`;
  }
  return residentMs === null
    ? `${name}: an event takes ${own}, as no process that stays is used: a variable of hookstack, another system or a missing Perl keeps it away`
    : `${name}: an event takes ${residentMs} ms by the process that stays, ${own}`;
}

async function findInstalled(agent: DialectName, project: string): Promise<string[]> {
  const home = findHome();
  const files = [
    ...foreignSettingsIn(project, agent, 'project'),
    ...foreignSettingsIn(project, agent, 'local'),
    ...(home === undefined ? [] : foreignSettingsIn(home, agent, 'user')),
  ];
  const found: string[] = [];
  for (const file of files) {
    const reading = await readJsonFile(file, { groupMayWrite: true });
    if (reading.status === 'read') found.push(...ownCommandsOf(reading.value['hooks']));
  }
  return found;
}

function ownCommandsOf(hooks: unknown): string[] {
  const groups = isRecord(hooks) ? Object.values(hooks).flat() : [];
  return groups.flatMap((group) => {
    const inside: unknown = isRecord(group) ? group['hooks'] : undefined;
    const own = Array.isArray(inside)
      ? inside.filter((each) => isRecord(each) && isOwnHook(each))
      : [];
    return own.map((hook: { command: string }) => hook.command);
  });
}

/** One of them has had time to start by then. */
const TRIES = 20;
const ROUNDS = 5;

function timeEvents(agent: DialectName, project: string): Omit<AgentTimes, 'missing'> {
  const ask = (env: NodeJS.ProcessEnv = {}) => {
    const startedAt = performance.now();
    spawnSync('/bin/sh', [clientFile(), agent], {
      cwd: project,
      env: { ...hostEnvironment(), ...env },
      input: JSON.stringify({ hook_event_name: 'none', cwd: project }),
    });
    return Math.round(performance.now() - startedAt);
  };
  let before = countAnswers();
  for (let tries = 0; tries < TRIES && before === undefined; tries += 1) {
    ask();
    before = countAnswers();
  }
  const times = Array.from({ length: ROUNDS }, () => ask());
  const isUsed = before !== undefined && (countAnswers() ?? 0) >= before + ROUNDS;
  const own = Array.from({ length: ROUNDS }, () => ask(NO_RESIDENT));
  return { agent, residentMs: isUsed ? middleOf(times) : null, ownMs: middleOf(own) };
}

function countAnswers(): number | undefined {
  return askResident('status')?.events;
}

function middleOf(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}
