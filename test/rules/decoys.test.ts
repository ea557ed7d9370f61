import { expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';

const finds = (pattern: string, tool: string, input: Readonly<Record<string, unknown>>) =>
  compileWhen([pattern]).find({ tool, input, cwd: '/nowhere', project: '/nowhere' }, true);

const PUSH = 'Bash(git push * --force *)';

it.each([
  [PUSH, 'shell', { command: ['git', 'push', '--force'] }],
  [PUSH, 'shell', { command: ['bash', '-lc', 'git push --force'] }],
  [PUSH, 'local_shell', { action: { command: ['git', 'push', '--force'] } }],
  [PUSH, 'Bash', { command: 'git status', commandLine: 'git push --force' }],
  [PUSH, 'write_stdin', { session_id: 1, chars: 'git push --force\n' }],
  ['Read(.env)', 'read_file', { filename: '.env' }],
  ['Read(.env)', 'read_file', { file_path: 'README.md', target_file: '.env' }],
  ['Read(.env)', 'read_file', { files: [{ path: '.env' }] }],
  ['Read(.env)', 'read_file', { file_path: { path: '.env' } }],
  ['Read(.env)', 'read_many_files', { paths: ['README.md', '**/.e*'] }],
  ['Edit(.env)', 'write_file', { file_path: 'README.md', target_file: '.env', content: '' }],
  ['WebFetch(domain:x.com)', 'web_fetch', { link: 'https://x.com/' }],
])('%s sees what %s is given in whatever argument', (pattern, tool, input) => {
  expect(finds(pattern, tool, input)).toBeDefined();
});

it.each([
  ['Edit(.env)', 'write_file', { file_path: 'README.md', content: '.env' }],
  ['Edit(.env)', 'replace', { file_path: 'a.md', old_string: '.env', new_string: './.env' }],
  ['Read(.env)', 'read_many_files', { paths: ['README.md', 'src/**/*.ts'] }],
  ['WebFetch(domain:x.com)', 'write_file', { file_path: 'a.md', content: 'https://x.com/' }],
])('%s takes no text in %s for more than that', (pattern, tool, input) => {
  expect(finds(pattern, tool, input)).toBeUndefined();
});

it.each([
  ['Bash(git push * --force *)', 'echo ecrof-- hsup tig | rev > x.out; ./x.out'],
  ['Bash(git push * --force *)', 'echo ecrof-- hsup tig | rev | sed e'],
  ['Bash(git push * --delete *)', 'git push --de origin main'],
  ['Bash(git config * core.hooksPath *)', 'git config CORE.hookspath /tmp'],
  ['Read(.env)', 'cat .en[[:alpha:]]'],
  ['Edit(.env)', "apply_patch '*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch'"],
  ['Edit(/src/**)', 'git -C src checkout .'],
  ['Edit(/src/**)', 'git -C src/a -C .. restore --worktree a'],
  ['Edit(/src/**)', 'wget -P src https://x.com/a'],
  ['WebFetch(domain:y.com)', 'curl -x y.com:80 https://x.com'],
  ['WebFetch(domain:y.com)', 'git clone y.com:a/b'],
])('%s sees %s', (pattern, command) => {
  expect(finds(pattern, 'run_shell_command', { command })).toBeDefined();
});

it.each(['evil.com', '//evil.com/x', 'https:evil.com'])('a tool fetches from %s', (url) => {
  expect(finds('WebFetch(domain:evil.com)', 'web_fetch', { url })).toBeDefined();
});

it.each([
  'cat <<E\n*** Begin Patch\n*** Add File: .env\n*** End Patch\nE',
  'curl -i https://x.com',
  'git push origin HEAD:main',
])('%s is no more than it says', (command) => {
  const doubts = compileWhen(['Edit(.env)', 'WebFetch(domain:y.com)', 'Read(/src/**)']);
  const call = {
    tool: 'run_shell_command',
    input: { command },
    cwd: '/nowhere',
    project: '/nowhere',
  };
  expect(doubts.find(call, true)).toBeUndefined();
});
