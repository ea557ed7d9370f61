import * as fc from 'fast-check';

/** The program that is looked for. */
export const STAND_IN = 'zap';

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);

/** Ways to write the program's name. */
const NAMES = oneOf(
  'zap',
  'z"a"p',
  "'zap'",
  '\\zap',
  'z\\ap',
  "$'zap'",
  "$'\\x7aap'",
  "$'\\172ap'",
  '"za"p',
  "z''ap",
  '$(echo zap)',
  '"$(printf %s zap)"',
  '`echo zap`',
  '$(echo $(echo zap))',
  '"$(cat <<< zap)"',
  '${NONE:-zap}',
  '"${NONE-zap}"',
  '${NONE:=zap}',
  '{zap,}',
  'z{a,}p',
  '$V',
  '"$V"',
  '${V}',
  '$W',
  '${W:-zap}',
  '${V:+zap}',
  '${V/ls/zap}',
  '${V#x}',
  '${!U}',
  '$1',
  '"$@"',
  '$*',
  '"${A[@]}"',
  '${A[1]}',
  '$(command -v zap)',
  '$(type -P zap)',
  '"$(which zap)"',
  '$(V=zap; echo $V)',
  '${V}$IFS',
  'zap$IFS-x',
  'za$(echo p)',
  '$NONE zap',
  '"" zap',
  '$E zap',
  '~+/zap',
  'z\\\nap',
  '$"zap"',
  '$(printf "\\x7aap")',
  '"${V,,}"',
  '${L[0]}',
  '"$(rev <<< paz)"',
  'ls',
  'echo',
  'true',
  ':',
  'f',
  'g',
  'al',
  '$X',
  '"$X"',
  '${X%% *}',
);

/** Words that are data, mostly. */
const WORDS = oneOf(
  'a',
  '"a b"',
  "'zap'",
  'zap',
  '$V',
  '"$V"',
  '*',
  '"$(zap)"',
  '`zap`',
  '$(true)',
  '{a,b}',
  '-x',
  '--',
  '-n',
  '$X',
  '"x;zap"',
  '\\;',
  "'a'\\''b'",
  '${V:-$(zap)}',
  '$((1 + 1))',
  '$((1 + $(zap; echo 1)))',
  '<(zap)',
  '"a\\"b"',
  "$'a\\'b'",
  '${V:-a}',
  '#zap',
  'a#zap',
  '!zap',
  '~',
  'a=zap',
  '"`echo zap`"',
  '2>/dev/null',
  '>f',
  '>>f',
  '< /dev/null',
  '"${V:-`zap`}"',
  "${V:-'a b'}",
  '2>&1',
  '>"$(zap; echo f)"',
  '<<< "$(zap)"',
  '&>f',
  '"$("zap")"',
  '"\\$(zap)"',
);

/** Values of variables. */
const VALUES = oneOf(
  'zap',
  'ls',
  '"zap a"',
  "'zap; ls'",
  '$(echo zap)',
  '"$V"',
  '$W',
  '""',
  'a',
  '"echo zap"',
  "'$(zap)'",
  '$X',
  '-c',
  'z',
  "'a[$(zap)]'",
  '"env zap"',
  '{zap,ls}',
  '~',
  '"$(zap)"',
  '"$V$W"',
  '$1',
  '"true && zap"',
  'V',
  "'zap '",
);

const NAME = oneOf('V', 'W', 'X', 'E', 'U');

/** A text with texts of others in it. */
const template = (
  strings: TemplateStringsArray,
  ...values: readonly fc.Arbitrary<string>[]
): fc.Arbitrary<string> =>
  fc.tuple(...values).map((filled) => String.raw({ raw: strings }, ...filled));

const { list } = fc.letrec<{ list: string; command: string; simple: string; text: string }>(
  (tie) => {
    const command = tie('command');
    const inner = tie('list');
    const simple = tie('simple');
    const text = tie('text');
    return {
      list: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        simple,
        fc
          .tuple(
            fc.array(command, { minLength: 1, maxLength: 4 }),
            oneOf('; ', '\n', ' && ', ' || ', ' & '),
          )
          .map(([all, operator]) =>
            all.join(operator).replaceAll(/\n(?:; |\n| && | \|\| | & )/g, '\n'),
          ),
      ),
      command: fc.oneof(
        { maxDepth: 4, withCrossShrink: true },
        simple,
        template`${NAME}=${VALUES}`,
        template`export ${NAME}=${VALUES}`,
        template`${NAME}+=${VALUES}`,
        template`declare ${NAME}=${VALUES}`,
        template`readonly ${NAME}=${VALUES}`,
        template`unset ${NAME}`,
        template`A=(ls zap ${WORDS})`,
        template`read ${NAME} <<< ${VALUES}`,
        template`printf -v ${NAME} %s ${VALUES}`,
        template`set -- ${VALUES} ${WORDS}`,
        template`shift`,
        template`if ${command}
then ${inner}
else ${inner}
fi`,
        template`while ${simple}
do ${inner}; break; done`,
        template`for ${NAME} in ${VALUES} ${WORDS}; do ${inner}
done`,
        template`for ${NAME} in ${VALUES} ${WORDS}; do ${inner}
${oneOf('break', 'continue', 'true')}; ${inner}
done`,
        template`case ${WORDS} in a|zap) ${inner}
;; *) ${inner}
;; esac`,
        template`( ${inner}
)`,
        template`{ ${inner}
}`,
        template`! ${command}`,
        template`time ${simple}`,
        template`f() { ${inner}
}`,
        template`g() { ${inner}
return; ${inner}
}`,
        template`function al { ${inner}
}`,
        template`{ ${command}
} | { ${command}
}`,
        template`{ ${command}
} | ${oneOf('sh', 'bash', 'bash -s', 'cat', 'xargs', 'xargs -n1 env', 'xargs -I{} {}', 'while read V; do $V; done', '{ read V; $V; }')}`,
        template`echo ${VALUES} | ${oneOf('sh', 'bash -e', 'xargs', 'xargs -I{} sh -c {}', 'tee f | sh', '(cd .; sh)')}`,
        template`${oneOf('bash', 'sh', 'cat', 'bash -s a')} <<EOF
${text}
EOF
`,
        template`bash <<'EOF'
${inner}
EOF
`,
        template`sh <<< ${VALUES}`,
        template`eval ${VALUES}`,
        template`eval "${oneOf('$V', 'zap', 'V=zap', '$W $V', '\\$V', 'f', 'alias al=zap')}"`,
        template`trap ${VALUES} EXIT`,
        template`trap '${oneOf('zap', '$V', 'V=zap', 'f')}' ${oneOf('EXIT', 'DEBUG', 'ERR')}`,
        template`shopt -s expand_aliases
alias ${oneOf('al', 'ls', 'g')}=${VALUES}
${simple}`,
        template`[[ -n ${oneOf('$V', '"$(zap)"', 'zap')} && ${oneOf('$X', 'a')} -eq 0 ]]`,
        template`(( ${oneOf('V', 'X', '$(zap)', 'V = 1', 'A[$(zap; echo 0)]')} ))`,
        template`echo ${VALUES} > s; ${oneOf('sh s', '. ./s', 'bash ./s', 'chmod +x s; ./s', 'source s', 'cat s', 'cp s t; sh t', 'sh < s')}`,
        template`coproc ${simple}`,
      ),
      simple: fc.oneof(
        { maxDepth: 4 },
        template`${NAMES} ${WORDS}`,
        template`${NAMES}`,
        template`${NAME}=${VALUES} ${NAMES} ${WORDS}`,
        template`${oneOf('env', 'env -i', 'env A=b', 'env -u V', 'nohup', 'nice', 'nice -n 1', 'timeout 5', 'timeout -k 1 5', 'command', 'builtin', 'exec', 'stdbuf -oL', 'setsid -w', 'env -S', 'env V=zap', 'exec -a n', 'command -v', 'xargs', 'flock l', 'time', 'ionice -c 3')} ${NAMES} ${WORDS}`,
        template`bash -c '${oneOf('zap', '$V', '"$0"', '"$1"', '$V zap', 'f', 'echo zap')}' ${WORDS} ${NAMES}`,
        template`sh -c ${VALUES}`,
        template`bash -ec ${VALUES} a zap`,
        template`find . -maxdepth 0 -exec ${NAMES} ${WORDS} \\;`,
        template`flock l -c ${VALUES}`,
        template`${oneOf('cd sub', 'cd', 'pushd sub', 'cd -', 'true', 'false', 'echo zap', 'printf zap', 'ls zap')}`,
        template`awk 'BEGIN { ${oneOf('print 1', 'system("zap")', 'print "x" | "zap"')} }'`,
        template`sed ${oneOf('-n p', "'1e zap'", 's/a/zap/e', 's/a/b/')} <<< a`,
        template`echo ${WORDS} ${WORDS}`,
      ),
      text: fc.oneof(inner, VALUES, oneOf('$V', 'zap', '$(echo zap)', '\\$V', '`zap`')),
    };
  },
);

const BEGINNING = fc.oneof(
  fc.constant(''),
  fc
    .array(fc.tuple(NAME, VALUES), { minLength: 1, maxLength: 4 })
    .map((all) => all.map(([name, value]) => `${name}=${value}\n`).join('')),
  oneOf(
    'V=ls; W=zap; X="a b"; E=\n',
    'V=zap W= X=ls\nE=\nf() { "$@"; }\n',
    'set -- zap ls\nV=ls\nW=V\n',
  ),
);

/** Texts for a shell that may start the stand-in, in any of the ways that a shell has. */
export const shellTexts: fc.Arbitrary<string> = fc
  .tuple(BEGINNING, list)
  .map(([beginning, rest]) => beginning + rest);
