import type { ShellWord } from './types.js';

/** Programs with options before a subcommand; the expression is of those that have the next word as a value. */
const GLOBAL_OPTIONS: Readonly<Record<string, RegExp>> = {
  git: /^(?:-[Cc]|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix)$/,
  docker: /^(?:-[cHl]|--config|--context|--host|--log-level|--tls\w+)$/,
  podman: /^(?:-[cHlr]|--connection|--log-level|--root|--runroot|--url)$/,
  kubectl:
    /^(?:-[nsv]|--namespace|--context|--cluster|--kubeconfig|--server|--token|--user|--as|--request-timeout)$/,
  helm: /^(?:-n|--namespace|--kube-context|--kubeconfig)$/,
  npm: /^(?:-C|-w|--prefix|--workspace|--registry|--userconfig|--loglevel)$/,
  pnpm: /^(?:-[CF]|--dir|--filter)$/,
  yarn: /^(?:--cwd)$/,
  cargo: /^(?:-C|-Z|--config|--color|--manifest-path)$/,
  terraform: /^$/,
  aws: /^--(?:profile|region|output|endpoint-url|query|color|cli-\w+-timeout)$/,
  gcloud: /^--(?:project|account|configuration|format|verbosity)$/,
  gh: /^(?:-R|--repo)$/,
  systemctl: /^(?:-[HM]|--host|--machine)$/,
  pip: /^--(?:python|log|proxy|timeout|cache-dir)$/,
  uv: /^--(?:directory|project|config-file|color|cache-dir)$/,
  go: /^-C$/,
  make: /^$/,
};

/** At which of its words the subcommand of a program stands; 0 for a program that is known to have none. */
export function subcommandAt(program: string, words: readonly ShellWord[]): number {
  const valued = Object.hasOwn(GLOBAL_OPTIONS, program) ? GLOBAL_OPTIONS[program] : undefined;
  if (!valued) return 0;
  let at = 0;
  for (let text = words[at]?.values?.[0]; text?.startsWith('-'); text = words[at]?.values?.[0]) {
    at += valued.test(text) ? 2 : 1;
  }
  return at;
}
