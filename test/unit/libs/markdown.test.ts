// Markdown that is made to be slow is stopped, and delays no other document.
import { afterAll, expect, test } from '@jest/globals';
import { openMarkdown } from '#libs/markdown/markdown.ts';
import { canDraw } from '../../../services/renderer/fonts/glyphs.ts';

// On a busy machine two seconds of processor time can take longer than the 15 s of the service.
const markdown = openMarkdown({ patienceMs: 120_000 });
afterAll(() => markdown.close());

const limits = (deadlineMs = 120_000, signal = new AbortController().signal) => ({
  deadlineAt: Date.now() + deadlineMs,
  signal,
});
const toHtml = (text: string) => markdown.toHtml(text, limits());

/** Takes minutes: every pair of asterisks searches for its end. */
const SLOW = 'a**b'.repeat(300_000);

test('when one text keeps the thread busy, then it is rejected after two seconds, and those behind it are laid out or end in time', async () => {
  const ends: unknown[] = [];
  const caller = new AbortController();
  const gone = new Error('gone');
  const note = (end: unknown) => ends.push(end);
  const all = [
    toHtml(SLOW).catch(note),
    markdown.toHtml('late', limits(100)).catch(note),
    markdown.toHtml('unwanted', limits(120_000, caller.signal)).catch(note),
    ...Array.from({ length: 5 }, (_none, index) => toHtml(`**${index}**`).then(note)),
  ];
  caller.abort(gone);
  await Promise.all(all);

  expect(ends).toEqual([
    gone,
    expect.objectContaining({ status: 504 }),
    expect.objectContaining({ status: 422 }),
    ...Array.from({ length: 5 }, (_none, index) => `<p><strong>${index}</strong></p>\n`),
  ]);
});

test('when headings, links and raw HTML are given, then only allowed elements and attributes remain', async () => {
  const html = await toHtml(
    '# A\n\n<div onclick="x()" style="position:fixed" class="banner" id="a">b</div>\n\n[c](javascript:d) [e](https://f.example "g") ![h](https://i.example)',
  );

  expect(html).toContain('<h2>A</h2>');
  expect(html).toContain('<a href="https://f.example">e</a>');
  expect(html).toContain('<span class="picture">h</span>');
  expect(html).not.toMatch(/onclick|style=|banner|id=|javascript|<img|<div/);
});

test('when there are footnotes, then they are numbered as they are referred to, and stand at the end', async () => {
  const html = await toHtml('A[^z] b[^a] c[^z] d[^none]\n\n[^a]: First *a*\n\nText\n\n[^z]: Then\nz\n\n[^a]: again');

  expect(html).toBe(
    '<p>A<sup>1</sup> b<sup>2</sup> c<sup>1</sup> d[^none]</p>\n<p>Text</p>\n<hr /><ol><li>Then<br />z</li><li>First <em>a</em></li></ol>',
  );
  expect(await toHtml('A[^z]')).toBe('<p>A[^z]</p>\n');
});

test('when a task has a box, then it has no bullet', async () => {
  expect(await toHtml('- [x] done\n- other')).toContain('<li class="task">☑ done</li>\n<li>other</li>');
});

test('when there is a task list, then what is done is marked in characters that are printed, and raw fields are not', async () => {
  const html = await toHtml(
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
