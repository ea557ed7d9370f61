import { lines } from '../lines.js';

/** What agents run every day, which no guard is to stop. */
export const everyday: readonly string[] = [
  ...lines(String.raw`
    git status && git diff --stat
    git log --oneline -20 | head
    for f in src/*.ts; do wc -l "$f"; done
    cd "$(git rev-parse --show-toplevel)" && ls
    cd src && grep -rn "TODO" --include='*.ts' . | head -20
    find . -name '*.test.ts' -not -path './node_modules/*' | xargs grep -l vitest
    npx vitest run test/rules 2>&1 | tail -30
    cat package.json | jq '.scripts'
    sed -n '1,80p' src/index.ts
    awk '/export/{print $2}' src/index.ts
    awk -F: '{print $1}' README.md | sort | uniq -c | sort -rn | head
    node -e "const p=require('./package.json');console.log(p.version)"
    node --input-type=module -e "import('./dist/index.js').then(m=>console.log(Object.keys(m)))"
    export PATH="$PWD/node_modules/.bin:$PATH" && tsc --noEmit
    NODE_OPTIONS=--max-old-space-size=4096 npm run build
    timeout 60 npm test -- --reporter=dot
    ls -la && pwd && whoami
    which node npm python3; node --version
    ps aux | grep node
    kill -9 1234
    lsof -i :3000
    mkdir -p src/new && touch src/new/index.ts
    cp src/index.ts src/index.bak.ts && mv src/index.bak.ts src/old.ts
    rm -f src/old.ts
    diff <(git show HEAD:package.json) package.json
    while read -r line; do echo "$line"; done < README.md
    x=$(date +%s); echo "$x"
    if [ -f package.json ]; then echo yes; fi
    test -d dist || npm run build
    docker compose logs --tail 50 web
    docker ps --format '{{.Names}}'
    psql -h localhost -c 'select 1'
    sqlite3 db.sqlite 'select count(*) from users'
    echo '{"a":1}' > fixture.json
    tee src/x.ts <<< 'export {};'
    printf 'a\nb\n' | sort -u
    tail -f app.log & sleep 1; kill %1
    curl -s http://localhost:3000/health | jq .
    rg -n "hookstack" docs | head
    git ls-files | wc -l
    git blame -L 1,10 src/index.ts
    git stash && git checkout main && git pull
    git fetch origin && git merge origin/main
    gh pr view 12 --json title,body
    gh run view 123 --log-failed
    tsc -p tsconfig.json && node dist/cli.js --help
    go test ./... -run TestX -v
    cargo test -- --nocapture
    pytest -q tests/test_x.py::test_y
    make -j4 && make test
    bundle exec rspec spec/models
    ./gradlew test --info
    mvn -q test
    chmod +x scripts/run.sh && ./scripts/run.sh
    bash scripts/run.sh arg
    source .venv/bin/activate && python -m pytest
    . .venv/bin/activate; pip list
    docker compose exec web ls
    cat *.md | wc -w
    set -e; npm test
    nohup npm start > server.log 2>&1 &
    git show HEAD:src/a.ts | head -20
    git commit --allow-empty -m "x" && git push -u origin HEAD
    jq '.version = "1.2.3"' package.json > tmp.json && mv tmp.json package.json
    for i in 1 2 3; do curl -s localhost:3000/$i; done
    xargs -I{} echo {} < list.txt
    npm start & sleep 3; curl -s localhost:3000; kill $!
    date -u +%FT%TZ
    jq -r '.[] | select(.id == 1) | .name' data.json
    perl -pe 's/foo/bar/' README.md
    xxd file.bin | head
    grep -n "$(date +%Y)" CHANGELOG.md
    [[ -n "$CI" ]] && echo ci || echo local
    trap 'echo bye' EXIT; sleep 1
    tree -L 2 -I node_modules
    echo "$HOME" && echo ~
    cat /tmp/out.log
    npm run dev > /tmp/dev.log 2>&1 &
    head -c 100 /dev/urandom | base64
    openssl dgst -sha256 package.json
    node -p "process.platform"
    cat src/**/*.ts | wc -l
    grep -rn 'https://example.com' docs
    sed -i 's#http://example.com#https://example.com#g' docs/links.md
    git commit -m "Link to https://example.com"
    gh pr create --title "x" --body "See https://example.com/issue/1"
    git log --grep='https://example.com'
    echo "https://example.com" >> links.txt
    npm view hookstack version
    npx playwright test
    git restore --staged src/index.ts
    git rm -r --cached dist
    npm ci && npm run build && npm test
    uname -a
    rm -rf packages/web/dist
    git restore --staged src/app.ts
  `),
  'git add -A && git commit -m "$(cat <<\'MSG\'\nFix the reader of .env files\n\nIt read ~/.ssh/config, too. See https://example.com/x\nMSG\n)"',
  "python3 - <<'PY'\nimport json\nprint(json.load(open('package.json'))['name'])\nPY",
  "cat > src/new.ts <<'TS'\nexport const path = '/etc/passwd';\nexport const file = process.env.FILE ?? '.env';\nTS",
];
