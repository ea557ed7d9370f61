import { HookEventName } from '../../../protocol/types.js';
import { callTests, commands, lines, paths, type Guard, type GuardGroup } from '../guard.js';

const name = 'protect-git';

const FORBIDDEN = commands(`
  git push * --force|-f|--force-with-lease|--mirror|--delete|-d|--prune|+*|:*|--no-verify *
  git commit * --no-verify|-n *
  git merge * --no-verify *
  git filter-branch|filter-repo|update-ref|replace|fast-import|prune *
  git send-pack|http-push * --force|-f|--mirror *
  git reflog expire|delete *
  git gc * --prune *
  git branch * -D|-M|-C|-f|--force *
  git tag * -d|-f|--delete|--force *
  git worktree remove * --force|-f *
  git config * core.hooksPath*|core.fsmonitor*|core.sshCommand*|core.gitProxy*|credential.*|alias.*|include.*|includeIf.*|url.*|filter.*|gpg.*|--edit|-e|--unset|--unset-all|--remove-section|--rename-section *
  git * -c core.hooksPath*|core.fsmonitor*|core.sshCommand*|core.gitProxy*|credential.*|alias.*|include.*|includeIf.*|url.*|filter.*|gpg.* *
  git * --config-env *
  git config edit|unset|remove-section|rename-section *
  git remote set-url|remove|rm *
  bfg|git-filter-repo *
`);

const RISKY = commands(`
  git reset * --hard|--merge *
  git rebase|restore|am *
  git commit * --amend|--fixup *
  git pull * --rebase|-r *
  git checkout * --force|-f|-B|.|-- *
  git switch * --force|-f|--discard-changes|-C *
  git stash clear|drop *
  git config * --global|--system *
`);

/** Tools of MCP servers by what they are called. */
const TOOLS = lines(`
  mcp__*force_push*
  mcp__*delete_branch*
  mcp__*delete_tag*
`);

const FILES = paths(
  'Edit',
  `
  **/.git/hooks/**
  **/.git/config
  **/.git/info/**
  **/.git/refs/**
  **/.git/objects/**
  **/.git/logs/**
  **/.git/modules/**
  **/.git/HEAD
  **/.git/packed-refs
  **/.husky/**
  **/.githooks/**
  **/lefthook.yml
  **/.pre-commit-config.yaml
  **/.gitmodules
  ~/.gitconfig
  ~/.config/git/**
`,
);

function asking(when: readonly string[]): GuardGroup {
  return {
    event: HookEventName.BeforeTool,
    group: {
      when,
      hooks: [
        {
          type: 'rule',
          name: `${name}-ask`,
          description: 'Asks before work or commits are dropped.',
          decision: 'ask',
          reason:
            'This drops changes or rewrites commits. Commit or stash first, or make a new commit.',
        },
      ],
    },
  };
}

export const protectGit: Guard = {
  name,
  covers:
    'Denies force pushes, deleted branches and tags, rewritten history, --no-verify, and changes of hooks and of the config; asks before reset --hard, rebase, --amend and what else drops changes.',
  misses:
    'Not covered: settings in variables (HUSKY=0, GIT_CONFIG_…), aliases that are there already, scripts, and programs that write to .git by themselves: protect the branches on the server, too.',
  groups: () => [
    {
      event: HookEventName.BeforeTool,
      group: {
        when: [...FORBIDDEN, ...TOOLS, ...FILES],
        hooks: [
          {
            type: 'rule',
            name,
            description: 'No force push, no rewritten history, no change of hooks and config.',
            decision: 'deny',
            reason:
              'History that others have, hooks and the config of git are for people to change. Make a new commit, push without force, and say what is left to do.',
          },
        ],
      },
    },
    asking([...RISKY, '!Bash(git restore --staged *)', '!Bash(git restore -S *)']),
    asking(commands('git restore * --worktree|-W *')),
  ],
  tests: callTests(name, {
    block: [
      'git push --force origin main',
      'git -C . push -uf',
      'sudo bash -c "git push origin +main"',
      'git commit --no-verify -m wip',
      'git -c core.hooksPath=/dev/null commit -m wip',
      ['write_file', { file_path: '.git/hooks/pre-commit', content: 'exit 0' }],
    ],
    ask: ['git reset --hard HEAD~3'],
    pass: [
      'git push origin main',
      'git commit -m "force push is forbidden"',
      'git log --oneline -5',
      ['write_file', { file_path: 'docs/git.md', content: 'git push --force' }],
    ],
  }),
};
