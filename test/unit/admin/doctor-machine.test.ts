// Findings of `admin doctor` about the machine it runs on.
import { expect, test } from '@jest/globals';
import { examineChromium } from '../../../services/admin/doctor-machine.ts';

test('when no renderer runs here, as in the admin image, then Chromium is not mentioned', async () => {
  expect(await examineChromium(undefined)).toEqual([]);
});

test('when CHROMIUM_PATH names no browser, then that is a problem', async () => {
  expect(await examineChromium('/no/such/chromium')).toMatchObject([{ status: 'problem', check: 'Chromium' }]);
});
