// The mailbox of `npm start`: an SMTP server that sends nothing on, and the pages that show the mail it got.
import { join } from 'node:path';
import { readPrivate, writePrivately } from '../data-folder.ts';
import { type Place, servePrivately } from '../private-pages.ts';
import { openKeptMails } from './kept-mails.ts';
import { startSmtpServer } from './smtp-server.ts';

export interface Mailbox {
  url: string; // shows the mails; its token grants read access
  smtpUrl: string; // for the mail service
  close(): Promise<void>;
}

// Starts both servers. The pages keep their address from one start to the next.
export async function startMailbox(dataFolder: string): Promise<Mailbox> {
  const file = join(dataFolder, 'mailbox.json');
  const mails = await openKeptMails(join(dataFolder, 'mail'));
  const smtp = await startSmtpServer((source) => mails.keep(source));
  const pages = await servePrivately('mailbox', await readPrivate<Place>(file), async (request, path) => {
    if (request.method !== 'GET') return { status: 404, body: 'The pages of the mailbox are only read\n' };
    // The parser of mails and the pages are loaded with the first page, because a start should not wait for them.
    const { pageOf } = await import('./pages.ts');
    return pageOf(mails, path);
  });
  await writePrivately(file, pages.place);
  return {
    url: `${pages.url}/`,
    smtpUrl: smtp.url,
    close: async () => void (await Promise.all([smtp.close(), pages.close()])),
  };
}
