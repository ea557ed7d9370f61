import { lines } from '../lines.js';

export const stop = [
  ['run_shell_command', { command: 'rm -rf src' }],
  ['mcp__shell__run', { command: 'rm -rf src' }],
  ...lines(String.raw`
    rm -rf src
    rm -r src
    rm -R src
    rm -fr src
    rm -f -r src
    rm -vrf src
    rm --recursive src
    rm --recurs --force src
    rm src -rf
    rm -rf -- src
    rm -rf dist src
    rm -rf dist/../src
    rm -rf ./
    rm -rf .
    rm -rf *
    rm -rf /
    rm -rf ~
    rm -rf "$HOME"
    rm -rf $DIR
    rm -rf node_modules; rm -rf src
    sudo rm -rf src
    /bin/rm -rf src
    \rm -rf src
    "rm" -rf src
    r''m -rf src
    command rm -rf src
    env rm -rf src
    bash -c "rm -rf src"
    sh -c 'cd src && rm -rf *'
    echo src | xargs rm -rf
    find . -type f | xargs rm
    find . -exec rm {} +
    find . -name '*.ts' -delete
    find src -type d -exec rm -rf {} \;
    find . -exec /bin/rm {} +
    busybox rm -rf src
    eval 'rm -rf src'
    x=rm; $x -rf src
    $(echo rm) -rf src
    alias d='rm -rf'; d src
    rsync -a --delete empty/ src/
    git clean -fdx
    git clean -f
    git clean --force -d
    git -C . clean -fd
    shred -u notes.txt
    dd if=/dev/zero of=/dev/sda
    mkfs.ext4 /dev/sda1
    mkfs -t ext4 /dev/sda1
    wipefs -a /dev/sda
    rimraf src
    npx rimraf src
    docker volume rm data
    docker system prune -af
    docker compose down -v
    dropdb shop
    redis-cli FLUSHALL
    crontab -r
  `),
] as const;

export const pass = [
  ['write_file', { file_path: 'docs/rm.md', content: 'rm -rf /' }],
  ['read_file', { absolute_path: 'README.md' }],
  ['search_file_content', { pattern: 'rm -rf', path: 'src' }],
  ['write_todos', { todos: [{ description: 'rm -rf src' }] }],
  ...lines(String.raw`
    rm notes.txt
    rm -f notes.txt
    rm -- notes.txt
    rm src/old.ts src/older.ts
    rm -rf node_modules
    rm -rf dist
    rm -rf ./dist
    rm -r build
    rm -rf coverage && npm test
    rm -rf .next
    rm -rf __pycache__
    rm -rf dist; npm run build
    rmdir empty
    mv src/a.ts src/b.ts
    cp -r src copy
    mkdir -p src/new
    touch notes.txt
    ls -R src
    ls -la
    find . -name '*.ts'
    find src -type f -newer README.md
    find . -name '*.log' -exec wc -l {} +
    find . -type f | xargs wc -l
    git rm --cached notes.txt
    git clean -n
    git clean --dry-run
    git status
    git commit -m "rm -rf is asked about"
    echo "rm -rf src"
    printf 'rm -rf %s\n' src
    grep -rn "rm -rf" src
    rg 'rm -rf' scripts
    docker ps
    docker compose up -d
    docker compose down
    docker volume ls
    docker rm web
    npm run clean
    npm test
    npx tsc --noEmit
    make clean
    cargo clean
    go clean
    rsync -a src/ copy/
    tar czf src.tgz src
    sed -i s/a/b/ src/app.ts
    dd if=/dev/zero of=/dev/null count=1
    df -h
    du -sh node_modules
    crontab -l
    redis-cli GET shop
    cat src/app.ts
    man rm
    which rm
  `),
] as const;
