// A client for documents that are read and for callers that disconnect: Node's own, with connections that stay open.
import http from 'node:http';

export const PDF_TOOL = '/api/tools/generate-pdf';

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  bytes: Buffer;
}

export interface PdfCaller {
  /** @param signal hangs up. */
  post(body: Buffer, key: string, signal?: AbortSignal): Promise<Answer>;
  close(): void;
}

export function openPdfCaller(url: string): PdfCaller {
  const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const target = new URL(PDF_TOOL, url);
  return {
    post: (body, key, signal) =>
      new Promise((resolve, reject) => {
        const headers = {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          'Content-Length': body.length,
        };
        const request = http.request(
          target,
          { method: 'POST', agent, headers, ...(signal ? { signal } : {}) },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.once('error', reject);
            response.once('end', () => {
              const { statusCode = 0, headers } = response;
              resolve({ status: statusCode, headers, bytes: Buffer.concat(chunks) });
            });
          },
        );
        request.once('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}
