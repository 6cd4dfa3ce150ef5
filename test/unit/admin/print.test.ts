// Stored text on the command line: terminal control characters are escaped, in tables and in JSON.
import { afterEach, expect, jest, test } from '@jest/globals';
import { printRecord, printTable } from '../../../services/admin/print.ts';

const written: string[] = [];
const spy = jest.spyOn(process.stdout, 'write');
afterEach(() => {
  spy.mockReset();
  written.length = 0;
});

const name = 'ok\u009b31m\u202eevil\u2069\u001b[0m\nend';

test.each([true, false])('when a stored name holds controls (as JSON: %s), then they are escaped', (asJson) => {
  spy.mockImplementation((text) => written.push(String(text)) > 0);

  printRecord({ name }, asJson);
  printTable([{ name }], asJson);
  const text = written.join('');
  spy.mockReset();

  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(text).toContain('\\u009b31m\\u202eevil');
  if (asJson) expect(JSON.parse(written[0] ?? '')).toEqual({ name });
});
