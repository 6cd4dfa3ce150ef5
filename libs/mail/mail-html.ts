// A mail as an HTML page that mail programs understand: one column, styles in one place, light and dark, in both directions.
import { escape as escaped } from 'es-toolkit/string/escape';
import { intlLocale } from '../profile-forms.ts';
import { mailLanguage } from './standard-texts.ts';

export interface MailIssuer {
  name: string;
  /** The postal address, with line breaks. */
  address?: string;
  /** The colour of the account, in hex. */
  color?: string;
  isTest: boolean;
}

interface MailPage {
  subject: string;
  /** The text as HTML that is harmless. */
  body: string;
  /** The link under the text. */
  link?: { url: string; label: string } | undefined;
  /** The ways to pay as HTML, see waysHtml. */
  ways?: string | undefined;
  issuer: MailIssuer;
  locale: string;
}

const HEX = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i;
const STANDARD_COLOR = '#1f2937';

/**
 * Returns the style sheet. Mail programs load no fonts and no other styles. A line in the colour of the account is the only decoration: text in it
 * could not be read on every background.
 */
function styles(color: string): string {
  return `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:0;background:#f3f4f6;color:#111827;-webkit-text-size-adjust:100%}
.page{max-width:600px;margin:0 auto;padding:24px 16px}
.card{background:#ffffff;border-top:4px solid ${color};border-radius:4px;padding:24px 28px 28px;font:16px/1.55 -apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Noto Sans","Hiragino Sans","Yu Gothic",sans-serif;overflow-wrap:anywhere}
.card h2,.card h3,.card h4{line-height:1.3;margin:24px 0 8px}
.card p{margin:0 0 16px}
.card a{color:inherit}
.card .open a{display:inline-block;border:2px solid ${color};border-radius:4px;padding:8px 20px;font-weight:600;text-decoration:none}
.card table{border-collapse:collapse;margin:0 0 16px}
.card th,.card td{border-bottom:1px solid #d1d5db;padding-block:4px;padding-inline:0 12px;text-align:start;vertical-align:top}
.card .pay{border-top:1px solid #d1d5db;margin-top:24px}
.card pre{white-space:pre-wrap}
.card blockquote{margin:0 0 16px;padding-inline-start:12px;border-inline-start:3px solid #d1d5db}
.name{font-weight:600;margin:0 0 20px}
.foot{unicode-bidi:plaintext;text-align:start;font:13px/1.5 -apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;color:#4b5563;padding:16px 28px;white-space:pre-line}
.test{background:#fef3c7;color:#78350f;padding:4px 10px;border-radius:4px;display:inline-block;margin:0 0 16px;font-weight:600}
@media (max-width:480px){.page{padding:0}.card{padding:20px 18px 24px;border-radius:0}.foot{padding:16px 18px}}
@media (prefers-color-scheme:dark){body{background:#0b0f17;color:#e5e7eb}.card{background:#161c27}.card th,.card td{border-color:#374151}.card blockquote,.card .pay{border-color:#374151}.foot{color:#9ca3af}.test{background:#78350f;color:#fef3c7}}
`.trim();
}

export function mailHtml({ subject, body, link, ways = '', issuer, locale }: MailPage): string {
  const { name, address, color, isTest } = issuer;
  const direction = mailLanguage(locale) === 'ar' ? 'rtl' : 'ltr';
  const foot = [name, address].filter(Boolean).join('\n');
  return `<!doctype html>
<html lang="${escaped(intlLocale(locale))}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(subject)}</title>
<style>${styles(color && HEX.test(color) ? color : STANDARD_COLOR)}</style>
</head>
<body dir="${direction}">
<div class="page">
<div class="card">
${isTest ? '<div class="test">TEST</div>\n' : ''}<div class="name">${escaped(name)}</div>
${body}${link ? `<p class="open"><a href="${escaped(link.url)}">${escaped(link.label)}</a></p>\n` : ''}${ways}</div>
<div class="foot">${escaped(foot)}</div>
</div>
</body>
</html>
`;
}
