// Tries which failed calls the package sends again, and the error that it throws in the end.
import { expect, test } from '@jest/globals';
import { ApiError } from '../../../client/api-error.ts';
import { isSentAgain } from '../../../client/sending.ts';

type Failure = 'no response' | number;

function isRetried(method: string, failure: Failure, { key = method === 'POST', pause = '' } = {}): boolean {
  const headers: Record<string, string> = key ? { 'Idempotency-Key': 'one' } : {};
  const request = { url: 'http://localhost', method, headers, operation: { id: '', path: '', tags: [] } };
  if (failure === 'no response') return isSentAgain({ attempt: 1, request, error: new TypeError('fetch failed') });
  const response = new Response(null, { status: failure, headers: pause ? { 'Retry-After': pause } : {} });
  return isSentAgain({ attempt: 1, request, response });
}

test('when a call may have been carried out, then it is sent again only if a second one does no harm', () => {
  for (const failure of ['no response', 502, 503, 504] as const) {
    for (const method of ['GET', 'DELETE', 'POST'])
      expect([method, failure, isRetried(method, failure)]).toEqual([method, failure, true]);
    expect(isRetried('PATCH', failure)).toBe(false);
    expect(isRetried('POST', failure, { key: false })).toBe(false);
  }
});

test('when the gateway did nothing, then every call is sent again', () => {
  for (const method of ['GET', 'DELETE', 'POST', 'PATCH']) expect(isRetried(method, 429, { pause: '2' })).toBe(true);
  expect(isRetried('POST', 409, { pause: '1' })).toBe(true);
});

test('when a second try would end as the first, or the pause is long, then the caller gets the error', () => {
  for (const status of [304, 400, 401, 403, 404, 409, 412, 422, 500]) {
    for (const method of ['GET', 'DELETE', 'POST', 'PATCH']) expect(isRetried(method, status)).toBe(false);
  }
  expect(isRetried('PATCH', 409, { pause: '1' })).toBe(false);
  expect(isRetried('GET', 503, { pause: '60' })).toBe(true);
  expect(isRetried('GET', 503, { pause: '61' })).toBe(false);
  expect(isRetried('GET', 429, { pause: new Date(Date.now() + 600_000).toUTCString() })).toBe(false);
});

test('when a response is an error, then its parts are fields', () => {
  const problems = [{ field: 'name', code: 'required', message: 'name is required', params: {} }];
  const details = { name: ['name is required'] };
  const body = { error: 'Validation failed', details, code: 'validation_failed', params: {}, problems };
  const error = new ApiError(
    'http://localhost',
    400,
    'Bad Request',
    body,
    new Headers({ 'X-Request-Id': 'r-1', 'Retry-After': '3' }),
  );

  expect(error).toMatchObject({
    message: 'Validation failed; name is required (400)',
    code: body.code,
    params: {},
    problems,
    details,
    body,
    status: 400,
    requestId: 'r-1',
    retryAfter: 3,
  });
});

test('when it comes from something between gateway and caller, then the status is all there is', () => {
  const error = new ApiError('http://localhost', 502, 'Bad Gateway', '<html>', new Headers());

  expect(error).toMatchObject({ message: 'The request failed with status 502', body: '<html>' });
  expect([error.code, error.details, error.requestId, error.retryAfter]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
