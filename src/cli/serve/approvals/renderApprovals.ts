import { hashOf, styleOf } from '../../shared/page/pageParts.js';
import behaviour from './page/page.js?raw';
import ownStyle from './page/page.css?raw';
import template from './page/page.html?raw';

/** Loads nothing from elsewhere, and runs no script but its own. What it shows comes later, as data. */
export function renderApprovals(): { readonly html: string; readonly policy: string } {
  return PAGE;
}

const style = styleOf(ownStyle);

const PAGE = {
  html: template
    .replace('<!-- style -->', () => `<style>${style}</style>`)
    .replace('<!-- script -->', () => `<script type="module">${behaviour}</script>`),
  policy: [
    "default-src 'none'",
    `script-src '${hashOf(behaviour)}'`,
    `style-src '${hashOf(style)}'`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
};
