import behaviour from './page/page.js?raw';
import summary from './page/summary.js?raw';
import ownStyle from './page/page.css?raw';
import template from './page/page.html?raw';
import { hashOf, styleOf } from '../shared/page/pageParts.js';
import type { StorySpan } from './story.js';

const style = styleOf(ownStyle);
const script = `${summary}\n${behaviour}`;

/**
 * Loads nothing and runs no script but its own, whatever the spans say.
 *
 * @param replay a command that lacks only the id of an event to fire it again
 */
export function renderPage(story: readonly StorySpan[], name: string, replay?: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  // Can neither end its element nor be taken for markup.
  const data = JSON.stringify({ name, replay, spans: story }).replaceAll('<', String.raw`\u003c`);
  const parts: Record<string, string> = {
    POLICY: policy,
    '<!-- style -->': `<style>${style}</style>`,
    '<!-- data -->': `<script id="data" type="application/json">${data}</script>`,
    '<!-- script -->': `<script type="module">${script}</script>`,
  };
  // In one pass: inserted text is not searched for marks.
  return template.replaceAll(/POLICY|<!-- \w+ -->/g, (mark) => parts[mark] ?? mark);
}
