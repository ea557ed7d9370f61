import { expect } from 'vitest';

/** Compares text with a pattern in which `…` stands for anything, line breaks too. */
export function matchText(expected: string): unknown {
  return expect.stringMatching(new RegExp(`^${toPatternSource(expected, '[^]*')}$`));
}

/** The source of a regular expression for a text in which `…` stands for what `anything` matches. */
export function toPatternSource(expected: string, anything: string): string {
  return expected.split('…').map(escapeForPattern).join(anything);
}

function escapeForPattern(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
