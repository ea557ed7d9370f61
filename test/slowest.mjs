/** The seconds of the slowest test files, of an idle machine with two cores: these are started first, side by side, and held to it. */
export const SECONDS = {
  'cli/resident.test.ts': 85,
  // 10,000 payloads of all agents.
  'properties/hostilePayloads.test.ts': 40,
  'properties/hostileScopes.test.ts': 75,
  'cli/mcp.test.ts': 70,
  'properties/hostileAnswers.test.ts': 70,
  'cli/hookWatchdog.test.ts': 47,
  'properties/length.test.ts': 40,
  'examples/examples.test.ts': 34,
  'faults/spawner.test.ts': 31,
  'process/persistent.test.ts': 28,
  'faults/consentForms.test.ts': 37,
  'faults/process.test.ts': 27,
  'cli/oddFiles.test.ts': 26,
  'faults/fleetServers.test.ts': 25,
  'docs/snippets.test.ts': 24,
  'faults/fleetRecord.test.ts': 21,
  'faults/persistentProcess.test.ts': 21,
  'cli/approvals.test.ts': 19,
  'author/answerEvents.test.ts': 18,
  'faults/budgets.test.ts': 24,
  'examples/demo.test.ts': 16,
};

export const TABLE = import.meta.filename;
