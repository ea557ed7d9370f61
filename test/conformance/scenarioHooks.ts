import type { HookOutput } from '../../src/protocol/types.js';

/** Where the hooks of scenarios write down what they read: an environment variable. */
export const READ_DIR = 'HOOKSTACK_CONFORMANCE_READ';

/** Where a hook that waits writes down which process it is. */
export const WAITING_FILE = 'waiting.pid';

const NOTE = `cat > "$(mktemp "$${READ_DIR}/XXXXXX")"`;

/** A hook that notes what it reads and answers this. What it answers is in its environment: nothing is quoted. */
export function answering(answer: HookOutput | Record<string, unknown>) {
  return {
    type: 'command' as const,
    name: 'scenario',
    command: `${NOTE}; printf '%s' "$ANSWER"`,
    env: { ANSWER: JSON.stringify(answer) },
  };
}

/** A hook that notes what it reads and fails. */
export function failing(onFailure: 'allow' | 'deny') {
  const command = `${NOTE}; echo 'It broke.' >&2; exit 1`;
  return { type: 'command' as const, name: 'broken', command, onFailure };
}

/** A hook that notes which process it is and what it reads, and never answers. */
export function waiting() {
  return {
    type: 'command' as const,
    name: 'waiting',
    command: `echo $$ > "$${READ_DIR}/../${WAITING_FILE}"; ${NOTE}; exec sleep 600`,
    timeout: 20_000,
  };
}

/** A hook that notes what it reads, and sends an agent back to work, once. */
export function objecting(reason: string) {
  const hook = answering({ decision: 'block', reason });
  const command = `INPUT=$(cat); printf '%s' "$INPUT" | { ${NOTE}; }; case "$INPUT" in *'"stop_hook_active":true'*) ;; *) printf '%s' "$ANSWER" ;; esac`;
  return { ...hook, command };
}

/** One group with one hook. */
export function group<H>(hook: H, fields: { matcher?: string; dialect?: 'claude' } = {}) {
  return [{ ...fields, hooks: [hook] }];
}
