// The floor of the document benchmark survives a browser that dies.
import { expect, jest, test } from '@jest/globals';
import { htmlOf, openPdfFloor } from '../../../lab/bench/pdf-floor.ts';

test('when its browser is killed, then it says so, starts one other and prints the requested documents', async () => {
  const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const floor = await openPdfFloor(String(process.env['TEST_CHROMIUM_PATH']), 2);
  const html = htmlOf(8);
  try {
    await Promise.all([floor.print(0, html), floor.print(1, html)]);
    const { pid } = floor;
    const printed = Promise.all([floor.print(0, html), floor.print(1, html)]);
    process.kill(pid, 'SIGKILL');

    for (const pdf of [...(await printed), await floor.print(0, html)])
      expect(String(pdf.subarray(0, 5))).toBe('%PDF-');
    expect(floor.pid).not.toBe(pid);
    expect(floor.starts).toBe(2);
    expect(stderr.mock.calls.map(([line]) => line)).toEqual([
      expect.stringContaining(`Chromium ${pid} of the floor has ended`),
    ]);
  } finally {
    stderr.mockRestore();
    await floor.close();
  }
});
