import { describe, expect, it, vi } from 'vitest';
import { Notices } from '../../../src/cli/serve/notices.js';

describe('Notices', () => {
  it('tells the first of a kind at once, and the last of those that come too soon', async () => {
    const lines: string[] = [];
    const notices = new Notices((label, text) => lines.push(`${label}: ${text}`), 50);
    notices.tell('warning', 'nats', 'lost');
    notices.tell('warning', 'full', 'another kind');
    notices.tell('warning', 'nats', 'lost again');
    notices.tell('note', 'nats', 'back');
    expect(lines).toEqual(['warning: lost', 'warning: another kind']);
    await vi.waitFor(() => expect(lines).toHaveLength(3));
    expect(lines[2]).toBe('note: back (and 1 more before)');
    notices.tell('warning', 'full', 'once more');
    await vi.waitFor(() => expect(lines[3]).toBe('warning: once more'));
  });
});
