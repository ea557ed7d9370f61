import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { Dialect } from '../../dialects/dialect.js';
import { dialects } from '../../dialects/dialects.js';
import { DIALECT_NAMES, type DialectName } from '../../protocol/types.js';
import { findHome } from '../../util/homeDirectory.js';
import { readGuardedFile, readJsonFile } from '../../util/guardedFile.js';
import { askResident, clientFile, NO_RESIDENT } from '../resident/resident.js';
import { commandIn } from '../install/programs.js';
import { filesOf, foreignSettingsIn } from '../shared/foreignSettings.js';
import { handlersIn } from '../shared/handlers.js';
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
  const { agent: name, settings } = dialects[agent];
  if (missing !== null) {
    const what = settings.form === 'plugin' ? 'no tools' : 'no hooks, or is blocked with --strict';
    return `${name} runs ${what}, as ${missing} is not on the search path: npm install --global hookstack, or install it in the project, and run hookstack install again`;
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
  return (await Promise.all(files.map((file) => commandsIn(file, dialects[agent])))).flat();
}

/** What an agent starts for us, by its settings, a module, or a folder of programs. */
async function commandsIn(place: string, { settings }: Dialect): Promise<string[]> {
  const { form } = settings;
  if (form !== 'programs' && form !== 'plugin') {
    const reading = await readJsonFile(place, { groupMayWrite: true });
    const handlers = reading.status === 'read' ? handlersIn(reading.value, settings) : [];
    return handlers.flatMap(({ hook }) => (isOwnHook(hook) ? String(hook['command']) : []));
  }
  const files = form === 'programs' ? filesOf(path.join(place, '*')) : [place];
  const commands = files.map(async (file) => {
    const reading = await readGuardedFile(file, { groupMayWrite: true });
    return reading.status === 'read' ? commandIn(reading.text) : undefined;
  });
  return (await Promise.all(commands)).filter((command) => command !== undefined);
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
