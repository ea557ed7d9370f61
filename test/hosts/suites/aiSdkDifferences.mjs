/** Tests of the AI SDK that differ with hooks, by parts of their names, and why that cannot be otherwise. */
export const differences = [
  {
    why: 'what a tool yields on the way is held back where hooks may still change its result',
    modes: ['watched'],
    tests: [
      'single tool with preliminary results should include preliminary tool results in full stream',
      'single tool with preliminary results should include preliminary tool results in ui message stream',
      'a call from a single tool with preliminary results that needs approval is approved should include the tool result in the full stream',
      'a call from a single tool with preliminary results that needs approval is approved should include the tool result in the ui message stream',
    ],
  },
  {
    why: 'the caller aborts while a part of the stream is with hooks: it comes before the abort, or not at all',
    modes: ['watched'],
    tests: [
      'basic abort should only stream initial chunks in full stream',
      'basic abort should sent an abort chunk in the ui message stream',
      'abort in 2nd step should only stream initial chunks in full stream',
      'abort in 2nd step should sent an abort chunk in the ui message stream',
    ],
  },
  {
    why: 'the caller aborts before the model is asked: with hooks, it is not asked any more',
    modes: ['watched', 'silent'],
    tests: ['options.abortSignal should forward abort signal to tool execution'],
  },
  {
    why: 'calls of one answer wait each for hooks of their own: their tools may begin in another order',
    modes: ['silent'],
    /** They may hold as well. */
    isByChance: true,
    tests: ['(dice game fixture) tool execution should execute rollDie tool 4 times'],
  },
  {
    why: 'hooks that are processes take time, and the test lets none pass',
    modes: ['silent'],
    tests: ['generateText options.timeout should abort when step timeout expires'],
  },
];
