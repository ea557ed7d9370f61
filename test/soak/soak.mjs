// node test/soak/soak.mjs [--short]: puts load on the built package (dist), prints a table of what was measured and
// what is allowed, and exits with 1 when a figure is out of bounds. Needs Linux.
import { parseArgs } from 'node:util';
import { endHosts } from './endings.mjs';
import { broken, formatTable } from './figures.mjs';
import { collectFigures } from './launchHost.mjs';

const FULL = {
  events: 1_000,
  agents: 64,
  calls: 100,
  many: 100_000,
  stayed: 100_000,
  late: 100_000,
  policies: 1_000,
  fleet: { agents: 10_000, seconds: 600, withinMs: 250, thinkMs: 30_000 },
};
const SHORT = {
  events: 80,
  agents: 8,
  calls: 20,
  many: 1_000,
  stayed: 1_000,
  late: 2_000,
  policies: 50,
  fleet: { agents: 2000, seconds: 5, withinMs: 1000, thinkMs: 5000 },
};

const { values } = parseArgs({ options: { short: { type: 'boolean', default: false } } });
const { events, agents, calls, many, stayed, late, policies, fleet } = values.short ? SHORT : FULL;

const parts = {
  [`${events} events`]: () => collectFigures('eventsHost.mjs', events),
  [`${agents} agents with ${calls} calls each`]: () =>
    collectFigures('agentsHost.mjs', agents, calls),
  [`${many} events each through the spawner and a kept hook`]: () =>
    collectFigures('manyEventsHost.mjs', many),
  [`${stayed} events of agents`]: () => collectFigures('residentHost.mjs', stayed),
  [`${late} async hooks`]: () => collectFigures('asyncHost.mjs', late),
  [`${policies} policies of a server`]: () => collectFigures('policyHost.mjs', policies),
  [`${fleet.agents} agents of a fleet for ${fleet.seconds} s`]: () =>
    collectFigures('fleetHost.mjs', ...Object.values(fleet)),
  'Ends of the host': endHosts,
};

const startedAt = performance.now();
const figures = [];
for (const [name, run] of Object.entries(parts)) {
  console.error(`${name} …`);
  figures.push(...(await run().catch((error) => [broken(name, error)])));
}
const seconds = Math.round((performance.now() - startedAt) / 1000);
const failed = figures.filter(({ ok }) => !ok).length;

console.log(`\n${formatTable(figures)}\n`);
console.log(
  `${figures.length - failed} of ${figures.length} figures hold, measured in ${seconds} s`,
);
if (failed > 0) process.exitCode = 1;
