/**
 * A rule that stops a call, for both engines. Cedar compares texts, the package reads commands as a shell would, and
 * resolves paths: what Cedar's rule holds is less.
 *
 * @typedef {object} Rule
 * @property {object} condition as in settings: `when` or `expr`
 * @property {string} tool
 * @property {string} argument
 * @property {string} like the same in Cedar
 */

/** @type {readonly Rule[]} */
export const OF_COMMANDS = [
  ofCommand('git push * --force *', 'git push *--force*'),
  ofCommand('git reset --hard *', 'git reset --hard*'),
  ofCommand('git clean *', 'git clean*'),
  ofCommand('npm publish *', 'npm publish*'),
  ofCommand('kubectl delete *', 'kubectl delete*'),
  ofCommand('terraform apply *', 'terraform apply*'),
  ofCommand('docker system prune *', 'docker system prune*'),
  ofCommand('rm -rf *', 'rm -rf*'),
  ofCommand('chmod * 777 *', 'chmod * 777 *'),
  ofCommand('curl * --upload-file *', 'curl *--upload-file*'),
];

/** @type {readonly Rule[]} */
export const OF_PATHS = [
  ofPath('.env*', '*.env*'),
  ofPath('*.pem', '*.pem'),
  ofPath('id_rsa', '*id_rsa'),
  ofPath('~/.ssh/**', '/root/.ssh/*'),
  ofPath('~/.aws/**', '/root/.aws/*'),
  ofPath('/secrets/**', 'secrets/*'),
  ofPath('**/credentials.json', '*credentials.json'),
  ofPath('*.tfstate', '*.tfstate'),
  ofPath('.git/config', '*.git/config'),
  ofPath('//etc/shadow', '/etc/shadow'),
];

/** Half of them for commands, the others for paths. @type {readonly Rule[]} */
export const THOUSAND = Array.from({ length: 1000 }, (_, index) =>
  index % 2
    ? ofCommand(`tool${index} publish * --now *`, `tool${index} publish *--now*`)
    : ofPath(`/generated${index}/**`, `generated${index}/*`),
);

/** @type {readonly Rule[]} */
export const OF_EXPRESSIONS = Array.from({ length: 10 }, (_, index) => ({
  condition: { expr: `tool_input.command.contains("--now${index}")` },
  tool: 'run_shell_command',
  argument: 'command',
  like: `*--now${index}*`,
}));

function ofCommand(pattern, like) {
  return {
    condition: { when: `Bash(${pattern})` },
    tool: 'run_shell_command',
    argument: 'command',
    like,
  };
}

function ofPath(pattern, like) {
  return {
    condition: { when: `Read(${pattern})` },
    tool: 'read_file',
    argument: 'file_path',
    like,
  };
}

/**
 * @param {readonly Rule[]} rules
 * @returns {{ hooks: object, policies: string }} as under the `hooks` key of settings.json, and in Cedar
 */
export function ruleScenario(rules) {
  const hooks = rules.map(({ condition }, index) => ({
    type: 'rule',
    name: `rule ${index}`,
    ...condition,
    decision: 'deny',
    reason: 'This is for people.',
  }));
  return { hooks: { BeforeTool: [{ hooks }] }, policies: rules.map(toCedar).join('\n') + ALLOW };
}

const ALLOW = '\npermit (principal, action, resource);';

function toCedar({ tool, argument, like }) {
  const condition = `context.${argument} like ${JSON.stringify(like)}`;
  return `forbid (principal, action == Action::"${tool}", resource) when { ${condition} };`;
}
