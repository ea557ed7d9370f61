/** @returns what fits a pattern as a whole, in which `*` is any text */
export function wildcards(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w]/gu, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}
