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
 * @property {import('./rounds.mjs').Quartiles} [floor] what nobody can be faster than
 * @property {import('./rounds.mjs').Quartiles} [aboveFloor] the ratio to that
 * @property {number} rounds
 *
 * What to measure for a line: the same scenario in the hosts of the package, of the peer and of the floor, unless
 * `ours`, `against` or `floor` say otherwise.
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
const TEN_PARALLEL = { scenario: 'tenParallel', minimumMs: 0, pauseMs: 150 };
const TEN_SEQUENTIAL = { scenario: 'tenSequential', minimumMs: 0, pauseMs: 150 };
const BLOCKED = {
  ...ONE_COMMAND,
  request: 'measureBlocked',
  floor: { host: 'warm', scenario: 'noneConfigured' },
  goalAmount: 0.5,
};

/** @type {readonly AtSize[]} */
export const BY_MEMORY = [
  {
    size: { residentMiB: 80 },
    drawn: { title: '1 command hook, host at 80 MiB', ...ONE_COMMAND },
    // It is larger than that when it is empty.
    without: ['peer'],
  },
  {
    size: { residentMiB: 175 },
    drawn: { title: '1 command hook, host at 175 MiB', goal: 0.5, ...ONE_COMMAND },
    contests: [
      { title: '10 command hooks in parallel, host at 175 MiB', goal: 0.55, ...TEN_PARALLEL },
      { title: '10 command hooks in sequence, host at 175 MiB', goal: 0.65, ...TEN_SEQUENTIAL },
      {
        title: '1 hook that is a line of shell, host at 175 MiB',
        goal: 0.5,
        ...ONE_COMMAND,
        scenario: 'oneShellSnippet',
      },
      {
        title: '1 hook that is a line of shell with pipes and jq, host at 175 MiB',
        goal: 0.5,
        ...ONE_COMMAND,
        scenario: 'oneLineWithPipes',
      },
    ],
  },
  {
    size: { residentMiB: 390 },
    drawn: { title: '1 command hook, host at 390 MiB', goal: 0.25, ...ONE_COMMAND },
    contests: [
      { title: '10 command hooks in parallel, host at 390 MiB', goal: 0.3, ...TEN_PARALLEL },
      { title: '10 command hooks in sequence, host at 390 MiB', goal: 0.3, ...TEN_SEQUENTIAL },
      { title: 'event loop blocked by 1 command hook, host at 390 MiB', ...BLOCKED },
    ],
  },
  {
    size: { residentMiB: 1100 },
    drawn: { title: '1 command hook, host at 1,100 MiB', ...ONE_COMMAND },
    contests: [{ title: 'event loop blocked by 1 command hook, host at 1,100 MiB', ...BLOCKED }],
  },
];

const COLD = { ...ONE_COMMAND, ours: { host: 'cold', scenario: 'oneCommand' }, goal: 1 };
const ON_ITS_OWN = '1 command hook, nothing started ahead, and no helper process';

/**
 * A start by the host itself takes as long as its memory takes to copy, so that is the same on both sides: what is
 * copied of a host of 175, 390 and 1,100 MiB.
 *
 * @type {readonly AtSize[]}
 */
export const STARTS = [
  {
    size: { copiedMiB: 115 },
    drawn: { title: `${ON_ITS_OWN}, 115 MiB to copy`, ...COLD },
    without: ['warm'],
  },
  {
    size: { copiedMiB: 330 },
    drawn: { title: `${ON_ITS_OWN}, 330 MiB to copy`, ...COLD },
    without: ['warm'],
  },
  {
    size: { copiedMiB: 1040 },
    drawn: { title: `${ON_ITS_OWN}, 1,040 MiB to copy`, ...COLD },
    without: ['warm'],
  },
];

/** Between two turns the user reads, and what they need is made ready. */
const TURN = { scenario: 'turnOfShell', minimumMs: 0, pauseMs: 150, share: 1 / 2 };
const TURN_WITH_PAUSES = { ...TURN, scenario: 'turnOfShellWithPauses' };
/** Five Node processes that are started ahead need so many ms on two cores, with room to spare. */
const TURN_OF_NODE = { scenario: 'turnOfNode', minimumMs: 0, pauseMs: 600, share: 1 / 5 };

/** @type {readonly AtSize[]} */
export const TURNS = [
  {
    size: { residentMiB: 136 },
    drawn: { title: 'turn of 5 bash scripts, host at 136 MiB', goal: 0.5, ...TURN },
    without: ['cold'],
    contests: [
      { title: 'the same, model and tool take 50 ms', goal: 0.5, ...TURN_WITH_PAUSES },
      { title: 'turn of 5 Node scripts, host at 136 MiB', goal: 0.95, ...TURN_OF_NODE },
      {
        title: 'the same with `prestart`',
        goal: 0.15,
        ...TURN_OF_NODE,
        scenario: 'turnOfNodePrestarted',
        against: { host: 'peer', scenario: 'turnOfNode' },
      },
      {
        title: 'the same with `persistent`',
        goal: 0.03,
        ...TURN_OF_NODE,
        scenario: 'turnOfNodePersistent',
        against: { host: 'peer', scenario: 'turnOfNode' },
      },
    ],
  },
  {
    size: { residentMiB: 390 },
    drawn: { title: 'turn of 5 bash scripts, host at 390 MiB', goal: 0.28, ...TURN },
    without: ['cold'],
    contests: [
      { title: 'the same, model and tool take 50 ms, at 390 MiB', goal: 0.28, ...TURN_WITH_PAUSES },
      { title: 'turn of 5 Node scripts, host at 390 MiB', goal: 0.95, ...TURN_OF_NODE },
    ],
  },
  {
    size: { residentMiB: 1100 },
    drawn: { title: 'turn of 5 bash scripts, host at 1,100 MiB', goal: 0.15, ...TURN },
    without: ['cold'],
    contests: [
      {
        title: 'the same, model and tool take 50 ms, at 1,100 MiB',
        goal: 0.15,
        ...TURN_WITH_PAUSES,
      },
    ],
  },
];

/**
 * Most of an agent's memory may be objects, which a start does not copy.
 *
 * @type {readonly AtSize[]}
 */
export const TURNS_OF_OBJECTS = [
  {
    size: { residentMiB: 390, isHeap: true },
    drawn: { title: 'turn of 5 bash scripts, host at 390 MiB, most of it objects', ...TURN },
    without: ['cold'],
  },
];

/** Events in a row, as those of a turn are, to a start of the same script. */
function persistent(scenario) {
  const against = { host: 'peer', scenario, minimumMs: 0 };
  return { scenario, against, minimumMs: 20, pauseMs: 50, share: 1 / 2 };
}

/** @type {readonly Contest[]} */
export const PERSISTENT = [
  {
    title: '1 persistent Node hook, to a start of the same script',
    goal: 0.01,
    goalAmount: 0.5,
    ...persistent('persistentNode'),
  },
  {
    title: '1 persistent Python hook, to a start of the same script',
    goal: 0.01,
    goalAmount: 0.5,
    ...persistent('persistentPython'),
  },
  {
    title: '1 persistent Node hook after a pause of 50 ms',
    ...persistent('persistentNode'),
    minimumMs: 0,
  },
  {
    title: 'one of 1,000 events at once on a persistent Node hook with 4 processes',
    // 5,000 a second.
    goalAmount: 0.2,
    ...persistent('manyAtOnce'),
    against: { host: 'peer', scenario: 'persistentNode' },
    minimumMs: 0,
    share: 1 / 5,
  },
];

/** To the engine of Cedar, which is to be as slow at least. */
function rule(scenario) {
  return { scenario, against: { host: 'cedar', scenario }, goal: 1, ...MANY };
}

/** @type {readonly Contest[]} */
export const RULES = [
  { title: '10 rules for commands, a file is read', ...rule('rulesOfOthers') },
  { title: '10 rules for commands, none matches', ...rule('rulesOfCommands') },
  { title: '10 rules for paths, none matches', ...rule('rulesOfPaths') },
  { title: 'one of 10 rules denies a command', ...rule('ruleDenies'), goalAmount: 0.03 },
  { title: '1,000 rules, none matches a command', ...rule('thousandRules'), goalAmount: 0.5 },
];

/** An expression may take for ever, and most of its time is the limit. @type {Contest} */
export const EXPRESSIONS = {
  ...rule('rulesOfExpressions'),
  title: '10 rules with an expression, none holds',
  goal: undefined,
};

/**
 * What they add to an event for which nothing is configured. Links may change at any time, so that the system has to be
 * asked where a path leads.
 *
 * @type {readonly Contest[]}
 */
export const ADDED_BY_RULES = [
  ...RULES.slice(0, 3).map(({ title, scenario }) => added(title, { scenario })),
  added(RULES[2].title, { scenario: 'rulesOfPaths', over: 'askedForPath' }, ' and one `realpath`'),
];

function added(title, compared, more = '') {
  return {
    title: `${title}: what they add to an event${more}`,
    goalAmount: 0.002,
    ...compared,
    ...MANY,
  };
}

/** One question after the other to a policy server, in hosts of `fleet/asker.mjs`. */
function question(scenario, bare) {
  const against = { host: 'asker', scenario: bare };
  const ours = { host: 'asker', scenario };
  return { scenario, ours, against, minimumMs: 100, pauseMs: 0, share: 1 / 5 };
}

/** @type {readonly Contest[]} */
export const QUESTIONS = [
  {
    title: 'question over HTTP that no hook matches, to a bare server of Node',
    goal: 1.5,
    ...question('http', 'bareHttp'),
  },
  {
    title: 'the same through a remote hook, from the event to what the hook said',
    ...question('httpHook', 'bareHttp'),
  },
  {
    title: 'question over NATS that no hook matches, to a bare request/reply',
    goal: 1.3,
    ...question('nats', 'bareNats'),
  },
  {
    title: 'the same through a remote hook, from the event to what the hook said',
    ...question('natsHook', 'bareNats'),
  },
];

/** @type {Contest} */
export const RECORDED_QUESTION = {
  title: 'a remote hook over NATS after a pause, with the record, to one without',
  ...question('natsHook', 'natsHook'),
  ours: { host: 'recorded', scenario: 'natsHook TWO' },
  against: { host: 'unrecorded', scenario: 'natsHook TWO' },
  // What is sent to the record is sent after the answer.
  minimumMs: 0,
  pauseMs: 10,
  share: 1,
};

/** What a process has to copy for each start counts, also where a build takes more than the other. */
const WITH_BUFFERS = { size: { ballastMiB: 128 }, minimumMs: 0, pauseMs: 150 };
const OF_NODE = { ...WITH_BUFFERS, pauseMs: TURN_OF_NODE.pauseMs };

/**
 * What to compare two builds of the package in.
 *
 * @typedef {Contest & { size?: object, isCold?: boolean }} Pair
 *
 * @type {readonly Pair[]}
 */
export const PAIRS = [
  { title: 'turn of 5 lines of bash', scenario: 'turnOfLines', ...WITH_BUFFERS },
  { title: 'turn of 5 bash scripts', scenario: 'turnOfShell', ...WITH_BUFFERS },
  {
    title: 'turn of 5 bash scripts, model and tool take 50 ms',
    scenario: 'turnOfShellWithPauses',
    ...WITH_BUFFERS,
  },
  { title: 'turn of 5 sh scripts', scenario: 'turnOfSh', ...WITH_BUFFERS },
  {
    title: 'turn of 5 Node scripts with `prestart`',
    scenario: 'turnOfNodePrestarted',
    ...OF_NODE,
  },
  {
    title: 'turn of 5 bash scripts, no spawner, nothing started ahead',
    scenario: 'turnOfShell',
    isCold: true,
    ...WITH_BUFFERS,
  },
  {
    title: 'turn of 5 `persistent` hooks',
    scenario: 'turnOfNodePersistent',
    ...WITH_BUFFERS,
  },
  { title: '1 event with 1 script', scenario: 'oneCommand', ...WITH_BUFFERS },
  { title: 'request of 10 MB to 5 hooks', scenario: 'modelHooks', ...WITH_BUFFERS },
  { title: 'tool call, hooks off', scenario: 'toolHooksOff', ...MANY },
  { title: 'tool call, none set', scenario: 'toolNoneConfigured', ...MANY },
  { title: 'tool call, none matches', scenario: 'toolNoneMatches', ...MANY },
  { title: 'tool call, 1 middleware', scenario: 'toolMiddleware', ...MANY },
  { title: 'message of a chat, none set', scenario: 'chat', ...MANY },
];
