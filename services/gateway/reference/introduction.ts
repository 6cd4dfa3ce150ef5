// The introduction of the reference: conventions that all operations share.

export const introduction = `Clients, projects, tasks, time entries, quotes, invoices, PDF documents and webhooks of a freelancer or agency workspace.

## Authentication
Every operation needs \`Authorization: Bearer <API key>\`. A key belongs to one account and sees nothing else: a record of another
account is treated as if it did not exist. A key has scopes, \`<resource>:read\`, \`<resource>:write\` (which includes reading) or \`*\`.

## Responses
| Kind | Shape |
|---|---|
| Create, update | \`{ "success": true, "data": { … } }\` |
| Delete | \`{ "success": true, "message": "…" }\` |
| List | \`{ "data": [ … ], "pagination": { "total", "limit", "offset" } }\` |
| Get | \`{ "data": { … } }\` |
| Error | \`{ "error": "…", "code": "…", "params": { … } }\`, and \`details\` and \`problems\` when the input is not valid |

Everything else is in headers: \`X-Request-Id\` (send your own, or get one), \`Link\`, \`ETag\`, \`RateLimit\`, \`Retry-After\`.

## Errors
Decide by \`code\`, which never changes; more codes may come. \`params\` has the values that the text contains. \`problems\` has a code for each wrong field. The guide
[Errors](/docs/guides/errors) lists all codes with their texts and what to do.

## Values
Ids are UUIDs, timestamps ISO 8601 in UTC, dates \`YYYY-MM-DD\`. Money is a decimal number in the currency's own precision (JPY 0,
USD 2, KWD 3 digits), rounded half away from zero. Fields that an operation does not know are ignored.

## Lists
\`limit\` is 50 unless given and at most 100; a higher one counts as 100. Lists are newest first unless said otherwise. \`Link: rel="next"\` is the
next page: its \`after\` continues behind the last record, whatever is created or deleted meanwhile. \`offset\` skips records and suits lists that do not change.
With \`sort=updated_at\` and \`updated_since\` a copy loses no change.

## Safe retries
Every POST that stores something takes an \`Idempotency-Key\`: the same key with the same request returns the first response again for
24 hours, with \`Idempotent-Replayed: true\`. A request that stores nothing may be repeated without one. Every operation on a
record takes \`If-Match\`, POST too.

## Rate limits
By key, with \`RateLimit-Policy\` and \`RateLimit\` on every response; 429 has the time to retry in \`Retry-After\`.
`;
