import type { Harness } from '../conformance/conformance.js';
import { adkHarness } from './adkHarness.js';
import { aiHarness } from './aiHarness.js';
import { claudeCodeHarness } from './claudeCodeHarness.js';
import { claudeHarness } from './claudeHarness.js';
import { geminiHarness } from './geminiHarness.js';
import { langchainHarness } from './langchainHarness.js';
import { mcpHarness } from './mcpHarness.js';
import { openaiHarness } from './openaiHarness.js';

/** The hosts in docs/hosts/README.md, by section, in order. */
export const tables: Readonly<Record<string, readonly Harness[]>> = {
  libraries: [
    aiHarness(7),
    aiHarness(6),
    langchainHarness,
    adkHarness,
    openaiHarness,
    claudeHarness,
  ],
  programs: [mcpHarness, claudeCodeHarness, geminiHarness],
};
