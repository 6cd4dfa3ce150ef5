// A host of pictures on this machine, which answers as the test wishes.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PictureHost {
  /** How it answers from now on. */
  answer: RequestListener;
  /** The paths it was asked for; a test may begin anew with none. */
  asked: string[];
  /** A new one each time: what is remembered of another is another test's concern. */
  address(): string;
  close(): void;
}

export async function startPictureHost(): Promise<PictureHost> {
  let path = 0;
  const server = createServer((request, response) => {
    host.asked.push(request.url ?? '');
    host.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const host: PictureHost = {
    answer: (_request, response) => response.writeHead(404).end(),
    asked: [],
    address: () => `http://127.0.0.1:${port}/${++path}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return host;
}
