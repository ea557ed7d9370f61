import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { DESCRIPTOR_HEADROOM } from './limits.js';

/**
 * Makes sure that a child can be started without running out of file descriptors half-way.
 *
 * @throws the system's error (EMFILE or ENFILE) when there are too few
 */
export function assertDescriptorHeadroom(): void {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < DESCRIPTOR_HEADROOM) descriptors.push(openSync(devNull, 'r'));
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}
