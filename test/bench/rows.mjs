/**
 * A line of the result: what was measured on both sides of one scenario, and how it compares.
 *
 * @typedef {object} Row
 * @property {string} title
 * @property {number} [goal] the ratio that is aimed at; none for what is only good to know
 * @property {number} [goalAmount] the amount that is aimed at, in `unit`, where it is not a ratio
 * @property {'ms' | 'MB'} unit
 * @property {import('./rounds.mjs').Quartiles} ours
 * @property {import('./rounds.mjs').Quartiles} theirs
 * @property {import('./rounds.mjs').Quartiles} ratio
 * @property {number} rounds
 *
 * What to measure for a line: the same scenario on both sides, unless `against` says otherwise.
 *
 * @typedef {object} Contest
 * @property {string} title
 * @property {number} [goal]
 * @property {string} scenario see `scenarios.mjs`
 * @property {{ host: 'cold', scenario: string }} [against] the package itself instead of the peer
 * @property {number} minimumMs events are fired for this long and averaged; 0 fires one
 * @property {number} pauseMs between two events an agent thinks, on either side; shells are made ready meanwhile
 */

/** Ms for which events of a few microseconds are fired. */
const MANY = { minimumMs: 20, pauseMs: 0 };
const LARGE = { minimumMs: 0, pauseMs: 150 };

/** @type {readonly Contest[]} */
export const IN_PROCESS = [
  { title: 'event fired, none configured', goal: 0.1, scenario: 'noneConfigured', ...MANY },
  {
    title: 'the same, through what an agent calls before a tool',
    goal: 0.1,
    scenario: 'noneConfiguredTrigger',
    ...MANY,
  },
  { title: '10 configured, none matches', goal: 0.1, scenario: 'noneMatches', ...MANY },
  { title: '1 middleware, to 1 runtime hook', goal: 0.25, scenario: 'inProcess1', ...MANY },
  { title: '10 middleware, to 10 runtime hooks', goal: 0.25, scenario: 'inProcess10', ...MANY },
  { title: '10 MB request, no model hook', goal: 0.01, scenario: 'noModelHook', ...MANY },
  {
    title: '10 MB request, 5 model hooks in parallel',
    goal: 0.2,
    scenario: 'modelHooks',
    ...LARGE,
  },
];

/** @type {Contest} */
export const PRESTART = {
  title: 'Node-script hook with `prestart`, to its own cold time',
  goal: 0.1,
  scenario: 'nodeScriptPrestarted',
  against: { host: 'cold', scenario: 'nodeScript' },
  minimumMs: 0,
  pauseMs: 400,
};

const ONE_COMMAND = { scenario: 'oneCommand', minimumMs: 0, pauseMs: 50 };

/**
 * What is measured at which size of the host. `without` names hosts that are larger than that when they are empty.
 *
 * @type {readonly { residentMiB: number, oneCommand: Contest, without?: readonly string[], contests?: readonly Contest[] }[]}
 */
export const BY_MEMORY = [
  {
    residentMiB: 80,
    oneCommand: { title: '1 command hook, host at 80 MiB', ...ONE_COMMAND },
    without: ['peer'],
  },
  {
    residentMiB: 175,
    oneCommand: { title: '1 command hook, host at 175 MiB', goal: 0.5, ...ONE_COMMAND },
    contests: [
      {
        title: '10 command hooks in parallel, host at 175 MiB',
        goal: 0.55,
        scenario: 'tenParallel',
        minimumMs: 0,
        pauseMs: 150,
      },
      {
        title: '10 command hooks in sequence, host at 175 MiB',
        goal: 0.65,
        scenario: 'tenSequential',
        minimumMs: 0,
        pauseMs: 150,
      },
      {
        title: '1 hook that is a line of shell, host at 175 MiB',
        ...ONE_COMMAND,
        scenario: 'oneShellSnippet',
      },
    ],
  },
  {
    residentMiB: 390,
    oneCommand: { title: '1 command hook, host at 390 MiB', goal: 0.25, ...ONE_COMMAND },
  },
  {
    residentMiB: 1100,
    oneCommand: { title: '1 command hook, host at 1,100 MiB', ...ONE_COMMAND },
  },
];
