// What each guard is tried with inside the agents' own programs: some of the calls of test/guards, where whatever runs by
// mistake is a stand-in, or a file of the stage.
import path from 'node:path';
import { load } from './load.mjs';

/** A call of the shell stands as its command, another one as the name of its tool, and what its arguments begin with. */
const CHOSEN = {
  'protect-secrets': {
    stop: [
      'read_file .env',
      'read_file packages/web/.env.local',
      'write_file .env',
      'glob .env*',
      'cat .e*v',
      'X=.env; cat "$X"',
      `python3 -c 'print(open(".env").read())'`,
      'printenv',
    ],
    pass: ['read_file .env.example', 'read_file src/env.ts', 'cat .env.example', 'test -f .env'],
  },
  'protect-git': {
    stop: [
      'write_file .git/hooks/pre-commit',
      'write_file .husky/pre-commit',
      'git push --force',
      'g=git; $g push --force',
      "bash -c 'git push --force'",
      'git reset --hard',
    ],
    pass: ['read_file .git/HEAD', 'write_file docs/git.md', 'git push origin main', 'git status'],
  },
  'protect-delete': {
    stop: [
      'rm -rf src',
      'sudo rm -rf src',
      'echo src | xargs rm -rf',
      'docker volume rm data',
      'shred -u notes.txt',
    ],
    pass: ['rm -f notes.txt', 'rm -rf dist; npm run build', 'git clean -n'],
  },
  'stay-in-project': {
    stop: [
      'write_file ../other/notes.txt',
      'read_file ../other/notes.txt',
      'echo x > ../notes.txt',
      'echo x > ~/notes.txt',
      'cp README.md ..',
      'cat ../other/notes.txt',
      'ls ..',
    ],
    pass: ['write_file src/notes.txt', 'read_file inside-link', 'cat src/../README.md'],
  },
  'no-network': {
    stop: [
      'web_fetch https://example.com',
      'google_web_search hooks',
      'curl https://example.com',
      'URL=https://example.com; curl $URL',
      'wget -qO- http://example.com/x',
      'scp notes.txt ada@example.com:',
    ],
    pass: [
      'curl https://registry.npmjs.org/hookstack',
      'git clone https://github.com/nodejs/node',
      'npm test',
    ],
  },
  'protect-deploy': {
    stop: [
      'npm publish',
      'cd infra && terraform apply',
      'kubectl delete pod web',
      'docker buildx build --push -t shop .',
      'echo "npm publish" | sh',
    ],
    pass: ['npm pack', 'terraform plan', 'kubectl get pods'],
  },
  'ask-before-install': {
    stop: [
      'npm install left-pad',
      'cd web && npm install react',
      'pip install requests',
      'npx -y cowsay',
      'sudo apt-get install -y jq',
    ],
    pass: ['npm ci', 'npx tsc --noEmit', 'git commit -m "npm install react"'],
  },
};

/** Programs that only write down how they were called, and print it. */
export const STAND_INS =
  'git npm npx pip apt-get curl wget scp shred docker kubectl terraform'.split(' ');

/** A word that only stands in files which nobody may read. */
export const SECRET = 'hunter-2718';

/** Of a published format, and nobody's; in parts, so that no scanner takes it for a real one. */
export const KEY = `ghp_${'a1B2'.repeat(9)}`;

export const FILES = {
  '.env': `KEY=${SECRET}`,
  '.env.example': 'KEY=',
  'README.md': 'Hello',
  'key.txt': `It is ${KEY}.`,
  'notes.txt': 'x',
  'src/app.ts': 'x',
  'src/env.ts': 'x',
  'web/package.json': '{}',
  'infra/main.tf': 'x',
  'packages/web/.env.local': `KEY=${SECRET}`,
  'dist/app.js': 'x',
  '.git/HEAD': 'ref: refs/heads/main',
  '../other/notes.txt': SECRET,
};

export const LINKS = { 'inside-link': 'README.md' };

/** By agent, what its tools are called, as far as the stage does not know. */
const TOOLS = {
  claude: {
    web_fetch: (input) => ['WebFetch', input],
    google_web_search: (input) => ['WebSearch', input],
  },
  gemini: {
    glob: (input) => ['glob', input],
    web_fetch: ({ url, prompt }) => ['web_fetch', { prompt: `${prompt}: ${url}` }],
    google_web_search: (input) => ['google_web_search', input],
  },
};

/** Names of files that Gemini CLI refuses by itself, before it asks a hook. */
const ITS_OWN = /^(?:\.\.|\.git|\.env$)/u;

/** @returns by guard, the calls that are to be stopped, and then those that are to have passed */
export async function guardCalls() {
  const entries = Object.entries(CHOSEN).map(async ([guard, { stop, pass }]) => {
    const name = guard.replaceAll(/-(\w)/gu, (_, letter) => letter.toUpperCase());
    const known = await load(`test/guards/calls/${name}.ts`);
    const stopped = stop.map((title) => ({ ...findCall(known.stop, title), kind: 'stopped' }));
    const passed = pass.map((title) => ({ ...findCall(known.pass, title), kind: 'passed' }));
    return [guard, [...stopped, ...passed]];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function findCall(known, title) {
  for (const call of known) {
    if (call === title) return { title, tool: 'run_shell_command', input: { command: call } };
    if (typeof call === 'string') continue;
    const [tool, input] = call;
    if (`${tool} ${Object.values(input)[0]}` === title) return { title, tool, input };
  }
  throw new Error(`test/guards/calls does not know it any longer: ${title}`);
}

/** @returns the call in the words of the program on the stage; `undefined` where it cannot be made there */
export function partOf({ tool, input }, agent, { program, project }) {
  const named = input.file_path ?? input.absolute_path;
  if (agent === 'gemini' && named !== undefined && ITS_OWN.test(named)) return undefined;
  const file = named && path.join(project, named);
  if (tool === 'run_shell_command') return program.shell(input.command);
  if (tool === 'read_file') return program.read(file);
  if (tool === 'write_file') return program.write(file, input.content);
  const [name, its] = TOOLS[agent]?.[tool]?.(input) ?? [];
  return name && { name, input: its };
}
