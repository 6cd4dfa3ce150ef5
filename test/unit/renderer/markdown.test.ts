// Markdown that is made to be slow is stopped, and delays no other document.
import { afterAll, describe, expect, test } from '@jest/globals';
import { openMarkdown } from '../../../services/renderer/document/markdown.ts';
import { canDraw } from '../../../services/renderer/fonts/glyphs.ts';

// On a busy machine two seconds of processor time can take longer than the 15 s of the service.
const markdown = openMarkdown({ patienceMs: 120_000 });
afterAll(() => markdown.close());

/** Takes minutes: every pair of asterisks searches for its end. */
const SLOW = 'a**b'.repeat(300_000);

describe('when one text keeps the thread busy', () => {
  test('then it is rejected after two seconds, and those behind it are laid out', async () => {
    const slow = markdown.toHtml(SLOW).catch((error: unknown) => error);
    const behind = await Promise.all(Array.from({ length: 5 }, (_none, index) => markdown.toHtml(`**${index}**`)));

    expect(behind.map((html) => html.trim())).toEqual(
      Array.from({ length: 5 }, (_none, index) => `<p><strong>${index}</strong></p>`),
    );
    expect(await slow).toMatchObject({ status: 422 });
  });
});

test('when headings, links and raw HTML are given, then only allowed elements and attributes remain', async () => {
  const html = await markdown.toHtml(
    '# A\n\n<div onclick="x()" style="position:fixed" class="banner" id="a">b</div>\n\n[c](javascript:d) [e](https://f.example "g") ![h](https://i.example)',
  );

  expect(html).toContain('<h2>A</h2>');
  expect(html).toContain('<a href="https://f.example">e</a>');
  expect(html).toContain('<span class="picture">h</span>');
  expect(html).not.toMatch(/onclick|style=|banner|id=|javascript|<img|<div/);
});

test('when there are footnotes, then they are numbered as they are referred to, and stand at the end', async () => {
  const html = await markdown.toHtml(
    'A[^z] b[^a] c[^z] d[^none]\n\n[^a]: First *a*\n\nText\n\n[^z]: Then\nz\n\n[^a]: again',
  );

  expect(html).toBe(
    '<p>A<sup>1</sup> b<sup>2</sup> c<sup>1</sup> d[^none]</p>\n<p>Text</p>\n<hr /><ol><li>Then<br />z</li><li>First <em>a</em></li></ol>',
  );
  expect(await markdown.toHtml('A[^z]')).toBe('<p>A[^z]</p>\n');
});

test('when a task has a box, then it has no bullet', async () => {
  expect(await markdown.toHtml('- [x] done\n- other')).toContain('<li class="task">☑ done</li>\n<li>other</li>');
});

test('when there is a task list, then what is done is marked in characters that are printed, and raw fields are not', async () => {
  const html = await markdown.toHtml(
    '- [x] done\n- [ ] open\n  - [x] below\n\n1. [ ] first\n\n   apart\n\n<input type="checkbox" checked> raw',
  );

  expect(
    html
      .replaceAll(/<[^>]*>|\n/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim(),
  ).toBe('☑ done ☐ open ☑ below ☐ first apart raw');
  expect(html).not.toContain('<input');
  expect(canDraw('☑☐')).toBe(true);
});
