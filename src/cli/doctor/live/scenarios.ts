import { HookEventName } from '../../../protocol/types.js';
import { commandOf, says } from './guard.js';
import type { Case, Live } from './playing.js';

const { BeforeTool, AfterTool } = HookEventName;
const { ask, blocked, context, end, replaced, specific } = says;

/** What a verdict does, tried inside an agent's own program. */
export interface Scenario {
  readonly id: string;
  /** What hooks can do. */
  readonly title: string;
  /** What is seen then, in an agent that can do all of it. */
  readonly expected: string;
  readonly step?: Case;
  readonly play?: (live: Live) => Promise<string>;
}

/** What is seen of most blocks. */
export const DENIED = 'did not run; the model read the reason';
const REPLACED = 'ran; the model read the replacement';

/** In this order, in as few runs as can be. */
export const SCENARIOS: readonly Scenario[] = [
  {
    id: 'silent',
    title: 'silent hooks change nothing of what the model reads',
    expected: 'the same',
    play: (live) => live.playSilent(),
  },
  {
    id: 'block',
    title: 'blocks a tool: a command',
    expected: DENIED,
    step: { asked: blocked('block') },
  },
  {
    id: 'write',
    title: 'the same of a tool for files',
    expected: DENIED,
    step: {
      asked: blocked('write'),
      call: (mark, { program, project }) => program.write(`${project}/MARK-${mark}.ran`, mark),
    },
  },
  {
    id: 'read',
    title: 'the same of one that reads',
    expected: DENIED,
    step: {
      asked: blocked('read'),
      call: (mark, stage) =>
        stage.program.read(stage.write(stage.project, `MARK-${mark}.txt`, `SECRET-${mark}.`)),
    },
  },
  {
    id: 'mcp',
    title: 'the same of a server of MCP',
    expected: DENIED,
    step: {
      asked: blocked('mcp'),
      call: (mark, { program, project }) => program.mcp(`${project}/MARK-${mark}.ran`),
    },
  },
  {
    id: 'subagent',
    title: 'the same in a subagent',
    expected: DENIED,
    step: {
      asked: blocked('subagent'),
      call: (mark, { program, model }) =>
        program.subagent?.(model.play([[program.shell(commandOf(mark))], [{ text: 'Done.' }]])),
    },
  },
  {
    id: 'rewrite',
    title: 'changes the arguments of a tool',
    expected: 'ran as changed',
    step: {
      asked: {
        rewrite: {
          [BeforeTool]: specific({ tool_input: { command: 'touch MARK-rewrite.changed' } }),
        },
      },
    },
  },
  {
    id: 'replace',
    title: 'replaces the result of a tool',
    expected: REPLACED,
    step: { asked: replaced('replace') },
  },
  {
    id: 'redact',
    title: 'the same of a command that failed',
    expected: REPLACED,
    play: (live) =>
      live.playEnd(AfterTool, specific({ tool_response: 'REPLACED-end.' }), '; exit 3'),
  },
  {
    id: 'add',
    title: 'adds to the result of a tool',
    expected: 'ran; the model read the context, the output',
    step: { asked: { add: { [AfterTool]: specific(context('add')) } } },
  },
  {
    id: 'context',
    title: 'adds context at the start and to a prompt, once each',
    expected: 'start 1, prompt 1',
    play: (live) => live.playContext(),
  },
  {
    id: 'beside',
    title: 'tells calls side by side from each other',
    expected: `${DENIED} / ran; the model read the output / ${REPLACED}`,
    step: { asked: { ...blocked('beside1'), beside2: {}, ...replaced('beside3') } },
  },
  {
    id: 'fails',
    title:
      'a guard that fails blocks: exit code 1, signal, late, broken JSON, not found, no answer',
    expected: 'did not run',
    step: {
      asked: {
        exits: { [BeforeTool]: { exitCode: 1 } },
        dies: { [BeforeTool]: { signal: 'SIGKILL' } },
        late: { [BeforeTool]: { waitMs: 60_000 } },
        broken: { [BeforeTool]: { out: '{"decision":' } },
        missing: { [BeforeTool]: { exitCode: 127 } },
        nothing: { [BeforeTool]: { out: { decision: 'perhaps' } } },
      },
    },
  },
  {
    id: 'ask',
    title: 'asks a person: nobody is there',
    expected: DENIED,
    step: { asked: { ask: { [BeforeTool]: ask('ask') } } },
  },
  {
    id: 'answered',
    title: 'the same: yes, no',
    expected: 'ran; the model read the output / did not run',
    play: (live) => live.playAnswered(),
  },
  {
    id: 'stop',
    title: 'stops the agent before a tool',
    expected: 'did not run; the agent ended',
    play: (live) => live.playEnd(BeforeTool, end('end')),
  },
  {
    id: 'stopAfter',
    title: 'stops the agent after a tool',
    expected: 'ran; the agent ended',
    play: (live) => live.playEnd(AfterTool, end('end')),
  },
  {
    id: 'prompt',
    title: 'blocks a prompt',
    expected: 'did not run, as the model was not asked',
    play: (live) => live.playPrompt(),
  },
  {
    id: 'again',
    title: 'sends the agent back to work, once',
    expected: 'went on once; the model read the reason',
    play: (live) => live.playAgain(),
  },
  {
    id: 'modes',
    title: 'blocks in its other modes',
    expected: DENIED,
    play: (live) => live.playModes(),
  },
  {
    id: 'absent',
    title: 'hookstack cannot be started',
    expected: 'ran',
    play: (live) => live.playAbsent(),
  },
  {
    id: 'strict',
    title: 'the same, with `install --strict`',
    expected: 'did not run',
    play: (live) => live.playAbsent('--strict'),
  },
  {
    id: 'device',
    title: 'settings that are a device',
    expected: 'did not run',
    play: (live) => live.playDevice(),
  },
];
