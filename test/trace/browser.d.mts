import type { Browser } from 'playwright-core';

export const chromiumPath: string | undefined;
export function launchChromium(): Promise<Browser>;
