// Compresses lists for callers that accept it. Nothing else: a PDF is compressed inside, and a record has a strong tag of its bytes.
import compression from 'compression';
import type { Request, Response } from 'express';

/** Below it the frame of a compressed response and the time for it outweigh what is saved. */
const THRESHOLD_BYTES = 1024;

/** A response with an ETag stays as it is: with other bytes it would need another tag, which `If-Match` would not know. */
export const compressLists = compression({
  threshold: THRESHOLD_BYTES,
  filter: ({ method }: Request, response: Response) =>
    (method === 'GET' || method === 'HEAD') &&
    !response.hasHeader('ETag') &&
    String(response.getHeader('Content-Type')).startsWith('application/json'),
});
