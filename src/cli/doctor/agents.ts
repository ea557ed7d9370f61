import { spawnSync } from 'node:child_process';
import { dialects } from '../../dialects/dialects.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { findHome } from '../../util/surroundings.js';
import { readJsonFile } from '../../util/jsonFile.js';
import { isRecord } from '../../util/records.js';
import { askResident, clientFile, NO_RESIDENT } from '../resident/resident.js';
import { foreignSettingsIn } from '../shared/foreignSettings.js';
import { isOwnHook } from '../shared/ownHook.js';

/** How long an agent waits for an event that no hook is interested in, in ms. */
export interface AgentTimes {
  readonly agent: DialectName;
  /** Answered by the process that stays; `null` where none is used. */
  readonly residentMs: number | null;
  readonly ownMs: number;
}

/** Measures it for each agent that runs all hooks of the project. */
export async function timeAgents(project: string): Promise<AgentTimes[]> {
  if (process.platform === 'win32') return [];
  const found: AgentTimes[] = [];
  for (const agent of DIALECT_NAMES) {
    if (await isInstalled(agent, project)) found.push(timeEvents(agent, project));
  }
  return found;
}

export function formatTimes({ agent, residentMs, ownMs }: AgentTimes): string {
  const own = `${ownMs} ms by one of its own`;
  const name = dialects[agent].agent;
  return residentMs === null
    ? `${name}: an event takes ${own}, as no process that stays is used: hookstack resident`
    : `${name}: an event takes ${residentMs} ms by the process that stays, ${own}`;
}

async function isInstalled(agent: DialectName, project: string): Promise<boolean> {
  const home = findHome();
  const files = [
    ...foreignSettingsIn(project, agent, 'project'),
    ...foreignSettingsIn(project, agent, 'local'),
    ...(home === undefined ? [] : foreignSettingsIn(home, agent, 'user')),
  ];
  for (const file of files) {
    const reading = await readJsonFile(file, { groupMayWrite: true });
    if (reading.status === 'read' && holdsOwn(reading.value['hooks'])) return true;
  }
  return false;
}

function holdsOwn(hooks: unknown): boolean {
  const groups = isRecord(hooks) ? Object.values(hooks).flat() : [];
  return groups.some((group) => {
    const inside: unknown = isRecord(group) ? group['hooks'] : undefined;
    return Array.isArray(inside) && inside.some((hook) => isRecord(hook) && isOwnHook(hook));
  });
}

/** One of them has had time to start by then. */
const TRIES = 20;
const ROUNDS = 5;

function timeEvents(agent: DialectName, project: string): AgentTimes {
  const ask = (env: NodeJS.ProcessEnv = {}) => {
    const startedAt = performance.now();
    spawnSync('/bin/sh', [clientFile(), agent], {
      cwd: project,
      env: { ...process.env, ...env },
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
