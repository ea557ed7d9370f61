import { lines } from '../lines.js';

export const stop = [
  ['write_file', { file_path: '../other/notes.txt', content: 'x' }],
  ['write_file', { file_path: '/etc/motd', content: 'x' }],
  ['write_file', { file_path: '~/notes.txt', content: 'x' }],
  ['write_file', { file_path: 'outside-link/notes.txt', content: 'x' }],
  ['replace', { file_path: '/etc/hosts', old_string: 'a', new_string: 'b' }],
  ['apply_patch', { input: '*** Begin Patch\n*** Add File: ../x.txt\n+x\n*** End Patch' }],
  ['NotebookEdit', { notebook_path: '../x.ipynb', new_source: 'x' }],
  ['mcp__files__write', { path: '/etc/motd', content: 'x' }],
  ['read_file', { absolute_path: '/etc/passwd' }],
  ['read_file', { absolute_path: '../other/notes.txt' }],
  ['read_file', { absolute_path: 'outside-link/notes.txt' }],
  ['list_directory', { path: '..' }],
  ['search_file_content', { pattern: 'x', path: '..' }],
  ['glob', { pattern: '*', path: '/home' }],
  ['mcp__files__read', { path: '/etc/passwd' }],
  ...lines(String.raw`
    echo x > ../notes.txt
    echo x > ~/notes.txt
    echo x >> $HOME/.bashrc
    echo x > /etc/motd
    echo x > outside-link/notes.txt
    echo x | tee ../notes.txt
    cp README.md ..
    cp README.md /etc/motd
    cp README.md ~/
    mv README.md ../README.md
    rm ../notes.txt
    rm -rf ../other
    rm -rf ~
    mkdir ../new
    touch /etc/x
    ln -s x /etc/x
    sed -i s/a/b/ /etc/hosts
    tar xzf x.tgz -C ..
    curl -o ../x https://example.com
    wget -O /etc/x https://example.com
    dd if=README.md of=../x
    install README.md /etc/
    rsync -a src/ ../copy/
    cd .. && touch x
    cd / && rm x
    bash -c 'echo x > ../x'
    sudo tee /etc/hosts < README.md
    find . -name x -exec cp {} .. \;
    python3 -c 'open("../x", "w").write("x")'
    git clone https://github.com/nodejs/node ../node
    cat ../other/notes.txt
    cat /etc/passwd
    cat ~/notes.txt
    cat $HOME/.bashrc
    head outside-link/notes.txt
    grep -r x ..
    ls ..
    ls ~
    less < /etc/passwd
    echo "$(</etc/passwd)"
    cp ../other/notes.txt notes.txt
    node -e "require('fs').readFileSync('../other/notes.txt')"
    find / -name x
    tail -f /var/log/syslog
    diff README.md ../README.md
  `),
] as const;

export const pass = [
  ['write_file', { file_path: 'src/notes.txt', content: '/etc/passwd' }],
  ['write_file', { file_path: './src/../notes.txt', content: 'x' }],
  ['write_file', { file_path: '/tmp/notes.txt', content: 'x' }],
  ['replace', { file_path: 'src/app.ts', old_string: '../a', new_string: '/etc' }],
  ['read_file', { absolute_path: 'README.md' }],
  ['read_file', { absolute_path: '/usr/include/stdio.h' }],
  ['read_file', { absolute_path: 'inside-link' }],
  ['list_directory', { path: '.' }],
  ['search_file_content', { pattern: '/etc/passwd', path: 'src' }],
  ['glob', { pattern: 'src/**/*.ts' }],
  ...lines(String.raw`
    echo x > notes.txt
    echo x > /tmp/notes.txt
    echo x >> src/notes.txt
    npm test 2> /dev/null
    npm test > /dev/null 2>&1
    npm test | tee test.log
    cp README.md copy.md
    cp /tmp/x notes.txt
    mv README.md docs.md
    rm notes.txt
    rm -rf dist
    mkdir -p src/new
    touch src/x
    sed -i s/a/b/ src/app.ts
    sed -n 1,5p src/app.ts
    cat README.md
    cat src/../README.md
    head -5 src/app.ts
    ls
    ls -la src
    ls /usr/bin
    cat /usr/include/stdio.h
    grep -rn x src
    grep -rn "/etc/passwd" src
    rg '\.\./' src
    find . -name '*.ts'
    wc -l src/*.ts
    cd src && ls
    cd src && cat ../README.md
    git status
    git add -A && git commit -m "Read /etc/passwd no more"
    git push origin main
    git log -- src
    npm run build
    npx tsc --noEmit
    node src/app.js
    python3 -c 'print(1)'
    /usr/bin/env node --version
    which node
    echo /etc/passwd
    printf '%s\n' ~
    test -d /etc
    curl -s https://example.com
    tar czf /tmp/src.tgz src
    diff README.md copy.md
    sort README.md
    docker build -t shop .
    kubectl get pods
    make
    awk '{ print $1 }' README.md
  `),
] as const;
