// Mutants of authorisation and limits: accounts, keys, rate limits.
import type { Mutant } from './mutant.ts';

export const accessMutants: Mutant[] = [
  {
    gone: 'the account, in the query for one record',
    edits: [
      {
        file: 'libs/models/records.ts',
        text: "return { _id: typeof id === 'string' ? storedId(id) : id, account_id: storedId(accountId) };",
        instead: "return { _id: typeof id === 'string' ? storedId(id) : id };",
      },
    ],
    oracle: { file: 'test/service/gateway/tenancy.test.ts', test: 'unknown or malformed, then the responses' },
  },
  {
    gone: 'the account, in the query of a list',
    edits: [
      {
        file: 'services/gateway/clients/routes.ts',
        text: 'account_id: storedId(caller.accountId),\n      ...(query.q',
        instead: 'account_id: { $exists: true },\n      ...(query.q',
      },
      {
        file: 'libs/models/listing.ts',
        text: "requireAccount(filter['account_id'], `A list",
        instead: "if (limit < 0) requireAccount(filter['account_id'], `A list",
      },
    ],
    oracle: { file: 'test/service/gateway/tenancy.test.ts', test: 'then no record of %s is in the list' },
  },
  {
    gone: 'ending a key waits until no gateway caches it',
    edits: [
      {
        file: 'libs/models/accounts/key-cache.ts',
        text: 'await pause(REMEMBERED_MS + MARGIN_MS);',
        instead: 'await pause(0);',
      },
    ],
    oracle: {
      file: 'test/system/gateway/remembered-keys.test.ts',
      test: 'ends a key that another gateway is busy with',
    },
  },
  {
    gone: 'the guard that throws when a query does not name its account',
    edits: [
      {
        file: 'libs/models/tenant.ts',
        text: 'if (!isId(value) && !(value instanceof Types.UUID)) throw',
        instead: 'if (where === undefined) throw',
      },
    ],
    oracle: { file: 'test/service/libs/tenant.test.ts', test: 'does not name one account, then it throws' },
  },
  {
    gone: 'a key that ended since its request was let in leaves no other behind',
    edits: [{ file: 'libs/billing/unit-of-work.ts', text: 'await options.beforeWork?.(session);', instead: '' }],
    oracle: { file: 'test/service/gateway/api-keys.test.ts', test: 'when the request is %s of %s, then 401' },
  },
  {
    gone: 'a revoked key is refused',
    edits: [
      {
        file: 'libs/models/accounts/api-key.ts',
        text: 'return !revoked_at && !(',
        instead: 'return !(',
      },
    ],
    oracle: { file: 'test/service/gateway/api-keys.test.ts', test: 'when a key is revoked, then the next request' },
  },
  {
    gone: 'an expired key is refused',
    edits: [
      {
        file: 'libs/models/accounts/api-key.ts',
        text: 'return !revoked_at && !(expires_at && expires_at <= now);',
        instead: 'return !revoked_at;',
      },
    ],
    oracle: { file: 'test/service/gateway/api-keys.test.ts', test: 'when a key expires, then it is rejected' },
  },
  {
    gone: 'a key needs the scope of the operation',
    edits: [
      {
        file: 'services/gateway/http/authenticate.ts',
        text: 'if (!allows(scopes, scope)) throw',
        instead: 'if (!scopes) throw',
      },
    ],
    oracle: { file: 'test/service/gateway/access.test.ts', test: 'when the key lacks only the required scope' },
  },
  {
    gone: 'the limit of requests',
    edits: [
      {
        file: 'services/gateway/limits/rate-limit.ts',
        text: ': [requests, accountRequests];',
        instead: ': [];',
      },
    ],
    oracle: { file: 'test/service/gateway/rates.test.ts', test: 'when a key calls too often' },
  },
  {
    gone: 'the limit of wrong keys',
    edits: [
      {
        file: 'services/gateway/limits/rate-limit.ts',
        text: 'if (refusals) await run(refusals, request, response);',
        instead: '',
      },
    ],
    oracle: { file: 'test/service/gateway/rates.test.ts', test: 'when an address sends too many invalid keys' },
  },
  {
    gone: 'the limit of a body',
    edits: [
      {
        file: 'services/gateway/http/read-json.ts',
        text: 'express.raw({ limit,',
        instead: 'express.raw({ limit: Infinity,',
      },
    ],
    oracle: { file: 'test/system/gateway/hygiene.test.ts', test: 'when a body is too large' },
  },
  {
    gone: 'the refusal of a compressed body',
    edits: [{ file: 'services/gateway/http/read-json.ts', text: 'inflate: false,', instead: 'inflate: true,' }],
    oracle: { file: 'test/system/gateway/hygiene.test.ts', test: 'when a body is compressed' },
  },
  {
    gone: 'the limit of depth, and of names that change what an object is',
    edits: [{ file: 'services/gateway/http/read-json.ts', text: '    requireSane(request.body);\n', instead: '' }],
    oracle: { file: 'test/service/hostile/json.test.ts', test: 'when a body is not one object of plain fields' },
  },
  {
    gone: 'a query is plain names',
    edits: [
      {
        file: 'services/gateway/http/read-query.ts',
        text: "...repeated.map((name) => problem(name, 'must not be repeated')),",
        instead: '',
      },
    ],
    oracle: {
      file: 'test/service/gateway/bad-input.test.ts',
      test: 'when a parameter is repeated, an operator or invalid',
    },
  },
  {
    gone: 'the account, in the records a document refers to',
    edits: [
      {
        file: 'libs/models/records.ts',
        text: '{ account_id: storedId(accountId), _id: { $in: wanted.map(storedId) } }',
        instead: '{ _id: { $in: wanted.map(storedId) } }',
      },
      {
        file: 'libs/billing/project-of-client.ts',
        text: 'const project = await lockOwn(Project, accountId, projectId, session);',
        instead: 'const project = (await Project.collection.findOne({ _id: projectId as never })) as never;',
      },
    ],
    oracle: { file: 'test/service/gateway/tenancy.test.ts', test: 'then the response is the 404 of an unknown id' },
  },
];
