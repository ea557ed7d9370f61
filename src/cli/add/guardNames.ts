/** What `hookstack add` knows, in the order of its list; for the help and the completion, which load none of it. */
export const GUARD_NAMES = [
  'protect-secrets',
  'protect-git',
  'protect-delete',
  'stay-in-project',
  'no-network',
  'protect-deploy',
  'ask-before-install',
  'format-after-edit',
  'audit-log',
  'budget',
] as const;

export function isGuardName(name: string): boolean {
  return GUARD_NAMES.some((each) => each === name);
}
