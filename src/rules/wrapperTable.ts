/** How a program's words name what it starts. */
export interface Wrapper {
  /** Short options whose value is a word of its own, or the rest of theirs. */
  readonly takes?: string;
  /** Short options whose value, if any, is the rest of their word. */
  readonly may?: string;
  /** Long options whose value may be a word of its own. */
  readonly long?: string;
  /** Operands before the command; several counts where systems differ. */
  readonly skip?: number;
  /** The first operand must be one of these: `npm exec`. */
  readonly after?: string;
  /** Whether `NAME=value` may stand before the command. */
  readonly assigns?: true;
  /** Options whose value is a text for a shell, also after the operands. */
  readonly text?: string;
  /** Options whose value is the folder where the command runs. */
  readonly directory?: string;
  /** Whether the words are joined to a text for a shell. */
  readonly joins?: true;
  /** For another user, or machine, or below another root. */
  readonly elsewhere?: true;
  /** Options with which nothing is started. */
  readonly not?: string;
  /** What it starts without a command. */
  readonly otherwise?: 'shell';
}

const TRACER: Wrapper = { takes: 'abeEIoOpPsSuUXADFlnw', long: '' };
const SUDO: Wrapper = {
  takes: 'CDghpRrTtUua',
  long: 'chdir chroot close-from command-timeout group host other-user prompt role type user',
  assigns: true,
  directory: 'D chdir',
  elsewhere: true,
};
const RUNNER: Wrapper = {
  takes: 'pw',
  may: 'c',
  long: 'package prefix filter python with from',
  text: 'c call shell-mode',
};

/** The programs that start the command which their words are. */
export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    sudo: SUDO,
    doas: { takes: 'aCu', elsewhere: true },
    pkexec: { long: 'user', elsewhere: true },
    env: {
      takes: 'uCP',
      long: 'unset chdir',
      assigns: true,
      directory: 'C chdir',
    },
    xargs: {
      takes: 'adEILnPsJRS',
      may: 'eil',
      long: 'arg-file delimiter max-args max-procs max-chars process-slot-var',
    },
    nohup: {},
    timeout: { takes: 'ks', long: 'kill-after signal', skip: 1 },
    gtimeout: { takes: 'ks', long: 'kill-after signal', skip: 1 },
    nice: { takes: 'n', long: 'adjustment' },
    ionice: { takes: 'cnpPu', long: 'class classdata pid pgid uid' },
    chrt: { takes: 'TPDp', long: 'sched-runtime sched-period sched-deadline pid', skip: 1 },
    taskset: { takes: 'p', skip: 1 },
    time: { takes: 'fo', long: 'format output' },
    command: { not: 'v V' },
    builtin: {},
    exec: { takes: 'a' },
    noglob: {},
    nocorrect: {},
    jobs: { takes: 'x' },
    stdbuf: { takes: 'ioe', long: 'input output error' },
    setsid: {},
    setpriv: {
      long: 'ambient-caps inh-caps bounding-set ruid euid rgid egid reuid regid groups securebits pdeathsig selinux-label apparmor-profile',
    },
    chroot: { long: '', skip: 1, elsewhere: true },
    watch: { takes: 'nq', may: 'd', long: 'interval equexit', joins: true },
    flock: { takes: 'wE', long: 'wait timeout conflict-exit-code', skip: 1, text: 'c command' },
    su: {
      takes: 'gGsTw',
      long: 'group supp-group shell whitelist-environment',
      text: 'c command session-command',
      skip: 1,
      elsewhere: true,
      otherwise: 'shell',
    },
    runuser: {
      takes: 'gGsTwu',
      long: 'group supp-group shell whitelist-environment user',
      text: 'c command session-command',
      elsewhere: true,
      otherwise: 'shell',
    },
    script: {
      takes: 'EIOBTmot',
      long: 'echo log-in log-out log-io log-timing logging-format output-limit',
      text: 'c command',
      skip: 1,
      otherwise: 'shell',
    },
    strace: TRACER,
    ltrace: TRACER,
    unshare: {
      takes: 'GSRw',
      may: 'imnpuUCT',
      long: 'root wd setuid setgid setgroups propagation map-user map-group map-users map-groups monotonic boottime',
      elsewhere: true,
      otherwise: 'shell',
    },
    nsenter: {
      takes: 'tSG',
      may: 'imnpuUCTrwe',
      long: 'target setuid setgid',
      elsewhere: true,
      otherwise: 'shell',
    },
    busybox: {},
    toybox: {},
    parallel: {
      takes: 'jNnLPsSIaCdEA',
      long: 'jobs max-args max-procs delay timeout colsep joblog results sshlogin retries arg-file delimiter tagstring workdir',
      joins: true,
    },
    ssh: { takes: 'BbcDEeFIiJLlmOopQRSWw', skip: 1, joins: true, elsewhere: true },
    npx: RUNNER,
    bunx: RUNNER,
    uvx: RUNNER,
    npm: { ...RUNNER, after: 'exec x' },
    pnpm: { ...RUNNER, after: 'exec dlx' },
    yarn: { ...RUNNER, after: 'exec dlx' },
    bun: { ...RUNNER, after: 'x' },
    uv: { ...RUNNER, after: 'run' },
    poetry: { ...RUNNER, after: 'run' },
    pipenv: { ...RUNNER, after: 'run' },
    pipx: { ...RUNNER, after: 'run' },
    bundle: { after: 'exec' },
    direnv: { after: 'exec', skip: 1 },
    systemd: {},
    'systemd-run': {
      takes: 'HMpEGru',
      long: 'unit property description slice uid gid nice setenv working-directory',
      elsewhere: true,
    },
    'cross-env': { assigns: true },
    chronic: {},
    ifne: {},
    caffeinate: { takes: 'tw' },
    arch: { takes: 'ed' },
    linux32: {},
    linux64: {},
    setarch: { skip: 1 },
    faketime: { takes: 'fp', skip: 1 },
    fakeroot: { takes: 'lisb', long: 'lib faked' },
    proot: { takes: 'rbqwkv', elsewhere: true },
    valgrind: {},
    coreutils: {},
    entr: {},
    unbuffer: {},
    rlwrap: {},
    dotenv: { takes: 'efpv' },
    screen: { takes: 'cehpsStT', may: 'dD' },
    hyperfine: { takes: 'wmMrpcnNSLPDs', joins: true },
  }),
);
