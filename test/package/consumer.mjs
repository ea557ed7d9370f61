// Installs the packed package into an empty project, once for each version of the SDK given, and uses it there
// as a host would: the types must check and the stacks must run. Usage: node consumer.mjs VERSION…
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const typescript = path.join(root, 'node_modules/typescript/bin/tsc');
const versions = process.argv.slice(2);
const directory = mkdtempSync(path.join(tmpdir(), 'consumer-'));

const run = (cwd, file, ...args) => execFileSync(file, args, { cwd, stdio: 'inherit' });

const HOST = `
import { GoogleGenAI } from '@google/genai';
import { Config, executeToolWithHooks, GeminiChat, referenceTools, startRecordedModel, type ToolResult } from 'hookstack';
import { createExecutionPlan } from 'hookstack/middleware/planner';

const deny = { type: 'command', command: 'echo "not today" >&2; exit 2' } as const;
const config = new Config({ enableHooks: true, hooks: { BeforeTool: [{ hooks: [deny] }] } });
const result: ToolResult = await executeToolWithHooks(config, 'write_file', { file_path: 'x' }, async () => {
  throw new Error('the tool ran although a hook denied it');
});
if (result.llmContent !== 'not today') throw new Error('unexpected result: ' + JSON.stringify(result));

const shell = referenceTools.find(({ name }) => name === 'run_shell_command')!;
const printed = await shell.execute({ command: 'echo from the shell' }, { workingDir: process.cwd() });
if (!String(printed.llmContent).includes('from the shell')) throw new Error('unexpected output: ' + JSON.stringify(printed));

const keepAlive = setInterval(() => undefined, 1000);
const model = await startRecordedModel(process.argv[2]!);
const sdk = new GoogleGenAI({ apiKey: model.apiKey, httpOptions: { baseUrl: model.baseUrl } });
const chat = new GeminiChat({ config, models: sdk.models, model: 'recorded' });
let answer: string | undefined;
for await (const event of chat.sendMessageStream('Hello')) {
  if (event.type === 'response') answer = event.turn.response.text;
}
await model.close();
clearInterval(keepAlive);
if (answer !== 'Hello yourself') throw new Error('unexpected answer: ' + answer);
if (typeof createExecutionPlan !== 'function') throw new Error('hookstack/middleware/* is not exported');
`;
const CALL = {
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
const TSCONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom'],
    module: 'nodenext',
    strict: true,
    outDir: 'out',
    types: ['node'],
    // Whether the SDK's own declarations are in order is not for this package to say.
    skipLibCheck: true,
  },
  files: ['host.ts'],
};

try {
  run(root, 'npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', directory);
  const tarball = path.join(
    directory,
    readdirSync(directory).find((file) => file.endsWith('.tgz')),
  );
  for (const version of versions) {
    const project = mkdtempSync(path.join(directory, 'project-'));
    writeFileSync(
      path.join(project, 'package.json'),
      JSON.stringify({ type: 'module', private: true }),
    );
    writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    writeFileSync(path.join(project, 'host.ts'), HOST);
    writeFileSync(path.join(project, 'hello.responses'), JSON.stringify(CALL));
    run(
      project,
      'npm',
      'install',
      '--silent',
      tarball,
      `@google/genai@${version}`,
      '@types/node@20',
    );
    run(project, process.execPath, typescript, '-p', '.');
    run(project, process.execPath, 'out/host.js', 'hello.responses');
    console.log(`consumer with @google/genai ${version}: types check, stacks run`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
