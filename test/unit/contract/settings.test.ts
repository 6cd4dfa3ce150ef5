// Every setting of an account is either one that changes no response of the specification, or named as one that does.
import { expect, test } from '@jest/globals';
import { accountChanges } from '../../../services/gateway/account/input.ts';
import { CHANGES_ANSWERS, EVERY_SETTING } from '../../support/contract/every-setting.ts';

test('when an account gains a setting, then the contract suite runs with it, or says why not', () => {
  const { keys } = accountChanges.describe() as { keys: Record<string, unknown> };

  expect([...Object.keys(EVERY_SETTING), ...CHANGES_ANSWERS].toSorted()).toEqual(Object.keys(keys).toSorted());
});
