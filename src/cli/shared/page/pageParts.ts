import { createHash } from 'node:crypto';
import common from './common.css?raw';

/** The style of a page: what all pages have in common, and then its own. */
export function styleOf(own: string): string {
  return `${common}\n${own}`;
}

/** Names a script, or a style, in a Content-Security-Policy. */
export function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
