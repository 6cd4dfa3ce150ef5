// An empty variable counts as not set: compose files and manifests leave a variable out that way.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import Joi from 'joi';
import { readEnv } from '#libs/service/env.ts';

const folder = mkdtempSync(join(tmpdir(), 'billhook-env-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'address');
writeFileSync(file, 'from the file\n');
const shape = Joi.object({ ADDRESS: Joi.string().default('none') });

test('when one of a variable and its file is empty, then the other one counts', () => {
  expect(readEnv({ ADDRESS: '', ADDRESS_FILE: file }, shape)).toEqual({ ADDRESS: 'from the file' });
  expect(readEnv({ ADDRESS: 'given', ADDRESS_FILE: '' }, shape)).toEqual({ ADDRESS: 'given' });
  expect(readEnv({ ADDRESS: '', ADDRESS_FILE: '' }, shape)).toEqual({ ADDRESS: 'none' });
});

test('when both are given, then it is an error', () => {
  expect(() => readEnv({ ADDRESS: 'given', ADDRESS_FILE: file }, shape)).toThrow('both set');
});

test('when only a variable of another service is misspelt, then it is an error', () => {
  const read = () => readEnv({ RENDER_CONCURENCY: '2' }, Joi.object({ LOG_LEVEL: Joi.string() }));

  expect(read).toThrow(/RENDER_CONCURENCY is not a variable of Billhook/);
});
