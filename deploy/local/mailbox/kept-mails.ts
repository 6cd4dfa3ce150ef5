// The mails in the data folder, a file each. The oldest go when there are too many.
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface KeptMails {
  keep(source: Buffer): Promise<void>;
  ids(): string[]; // the newest first
  read(id: string): Promise<Buffer | undefined>;
}

const KEPT_MAX = 100;
const ID = /^\d{13}-[0-9a-f]{8}$/;
const OWNER_ONLY = 0o600;

export async function openKeptMails(folder: string): Promise<KeptMails> {
  await mkdir(folder, { recursive: true });
  const fileOf = (id: string) => join(folder, `${id}.eml`);
  const found = (await readdir(folder)).map((name) => name.replace(/\.eml$/, '')).filter((id) => ID.test(id));
  const ids = found.sort().reverse();

  return {
    ids: () => ids,
    async keep(source) {
      const id = `${String(Date.now()).padStart(13, '0')}-${randomBytes(4).toString('hex')}`;
      await writeFile(`${fileOf(id)}.new`, source, { mode: OWNER_ONLY });
      await rename(`${fileOf(id)}.new`, fileOf(id));
      ids.unshift(id);
      for (const old of ids.splice(KEPT_MAX)) await rm(fileOf(old), { force: true });
    },
    async read(id) {
      // An id that is not in the list could name any file.
      return ids.includes(id) ? readFile(fileOf(id)).catch(() => undefined) : undefined;
    },
  };
}
