import type { Harness } from 'hookstack/conformance';
import { aiHarness } from './aiHarness.js';

/** The columns of the table in docs/hosts/README.md, in order. */
export const harnesses: readonly Harness[] = [aiHarness(7), aiHarness(6)];
