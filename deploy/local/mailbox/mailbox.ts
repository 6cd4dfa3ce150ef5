// The mailbox of `npm start`: an SMTP server that sends nothing on, and the pages that show the mail it got.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import getPort from 'get-port';
import { readPrivate, writePrivately } from '../data-folder.ts';
import { openKeptMails } from './kept-mails.ts';
import { startSmtpServer } from './smtp-server.ts';

export interface Mailbox {
  url: string; // shows the mails; its token grants read access
  smtpUrl: string; // for the mail service
  close(): Promise<void>;
}

interface Place {
  port: number;
  token: string;
}

const TOKEN = /^[\w-]{32}$/;

// Starts both servers. The pages keep their address from one start to the next.
export async function startMailbox(dataFolder: string): Promise<Mailbox> {
  const file = join(dataFolder, 'mailbox.json');
  const last = await readPrivate<Place>(file);
  const token = TOKEN.test(last.token ?? '') ? (last.token as string) : randomBytes(24).toString('base64url');
  const mails = await openKeptMails(join(dataFolder, 'mail'));
  const smtp = await startSmtpServer((source) => mails.keep(source));
  const port = await getPort({ host: '127.0.0.1', ...(last.port ? { port: last.port } : {}) });
  const pages = createServer((request, response) => {
    // The parser of mails and the pages are loaded with the first page, because a start should not wait for them.
    import('./pages.ts')
      .then(({ answer }) => answer({ mails, token }, request, response))
      .catch(() => response.destroy());
  });
  await once(pages.listen(port, '127.0.0.1'), 'listening');
  const { port: taken } = pages.address() as AddressInfo; // A TCP server.
  await writePrivately(file, { port: taken, token } satisfies Place);
  return {
    url: `http://127.0.0.1:${taken}/${token}/`,
    smtpUrl: smtp.url,
    async close() {
      pages.closeAllConnections();
      await Promise.all([smtp.close(), new Promise((resolve) => pages.close(resolve))]);
    },
  };
}
