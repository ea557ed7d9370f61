import { describe, expect, it } from 'vitest';
import { readShell } from '../../src/rules/shell.js';
import type { ShellWord } from '../../src/rules/types.js';

const read = (text: string) => readShell(text, { cwd: '/p', home: '/home/u' });

/** A word as the tables write it: `a|b` for several values, `~` before a pattern, `?` for what is not known. */
const show = ({ values, isGlob, text }: ShellWord): string =>
  values ? `${isGlob ? '~' : ''}${values.join('|')}` : `?${text}`;

/** Each command that is listed: words, `<` and `>` of files, and `@` of a folder that is not the first. */
const commandsOf = (text: string): string[] =>
  read(text).commands.map(({ words, reads, writes, directory }) =>
    [
      ...words.map(show),
      ...reads.map((each) => `<${show(each)}`),
      ...writes.map((each) => `>${show(each)}`),
      ...(directory === '/p' ? [] : [`@${directory}`]),
    ].join(' '),
  );

/** Tables of a text, and the commands that it may start. */
const TABLES: Readonly<Record<string, readonly (readonly [string, ...string[]])[]>> = {
  'every part of a compound': [
    ['zap', 'zap'],
    [''],
    ['# zap'],
    ['a; b & c && d || e | f |& g\nh', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
    ['if a; then b; elif c; then d; else e; fi', 'a', 'b', 'c', 'd', 'e'],
    ['while a; do b; done; until c; do d; done', 'a', 'b', 'c', 'd'],
    ['for x in 1 2; do a $x; done', 'a 1|2'],
    ['for ((i = $(a); i < 3; i++)); do b; done', 'a', 'b'],
    ['select x in 1 2; do a "$x"; done', 'a 1|2'],
    ['case $(a) in $(b)) c;; x | y) d;& *) e;; esac', 'a', 'b', 'c', 'd', 'e'],
    ['(a; (b)); { c; }', 'a', 'b', 'c'],
    ['coproc N { a; }; coproc b', 'a', 'b'],
    ['time -p a; ! b', 'a', 'b'],
    ['f() { a; }; function g { b; }; g', 'g', 'b', 'a @undefined'],
    ['[[ -f $(a) && $(b) == c ]]', 'a', 'b'],
    ['(( $(a) + 1 )); let "x = 1"', 'a', 'let x = 1'],
    ['{ a; } > f < g', '<g >f', 'a'],
    ['((zap)); ((1 > 0))', 'zap'],
    ['a &> f zap', 'a zap >f', 'zap >f'],
  ],
  substitutions: [
    ['echo $(a) `b` "$(c "$(d)")"', 'a', 'b', 'd', 'c ?"$(d)"', 'echo ?$(a) ?`b` ?"$(c "$(d)")"'],
    ['X=$(a)', 'a'],
    ['x[$(a)]=1', 'a'],
    [
      'echo $(( $(a) )) ${x[$(b)]} ${x:-$(c)}',
      'a',
      'b',
      'c',
      'echo ?$(( $(a) )) ?${x[$(b)]} ?${x:-$(c)}',
    ],
    ['a > "$(b)"', 'b', 'a >?"$(b)"'],
    ['cat <<E\n$(a) `b` \\$(c)\nE', 'a', 'b', 'cat'],
    ["cat <<'E'\n$(a)\nE", 'cat'],
    ['diff <(a) <(b) > >(c)', 'a', 'b', 'c', 'diff /dev/fd/63 /dev/fd/63 >/dev/fd/63'],
    ['echo "$(<.env)"', '<.env', 'echo ?"$(<.env)"'],
    ['`echo \\`echo a\\``', 'echo a', 'echo a', 'a'],
  ],
  quoting: [
    [`z"a"p 'a b' "c d" e\\ f`, 'zap a b c d e f'],
    [`\\zap $'\\x7aap' $'a\\'b' $"x"`, `zap zap a'b x`],
    [`z''ap ""za""p a""`, 'zap zap a'],
    ['za\\\np', 'zap'],
    ['"a\\"b\\$c"', 'a"b$c'],
    ['a "" b', 'a  b'],
    ['a {b,c}d {1..3} {a..c..2} {x} x{,y}', 'a bd cd 1 2 3 a c {x} x xy'],
    ['{zap,-x}', 'zap -x'],
    ['a "{b,c}" \\{d,e}', 'a {b,c} {d,e}'],
    ['a ~ ~/b x=~/c "~/d" \\~/e ~u', 'a /home/u /home/u/b x=/home/u/c ~/d ~/e ?~u'],
    ['a *.ts "*.js" src/[ab]?', 'a ~*.ts *.js ~src/[ab]?'],
    ['a "x*"*', 'a ~x\\**'],
    ["a .e*v '.e'nv", 'a ~.e*v .env'],
  ],
  variables: [
    ['X=.env; cat "$X" ${X} "${X}.b"', 'cat .env .env .env.b'],
    ['X="a b"; c $X "$X"', 'c a b a b'],
    ['X="*"; a $X "$X"', 'a ~* *'],
    ['cat$IFS.env', 'cat .env'],
    ['X=zap$IFS-f; $X', 'zap -f'],
    ['a $HOME "$PWD/b"', 'a /home/u /p/b'],
    ['a $UNKNOWN "$UNKNOWN" x$1', 'a ?$UNKNOWN ?"$UNKNOWN" ?x$1'],
    ['X=a; X=b; c $X', 'c b'],
    ['X=a; if b; then X=c; fi; d $X', 'b', 'd c|a'],
    ['if b; then X=a; fi; d $X', 'b', 'd ?$X'],
    ['if b; then X=a; else X=c; fi; d $X', 'b', 'd a|c'],
    ['X=a; true && X=b; c $X', 'true', 'c b|a'],
    ['X=a; (X=b; c $X); d $X', 'c b', 'd a'],
    ['X=a; while b; do c $X; X=d; done', 'b', 'c a', 'b', 'c ?$X'],
    ['X=a; X=b c $X; d $X', 'c a', 'd a'],
    ['X=; $X zap', 'zap'],
    ['X=ls; unset X; $X zap', 'unset X', 'zap'],
    ['readonly X=a; X=b; c $X', 'readonly X=a', 'c ?$X'],
    [`trap 'X=zap' DEBUG; X=a; b $X`, 'trap X=zap DEBUG', 'b ?$X'],
    ['X=a; X=b :; c $X', ':', 'c a|b'],
    ['read X <<< a; b $X', 'read X', 'b ?$X'],
    ['X=a; X+=b; c $X', 'c ab'],
    ['export X=a; c $X', 'export X=a', 'c a'],
    ['X=a; c ${X:-d} ${X:+e} ${X-f} ${X%a}', 'c a e a ?${X%a}'],
    ['X=; c "${X:-d}" "${X-e}"', 'c d '],
    ['IFS=/; X=a/b; c $X', 'c ?$X'],
    ['for f in *.ts; do a "$f"; done', 'a ~*.ts'],
    ['set -- a b; c "$@" $2 $3', 'set -- a b', 'c a b b'],
    ['f() { a "$1" "$@"; }; f x y', 'f x y', 'a x x y'],
    [
      'X="$(cat <<\'E\'\na\nE\n)"; b "$X" $(echo c) `printf %s d`',
      'cat',
      'echo c',
      'printf %s d',
      'b a c d',
    ],
    ['for x in a b; do X=$x; break; X=c; done; d $X', 'break', 'break', 'd ?$X'],
  ],
  folders: [
    ['cd x && a', 'cd x', 'a @/p/x'],
    ['cd x; a', 'cd x', 'a @/p/x', 'a'],
    ['cd x || exit 1; a', 'cd x', 'exit 1', 'a @/p/x'],
    ['cd x || a', 'cd x', 'a'],
    ['cd x && cd ../y && a', 'cd x', 'cd ../y @/p/x', 'a @/p/y'],
    ['(cd x && a); b', 'cd x', 'a @/p/x', 'b'],
    ['cd && a', 'cd', 'a @/home/u'],
    ['cd /x/./y/.. && a', 'cd /x/./y/..', 'a @/x'],
    ['cd "$X" && a', 'cd ?"$X"', 'a @undefined'],
    ['cd - && a', 'cd -', 'a @undefined'],
    ['pushd x && a && popd && b', 'pushd x', 'a @/p/x', 'popd @/p/x', 'b @undefined'],
    ['env -C x a', 'env -C x a', 'a @/p/x'],
    ['a $(pwd)', 'pwd', 'a /p'],
  ],
  wrappers: [
    ['sudo -u root -E zap x', 'sudo -u root -E zap x', 'zap x'],
    ['sudo A=b zap', 'sudo A=b zap', 'zap'],
    ['sudo --user root -- zap', 'sudo --user root -- zap', 'zap'],
    ['doas -u x zap', 'doas -u x zap', 'zap'],
    ['env -i A=b -u C zap', 'env -i A=b -u C zap', '-u C zap'],
    ['env -u C A=b zap', 'env -u C A=b zap', 'zap'],
    ['env -S "zap a" b', 'env -S zap a b', 'zap a b'],
    ['/usr/bin/env zap', '/usr/bin/env zap', 'zap'],
    ['a | xargs -0 -n 1 zap -f', 'a', 'xargs -0 -n 1 zap -f', 'zap -f ?…'],
    ['a | xargs -I{} zap x{}', 'a', 'xargs -I{} zap x{}', 'zap ?x{}'],
    [
      'nohup nice -n 5 ionice -c 3 zap',
      'nohup nice -n 5 ionice -c 3 zap',
      'nice -n 5 ionice -c 3 zap',
      'ionice -c 3 zap',
      'zap',
    ],
    ['timeout -k 3 --signal=KILL 5s zap', 'timeout -k 3 --signal=KILL 5s zap', 'zap'],
    ['command -p zap; command -v ls', 'command -p zap', 'zap', 'command -v ls'],
    ['exec -a x zap', 'exec -a x zap', 'zap'],
    ['stdbuf -oL setsid -w zap', 'stdbuf -oL setsid -w zap', 'setsid -w zap', 'zap'],
    ['chroot /x zap', 'chroot /x zap', 'zap @undefined'],
    ['watch -n 1 zap a', 'watch -n 1 zap a', 'zap a'],
    ['flock /l zap; flock /l -c "zap 1"', 'flock /l zap', 'zap', 'flock /l -c zap 1', 'zap 1'],
    ['su -c zap; su u -c "zap 1"', 'su -c zap', 'zap', 'su u -c zap 1', 'zap 1'],
    ['script -q -c zap /dev/null', 'script -q -c zap /dev/null', 'zap'],
    ['strace -f -o x zap', 'strace -f -o x zap', 'zap'],
    ['busybox zap', 'busybox zap', 'zap'],
    ['parallel zap ::: 1 2', 'parallel zap ::: 1 2', 'zap ?"$_"'],
    [
      'find . -exec zap {} \\; -ok ls {} +',
      'find . -exec zap {} ; -ok ls {} +',
      'zap ?{}',
      'ls ?{}',
    ],
    ['find . -execdir zap {} +', 'find . -execdir zap {} +', 'zap ?{} @undefined'],
    ['ssh -p 22 h zap "a b"', 'ssh -p 22 h zap a b', 'zap a b'],
    [
      'npx -y zap a; npm exec zap; npm install zap',
      'npx -y zap a',
      'zap a',
      'npm exec zap',
      'zap',
      'npm install zap',
    ],
    ['git -c alias.x="!zap 1" x', 'git -c alias.x=!zap 1 x', 'zap 1'],
    ['git rebase -x "zap 1" HEAD~1', 'git rebase -x zap 1 HEAD~1', 'zap 1'],
    ['git bisect run zap 1', 'git bisect run zap 1', 'zap 1'],
    ['GIT_EDITOR="zap 1" git commit', 'zap 1', 'git commit'],
  ],
  'texts that are read again': [
    ['bash -c "zap 1"', 'bash -c zap 1', 'zap 1'],
    [
      'bash -lc zap; sh -e -c zap; zsh +x -c zap',
      'bash -lc zap',
      'zap',
      'sh -e -c zap',
      'zap',
      'zsh +x -c zap',
      'zap',
    ],
    [`bash -c '"$0" $1' zap 1`, 'bash -c "$0" $1 zap 1', '?"$0" 1'],
    [`bash -c "bash -c 'zap'"`, "bash -c bash -c 'zap'", 'bash -c zap', 'zap'],
    [`X=zap bash -c '$X'`, 'bash -c $X', 'zap'],
    ['eval zap "a b"', 'eval zap a b', 'zap a b'],
    [`eval "eval 'zap'"`, "eval eval 'zap'", 'eval zap', 'zap'],
    ['eval X=zap; $X', 'eval X=zap', 'zap'],
    [`trap 'zap 1' EXIT`, 'trap zap 1 EXIT', 'zap 1 @undefined'],
    ['trap - EXIT; trap', 'trap - EXIT', 'trap'],
    ['alias z="zap 1"; z 2', 'alias z=zap 1', 'zap 1 @undefined', 'z 2', 'zap 1 2'],
    ['bash <<< "zap 1"', 'bash', 'zap 1'],
    ['bash -s <<E\nzap 1\nE', 'bash -s', 'zap 1'],
    ['sh <<E\n\\$(zap)\nE', 'sh', 'zap', '?$(zap)'],
    ['echo zap 1 | sh', 'echo zap 1', 'sh', 'zap 1'],
    ["printf '%s\\n' zap ls | bash", 'printf %s\\n zap ls', 'bash', 'zap', 'ls'],
    ['cat <<E | sh\nzap\nE', 'cat', 'sh', 'zap'],
    ['echo zap | (cd x; sh)', 'echo zap', 'cd x', 'sh @/p/x', 'sh', 'zap @/p/x', 'zap'],
    ['cat > x.sh <<E\nzap\nE\nsh x.sh', 'cat >x.sh', 'sh x.sh', 'zap'],
  ],
  'scripts, which are commands like others': [
    ['./x.sh', './x.sh'],
    ['bash x.sh a', 'bash x.sh a'],
    ['. ./x.sh; source y', '. ./x.sh', 'source y @undefined'],
    ['. .venv/bin/activate; y', '. .venv/bin/activate', 'y'],
    [
      'echo cd / > bin/activate; . bin/activate; y',
      'echo cd / >bin/activate',
      '. bin/activate',
      'cd /',
      'y @undefined',
    ],
    ['make -j4 test && npm run x', 'make -j4 test', 'npm run x'],
    ['python3 x.py; python -m http.server', 'python3 x.py', 'python -m http.server'],
    [
      'python -c "print(1)"; node -e "console.log(1)"',
      'python -c print(1)',
      'node -e console.log(1)',
    ],
    ["awk '{print $1}' f; sed -i s/a/b/ f", 'awk {print $1} f', 'sed -i s/a/b/ f'],
  ],
  redirections: [
    ['a < b > c 2>> d &> e >| f 2>&1 >&-', 'a <b >c >d >e >f'],
    ['> f', '>f'],
    ['a <> b', 'a <b >b'],
    ['a > ~/b > $X', 'a >/home/u/b >?$X'],
    ['while a; do b; done < .env', '<.env', 'a', 'b'],
  ],
};

for (const [name, rows] of Object.entries(TABLES)) {
  describe(name, () => {
    it.each(rows.map(([text, ...commands]) => ({ text, commands })))(
      '$text',
      ({ text, commands }) => {
        expect(commandsOf(text)).toEqual(commands);
      },
    );
  });
}

describe('what cannot be told', () => {
  it.each([
    ['$CMD a', 'names its program by $CMD'],
    ['"${x}y"', 'names its program by "${x}y"'],
    ['/usr/bin/z?p', 'names its program by /usr/bin/z?p'],
    ['"$(which zap)" a', 'names its program by "$(which zap)"'],
    ['sudo $X', 'gives `sudo` the word $X, which may be an option or a command'],
    ['eval "$X"', 'reads a text as a command that only the shell knows: "$X"'],
    ['bash -c "$X"', 'gives a shell the word "$X", which may be code'],
    ['sh -c "zap $X"', 'gives a shell the word "zap $X", which may be code'],
    ['trap "$X" EXIT', 'reads a text as a command that only the shell knows: "$X"'],
    ['alias "$X"', 'defines an alias that only the shell knows: "$X"'],
    ['curl x | sh', 'has a shell run what it reads from its input'],
    ['curl x | python3', 'has an interpreter (python) run what it reads from its input'],
    ['bash <(curl x)', 'has a shell run what <(curl x) prints'],
    ['curl -o x.sh y && sh x.sh', 'runs x.sh, which it writes first'],
    ['cp a b && ./b', 'runs ./b, which it writes first'],
    ['hash -p /x zap', 'has `hash` name other commands'],
    ['enable -f x y', 'has `enable` name other commands'],
    ['mapfile -C zap -c 1', 'has `mapfile` name other commands'],
    ['compgen -C zap', 'has `compgen` name other commands'],
    ['PROMPT_COMMAND=zap', 'sets PROMPT_COMMAND, by which a shell starts more'],
    ['BASH_ENV=x bash y', 'sets BASH_ENV, by which a shell starts more'],
    [`PS4='$(zap)'; set -x; ls`, 'sets PS4, in which a shell runs commands'],
    [`X='a[$(zap)]'; ((X))`, 'works out X as a number, which runs commands in it'],
    [
      `python -c 'import os; os.system("x")'`,
      'gives an interpreter (python) code that may start processes',
    ],
    ['python -c "$X"', 'gives an interpreter (python) code that only the shell knows: "$X"'],
    [`perl -e 'exec "x"'`, 'gives an interpreter (perl) code that may start processes'],
    [
      `node -e 'require("child_process")'`,
      'gives an interpreter (node) code that may start processes',
    ],
    ["ruby -e '`x`'", 'gives an interpreter (ruby) code that may start processes'],
    [`awk 'BEGIN { system("x") }'`, 'gives an interpreter (awk) code that may start processes'],
    [`sed '1e zap' f`, 'gives an interpreter (sed) code that may start processes'],
    [`vim -c '!zap'`, 'gives an interpreter (vim) code that may start processes'],
    ['a && (', 'is not a complete command (expected command in subshell)'],
    ['a \u00a0b', 'holds the character U+00A0, which shells read differently'],
    ['x'.repeat(200_000), 'is longer than 131072 characters'],
    [`${'eval '.repeat(20)}zap`, 'is nested too deeply to be read'],
  ])('%s', (text, reason) => {
    expect(read(text).unknown).toContain(reason);
  });

  it.each([
    'git commit -m "$(cat <<\'E\'\na `b` $(c)\nE\n)"',
    'cd "$(git rev-parse --show-toplevel)" && npm test',
    'X=$(date); echo "$X" > f; for f in *; do wc -l "$f"; done',
    'git log --format="%h \u00a0 %s" | head -n $N',
    'cat > x.py <<E\nprint(1)\nE\npython3 x.py',
    'run() { "$@"; }',
    'sudo bash x.sh && bash "$DIR/x.sh"',
    'python -m json.tool < f && node --version && bash --version',
    'while read -r l; do echo "$l"; done < f',
  ])('is little: %s', (text) => {
    expect(read(text).unknown).toEqual([]);
  });

  it.each(['$(', '((', '`', '{', '$((', '${x:-', '<(', 'eval "', '((((((((((', 'for x in a; do '])(
    'is not looked for in vain: %s, many times',
    (piece) => {
      const before = performance.now();
      read(piece.repeat(2_000));
      read(piece.repeat(100));
      expect(performance.now() - before).toBeLessThan(3_000);
    },
  );
});
