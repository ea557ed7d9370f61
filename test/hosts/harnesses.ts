import type { Harness } from 'hookstack/conformance';
import { adkHarness } from './adkHarness.js';
import { aiHarness } from './aiHarness.js';
import { claudeCodeHarness } from './claudeCodeHarness.js';
import { claudeHarness } from './claudeHarness.js';
import { langchainHarness } from './langchainHarness.js';
import { mcpHarness } from './mcpHarness.js';
import { openaiHarness } from './openaiHarness.js';

/** The columns of the table in docs/hosts/README.md, in order. */
export const harnesses: readonly Harness[] = [
  aiHarness(7),
  aiHarness(6),
  langchainHarness,
  adkHarness,
  openaiHarness,
  claudeHarness,
  mcpHarness,
  claudeCodeHarness,
];
