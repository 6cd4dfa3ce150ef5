// Changing SECRET_KEY as docs/secure.md says: secrets of the old key stay readable, new ones are sealed with the new key.
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { openSecretBox } from '#libs/secret-box.ts';

const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
const before = openSecretBox(old as string);
const during = openSecretBox(`${fresh},${old}`);
const after = openSecretBox(fresh as string);

test('when a new key is put in front, then both old and new secrets are read', () => {
  expect(during.open(before.seal('whsec_old'))).toBe('whsec_old');
  expect(during.open(during.seal('whsec_new'))).toBe('whsec_new');
});

test('when the old key is taken away, then what was sealed since is read and what was sealed before is not', () => {
  expect(after.open(during.seal('whsec_new'))).toBe('whsec_new');
  expect(() => after.open(before.seal('whsec_old'))).toThrow('No key of SECRET_KEY');
});
