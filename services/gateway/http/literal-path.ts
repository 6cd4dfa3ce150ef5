// Percent encodings in a path that encode no text stand for themselves: the path then names nothing, as a malformed id does.
import type { NextFunction, Request, Response } from 'express';

/** The router would reject such a path with an error of its own, before a caller is known and without the operation's text. */
export function literalPath(request: Request, _response: Response, next: NextFunction) {
  const [path = ''] = request.url.split('?', 1);
  if (path.includes('%')) {
    const segments = path
      .split('/')
      .map((segment) => (isDecodable(segment) ? segment : segment.replaceAll('%', '%25')));
    request.url = segments.join('/') + request.url.slice(path.length);
  }
  next();
}

function isDecodable(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return true;
  } catch {
    return false;
  }
}
