import { lines } from '../lines.js';

export const stop = [
  ['write_file', { file_path: '.git/hooks/pre-commit', content: 'exit 0' }],
  ['write_file', { file_path: 'hooks-link/pre-push', content: 'exit 0' }],
  ['replace', { file_path: '.git/config', old_string: 'a', new_string: 'b' }],
  ['write_file', { file_path: '.husky/pre-commit', content: '' }],
  ['mcp__github__delete_branch', { branch: 'main' }],
  ['mcp__files__write', { path: '.git/hooks/pre-push', content: '' }],
  ['apply_patch', { input: '*** Begin Patch\n*** Delete File: .husky/pre-commit\n*** End Patch' }],
  ...lines(String.raw`
    git push --force
    git push -f origin main
    git push origin main -f
    git push -uf origin main
    git branch -M old
    git push --force-with-lease
    git push --forc origin main
    git -C . push --force
    git -c user.name=x push -f
    /usr/bin/git push --force
    sudo git push --force
    env A=1 git push --force
    A=1 git push --force
    true && git push --force
    git status; git push -f
    git "push" '--force'
    git pu''sh -f
    g=git; $g push --force
    bash -c 'git push --force'
    eval "git push --force"
    echo "git push --force" | sh
    $(echo git) push --force
    git push origin +main
    git push origin :main
    git push --delete origin old
    git push origin -d old
    git push --mirror
    git push --no-verify
    git commit --no-verify -m x
    git commit -n -m x
    git commit -anm x
    git commit --amend
    git commit -a --amend --no-edit
    git rebase main
    git rebase -i HEAD~3
    git reset --hard
    git reset --hard origin/main
    git filter-branch --all
    git filter-repo --path x
    git reflog expire --expire=now --all
    git update-ref -d refs/heads/x
    git branch -D old
    git tag -d v1
    git tag -f v1
    git checkout -f main
    git checkout -- .
    git checkout .
    git switch --discard-changes main
    git stash clear
    git stash drop
    git config core.hooksPath /dev/null
    git -c core.hooksPath=/dev/null commit -m x
    git config alias.x '!sh'
    git config --unset user.name
    git config --global user.name x
    git remote set-url origin https://example.com/x
    rm .git/hooks/pre-commit
    rm -rf .git
    echo 'exit 0' > .git/hooks/pre-commit
    chmod -x .git/hooks/pre-commit
    cp x .husky/pre-commit
  `),
] as const;

export const pass = [
  ['read_file', { absolute_path: '.git/config' }],
  ['read_file', { absolute_path: '.git/HEAD' }],
  ['write_file', { file_path: '.gitignore', content: 'dist' }],
  ['write_file', { file_path: 'docs/git.md', content: 'git push --force' }],
  ['replace', { file_path: 'src/git.ts', old_string: 'push', new_string: 'push -f' }],
  ['list_directory', { path: '.git/hooks' }],
  ['search_file_content', { pattern: 'push --force', path: 'src' }],
  ['mcp__github__create_pull_request', { title: 'Never push --force' }],
  ...lines(String.raw`
    git status
    git status --short
    git log --oneline -5
    git log --format=%H
    git diff
    git diff --stat HEAD~1
    git show HEAD
    git add -A
    git add src/app.ts
    git commit -m "force push is forbidden"
    git commit -m "git push --force"
    git commit -am "Say what is new"
    git commit -F message.txt
    git push
    git push origin main
    git push -u origin feature
    git push --set-upstream origin feature
    git push --dry-run
    git push -n
    git pull
    git pull --ff-only
    git fetch --all --prune
    git branch
    git branch -a
    git branch feature
    git branch --show-current
    git checkout -b feature
    git checkout main
    git switch -c feature
    git merge main
    git merge --no-ff feature
    git cherry-pick abc123
    git revert HEAD
    git stash
    git stash pop
    git tag v1.0.0
    git tag -a v1.0.0 -m "First"
    git reset HEAD src/app.ts
    git reset --soft HEAD~1
    git config --get user.name
    git config user.name
    git config --list
    git remote -v
    git rev-parse --show-toplevel
    git ls-files
    git blame src/app.ts
    git clone https://github.com/nodejs/node
    git worktree add ../x
    cat .git/HEAD
    ls .git/hooks
    rm .git/index.lock
    grep -rn "push --force" src
    echo "git push --force"
    cd "$(git rev-parse --show-toplevel)" && git status
    gh pr create --title "No force"
    rm -rf dist
  `),
] as const;
