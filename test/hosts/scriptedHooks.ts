import type { HookOutput } from 'hookstack';

/** A hook that answers this. What it answers is in its environment: nothing is quoted. */
export function answering(answer: HookOutput | Record<string, unknown>, command?: string) {
  return {
    type: 'command' as const,
    name: 'scripted',
    command: command ?? `cat > /dev/null; printf '%s' "$ANSWER"`,
    env: { ANSWER: JSON.stringify(answer) },
  };
}

/** A hook that has nothing to say. */
export const nothing = answering({});
