// What test/package/consumer.mjs builds and runs.

/** What docs/middleware.md says can be imported, and what must be there of each. */
const MIDDLEWARE = {
  enablementGate: ['enablementGate'],
  planner: ['planner', 'createExecutionPlan', 'HookPlanner'],
  translator: ['translator', 'toHookInput'],
  runner: ['runner', 'HookRunner'],
  aggregator: ['aggregator', 'aggregateResults', 'HookAggregator'],
  callerEffects: ['toolStages', 'modelStages'],
};
const STAGES = Object.keys(MIDDLEWARE);

/** A host that calls Gemini. */
export const SDK_HOST = `
import { GoogleGenAI } from '@google/genai';
import type { GenerateContentParameters, PartListUnion } from '@google/genai';
import { Config, executeToolWithHooks, GeminiChat, referenceTools, readRecordedModel, type ModelCall, type ToolResult } from 'hookstack';
import { createExecutionPlan } from 'hookstack/middleware/planner';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const sameContent: Same<ToolResult['llmContent'], PartListUnion> = true;
const sameRequest: Same<ModelCall['request'], GenerateContentParameters> = true;
if (!sameContent || !sameRequest) throw new Error('the types are not those of the SDK');

const deny = { type: 'command', command: 'echo "not today" >&2; exit 2' } as const;
const config = new Config({ enableHooks: true, hooks: { BeforeTool: [{ hooks: [deny] }] } });
const result: ToolResult = await executeToolWithHooks(config, 'write_file', { file_path: 'x' }, async () => {
  throw new Error('the tool ran although a hook denied it');
});
if (result.llmContent !== 'not today') throw new Error('unexpected result: ' + JSON.stringify(result));

const shell = referenceTools.find(({ name }) => name === 'run_shell_command')!;
const printed = await shell.execute({ command: 'echo from the shell' }, { workingDir: process.cwd() });
if (!String(printed.llmContent).includes('from the shell')) throw new Error('unexpected output: ' + JSON.stringify(printed));

const withSdk = new GeminiChat({ config, models: new GoogleGenAI({ apiKey: 'none' }).models, model: 'none' });
if (withSdk.getHistory().length > 0) throw new Error('a new chat has a history');
const { models } = await readRecordedModel(process.argv[2]!);
const chat = new GeminiChat({ config, models, model: 'recorded' });
let answer: string | undefined;
for await (const event of chat.sendMessageStream('Hello')) {
  if (event.type === 'response') answer = event.turn.response.text;
}
if (answer !== 'Hello yourself') throw new Error('unexpected answer: ' + answer);
if (typeof createExecutionPlan !== 'function') throw new Error('hookstack/middleware/* is not exported');
`;

/** A host that has no SDK and calls a model of its own. */
export const OWN_HOST = `
import { Config, executeToolWithHooks, GeminiChat, loadSettings, referenceTools, type ToolResult } from 'hookstack';
import { aiHooks } from 'hookstack/ai';
import { defineHook } from 'hookstack/author';
${STAGES.map((name) => `import * as ${name} from 'hookstack/middleware/${name}';`).join('\n')}

// @ts-expect-error The types do not allow everything where there is no SDK.
const wrong: ToolResult = { llmContent: 3, returnDisplay: '' };
const result: ToolResult = { llmContent: [{ text: 'x' }, 'y'], returnDisplay: '' };

const { settings, problems } = await loadSettings({ workingDir: process.cwd(), home: process.cwd() + '/home' });
const config = new Config({ enableHooks: true, hooks: settings.hooks });
const denied = await executeToolWithHooks(config, 'write_file', { file_path: 'x' }, async () => result);
if (denied.llmContent !== 'not today') throw new Error('unexpected result: ' + JSON.stringify({ denied, problems }));

const shell = referenceTools.find(({ name }) => name === 'run_shell_command')!;
const printed = await shell.execute({ command: 'echo from the shell' }, { workingDir: process.cwd() });
if (!String(printed.llmContent).includes('Stdout: from the shell')) throw new Error('unexpected output: ' + JSON.stringify(printed));

const models = {
  async generateContentStream({ model }: { model: string }) {
    return (async function* () {
      yield { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello from ' + model }] } }] };
    })();
  },
};
const chat = new GeminiChat({ config, models, model: 'mine' });
let answer: string | undefined;
for await (const event of chat.sendMessageStream('Hello')) {
  if (event.type === 'response') answer = event.turn.response.text;
}
if (answer !== 'Hello from mine') throw new Error('unexpected answer: ' + answer);
const expected: Record<string, string[]> = ${JSON.stringify(MIDDLEWARE)};
for (const [stage, exported] of Object.entries<object>({ ${STAGES.join(', ')} })) {
  const missing = expected[stage]!.filter((name) => !(name in exported));
  if (missing.length > 0) throw new Error('hookstack/middleware/' + stage + ' does not export ' + missing.join(', '));
}
if (typeof defineHook !== 'function') throw new Error('hookstack/author is not exported');
if (typeof aiHooks(config).isStopped !== 'function') throw new Error('hookstack/ai is not exported');
`;

export const DENYING_SETTINGS = `{
  // With a comment and a comma at the end, as people write them.
  "enableHooks": true,
  "hooks": { "BeforeTool": [{ "hooks": [{ "type": "command", "command": "echo 'not today' >&2; exit 2" }] }] },
}`;

/** What the recorded model answers to `SDK_HOST`. */
export const RECORDED_CALL = {
  method: 'generateContentStream',
  response: [
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello ' }] } }] },
    {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'yourself' }] }, finishReason: 'STOP' },
      ],
    },
  ],
};
