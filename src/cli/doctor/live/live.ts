import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dialects } from '../../../dialects/dialects.js';
import type { DialectName } from '../../../protocol/types.js';
import { paint, printJson, printLine, toOneLine } from '../../shared/terminal.js';
import { DIFFERENCES } from './differences.js';
import { Live } from './playing.js';
import { PROGRAMS } from './programs.js';
import { SCENARIOS } from './scenarios.js';
import { Stage } from './stage.js';

/**
 * Tries each verdict inside the agent's own program, in a home and a project that are made for it.
 *
 * @returns the exit code: 0 each did what the table of the agent says, 1 one did not
 * @throws UsageError where the program cannot be tried
 */
export async function doctorLive(agent: DialectName, json = false): Promise<number> {
  const cache = mkdtempSync(path.join(tmpdir(), 'hookstack-cache-'));
  try {
    const version = await versionOf(agent, cache);
    const name = `${dialects[agent].agent} ${version}`;
    if (!json) {
      printLine(`${name}, in a home and a project of its own, against a model on this machine:\n`);
    }
    const { seen, tools } = await playAll(agent, cache);
    const scenarios = SCENARIOS.map(({ id, title, expected: usual }) => {
      const difference = DIFFERENCES[agent]?.[id];
      const expected = difference ?? usual;
      const saw = seen.get(id) ?? 'nothing';
      const isDifference = difference !== undefined;
      return { id, title, expected, seen: saw, ok: saw === expected, isDifference };
    });
    const wrong = scenarios.filter(({ ok }) => !ok).length;
    if (json) printJson({ agent, version, scenarios, tools, healthy: wrong === 0 });
    else {
      for (const { title, expected, seen: saw, ok, isDifference } of scenarios) {
        const mark = ok
          ? paint(isDifference ? 'yellow' : 'green', isDifference ? 'differs' : 'ok')
          : paint('red', 'wrong');
        printLine(
          toOneLine(`${mark} ${title}: ${saw}${ok ? '' : `; expected: ${expected}`}`, 1000),
        );
      }
      printLine(`\nTools that reach hooks: ${tools.join(', ')}`);
      printLine(
        wrong === 0
          ? 'All did what the table of this agent says'
          : `${wrong} of ${scenarios.length} did something else`,
      );
    }
    return wrong === 0 ? 0 : 1;
  } finally {
    rmSync(cache, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Some unpack themselves then, for all that follows. */
async function versionOf(agent: DialectName, cache: string): Promise<string> {
  const stage = await Stage.open(agent, cache);
  try {
    return await stage.version();
  } finally {
    await stage.remove();
  }
}

/** How many of them are played at once. */
const LANES = 3;

/** Plays all of them. @returns what was seen, by scenario, and our names of the tools that hooks were asked about */
async function playAll(agent: DialectName, cache: string) {
  const seen = new Map<string, string>();
  const tools = new Set<string>();
  const alone = SCENARIOS.filter(({ play }) => play);
  const jobs = [
    (live: Live) => live.playSteps(SCENARIOS.filter(({ step }) => step)),
    ...alone.map(
      ({ id, play }) =>
        async (live: Live) =>
          live.saw(id, await play?.(live)),
    ),
  ];
  const work = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const stage = await Stage.open(agent, cache);
      const live = new Live(stage, agent, seen);
      try {
        await job(live);
        for (const tool of await live.tools()) tools.add(tool);
      } finally {
        await stage.remove();
      }
    }
  };
  await Promise.all(Array.from({ length: LANES }, work));
  if (!PROGRAMS[agent]?.person) seen.set('answered', `nobody can be asked: ${seen.get('ask')}`);
  return { seen, tools: [...tools].toSorted() };
}
