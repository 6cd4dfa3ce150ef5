// The page of current failures, grouped by cause: the same cause a thousand times is one line and one action.
import type { VNode } from 'preact';
import { catalog } from '#libs/jobs/catalog.ts';
import { findFailedJobs } from '#libs/jobs/control.ts';
import type { Queues } from '#libs/jobs/queue.ts';
import { MESSAGES_EXAMINED_MAX } from '#libs/models/messages/mail-problems.ts';
import { acrossAccounts } from '#libs/models/tenant.ts';
import { WebhookEndpoint, type WebhookEndpointRecord } from '#libs/models/webhooks/webhook-endpoint.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { badge, choiceField, live, table } from '#libs/pages/parts.ts';
import { paramsOf, timeText } from '#libs/pages/query.ts';
import { part, type ReadResult, shown } from '../monitoring/numbers.ts';
import type { Visit } from '../session/visit.ts';
import { type FailureGroup, findFailureGroups } from '../store/delivery-outcomes.ts';
import { findMailFailures, type MailFailureGroup } from '../store/mail-failures.ts';
import { findRenderFailures, type RenderFailureGroup } from '../store/render-search.ts';
import type { Page } from '../views/layout.ts';
import { causeText, recipientBadge } from '../views/mail-state.ts';

const HOUR_MS = 3_600_000;
const GROUPS_SHOWN = 50;
const JOBS_LOOKED_AT = 500;
const SPANS = [
  { value: '1', label: 'the last hour' },
  { value: '24', label: 'the last day' },
  { value: '168', label: 'the last week' },
  { value: '720', label: 'the last 30 days' },
];

export async function failuresPage({ request, queues, visitor }: Visit): Promise<Page> {
  const span = SPANS.find(({ value }) => value === paramsOf(request).get('hours')) ?? SPANS[1];
  const since = new Date(Date.now() - Number(span?.value) * HOUR_MS);
  const [groups, mail, renders, jobs] = await Promise.all([
    findFailureGroups(since, GROUPS_SHOWN),
    findMailFailures(since, GROUPS_SHOWN),
    findRenderFailures(since, GROUPS_SHOWN),
    part(failedJobGroups(queues)),
  ]);
  const urls = await urlsOf(groups);
  const body = html`<div>
    <form class="filters" method="get">
      ${choiceField('hours', 'Since', span?.value ?? '24', SPANS)}
      <div class="buttons"><button>Show</button></div>
    </form>
    ${live('delivery-failures', deliveryGroups(groups, urls, since, visitor.role === 'operator'))}
    ${live('mail-failures', mailGroups(mail, since, visitor.role === 'operator'))}
    ${live('render-failures', renderGroups(renders, since))}
    ${live('job-failures', jobGroups(jobs))}
  </div>`;
  return { title: 'Failures', section: '/failures', body };
}

function deliveryGroups(groups: FailureGroup[], urls: Map<string, string>, since: Date, mayAct: boolean): VNode {
  const isDeleted = ({ endpointId }: FailureGroup) => !urls.has(endpointId);
  const query = (group: FailureGroup, status: string) =>
    new URLSearchParams({
      // The account of a deleted endpoint is unknown.
      ...(isDeleted(group) ? { id: group.accountId } : {}),
      endpoint: group.endpointId,
      cause: group.cause,
      status,
      from: timeText(since),
    });
  const columns = [
    { name: 'Cause', cell: ({ cause }: FailureGroup) => badge(cause, 'bad') },
    {
      name: 'Endpoint',
      cell: ({ endpointId }: FailureGroup) => {
        const url = urls.get(endpointId);
        return url === undefined
          ? `deleted (${endpointId})`
          : html`<a class="url" href=${`/endpoints/${endpointId}`}>${url}</a>`;
      },
    },
    {
      name: 'Dead or held',
      isNumber: true,
      cell: (group: FailureGroup) =>
        html`<a href=${`/deliveries?${query(group, 'dead,held')}`}>${count(group.settled)}</a>`,
    },
    {
      name: 'Still trying',
      isNumber: true,
      cell: (group: FailureGroup) =>
        html`<a href=${`/deliveries?${query(group, 'pending')}`}>${count(group.retrying)}</a>`,
    },
    { name: 'Last', cell: ({ lastAt }: FailureGroup) => ago(lastAt) },
    ...(mayAct
      ? [
          {
            name: 'Act',
            cell: (group: FailureGroup) =>
              group.settled > 0 && !isDeleted(group)
                ? html`<a class="button" href=${`/deliveries/replay?${query(group, 'dead,held')}`}>Replay ${count(group.settled)}…</a>`
                : null,
          },
        ]
      : []),
  ];
  return html`<div>
    <h2>Deliveries</h2>
    ${table('Failed deliveries by endpoint and cause', columns, groups, 'No delivery failed in this time.')}
  </div>`;
}

function mailGroups(groups: MailFailureGroup[], since: Date, mayAct: boolean): VNode {
  const query = ({ state, cause }: MailFailureGroup) => new URLSearchParams({ state, cause, from: timeText(since) });
  const columns = [
    { name: 'Cause', cell: ({ cause }: MailFailureGroup) => causeText(cause) },
    {
      name: 'State',
      cell: ({ state }: MailFailureGroup) => (state === 'retrying' ? badge(state, 'warn') : recipientBadge(state)),
    },
    {
      name: 'Messages',
      isNumber: true,
      cell: (group: MailFailureGroup) => html`<a href=${`/mail?${query(group)}`}>${count(group.messages)}</a>`,
    },
    { name: 'Accounts', isNumber: true, cell: ({ accounts }: MailFailureGroup) => count(accounts) },
    { name: 'Last', cell: ({ lastAt }: MailFailureGroup) => ago(lastAt) },
    ...(mayAct
      ? [
          {
            name: 'Act',
            cell: (group: MailFailureGroup) =>
              group.state === 'failed' || group.state === 'retrying'
                ? html`<a class="button" href=${`/mail/retry?${query(group)}`}>Retry…</a>`
                : null,
          },
        ]
      : []),
  ];
  return html`<div>
    <h2>Mail</h2>
    ${table('Mail that did not arrive, by the reply of the server', columns, groups, 'No mail failed or came back in this time.')}
    ${groups.length > 0 ? html`<p class="quiet">Of each state, the latest ${count(MESSAGES_EXAMINED_MAX)} messages are grouped.</p>` : null}
  </div>`;
}

function renderGroups(groups: RenderFailureGroup[], since: Date): VNode {
  const href = ({ status, errorClass }: RenderFailureGroup) =>
    `/renders?${new URLSearchParams({ status, ...(errorClass ? { cause: errorClass } : {}), from: timeText(since) })}`;
  const columns = [
    {
      name: 'State',
      cell: ({ status }: RenderFailureGroup) => badge(status, status === 'refused' ? 'quiet' : 'bad'),
    },
    { name: 'Cause', cell: ({ errorClass }: RenderFailureGroup) => errorClass || '–' },
    {
      name: 'Documents',
      isNumber: true,
      cell: (group: RenderFailureGroup) => html`<a href=${href(group)}>${count(group.count)}</a>`,
    },
    { name: 'Accounts', isNumber: true, cell: ({ accounts }: RenderFailureGroup) => count(accounts) },
    { name: 'Last', cell: ({ lastAt }: RenderFailureGroup) => ago(lastAt) },
  ];
  return html`<div>
    <h2>Documents</h2>
    ${table('Documents that were not rendered, by cause', columns, groups, 'Every document in this time was rendered.')}
    <p class="quiet">Documents are not stored: the caller received the error and can retry.</p>
  </div>`;
}

interface JobGroup {
  queue: string;
  reason: string;
  count: number;
  lastAt: Date | undefined;
}

async function failedJobGroups(queues: Queues): Promise<JobGroup[]> {
  const perQueue = await Promise.all(
    catalog.map(async (definition) => {
      const jobs = await findFailedJobs(queues, definition, JOBS_LOOKED_AT);
      return [...Map.groupBy(jobs, ({ reason }) => fingerprint(reason))].map(([reason, own]) => ({
        queue: definition.name,
        reason,
        count: own.length,
        lastAt: own.map(({ failedAt }) => failedAt).sort((a, b) => Number(b) - Number(a))[0],
      }));
    }),
  );
  return perQueue.flat().sort((a, b) => b.count - a.count);
}

/** Returns the reason without ids and numbers, so that equal failures have the same text. */
function fingerprint(reason: string): string {
  return reason
    .slice(0, 200)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '…')
    .replace(/\b[0-9a-f]{16,}\b/gi, '…')
    .replace(/\d+/g, '#');
}

function jobGroups(groups: ReadResult<JobGroup[]>): VNode {
  const columns = [
    { name: 'Queue', cell: ({ queue }: JobGroup) => html`<a href=${`/queues/${queue}`}>${queue}</a>` },
    { name: 'Reason', cell: ({ reason }: JobGroup) => reason },
    { name: 'Jobs', isNumber: true, cell: (group: JobGroup) => count(group.count) },
    { name: 'Last', cell: ({ lastAt }: JobGroup) => ago(lastAt) },
  ];
  return html`<div>
    <h2>Jobs</h2>
    ${shown(groups, (rows) => table('Failed jobs by reason', columns, rows, 'No queue has a failed job.'))}
  </div>`;
}

/** Returns the URL of each endpoint. The query covers all accounts, because operators see the whole system. */
async function urlsOf(groups: FailureGroup[]): Promise<Map<string, string>> {
  const endpoints = await WebhookEndpoint.find({ _id: { $in: groups.map(({ endpointId }) => endpointId) } })
    .setOptions(acrossAccounts)
    .select({ url: 1 })
    .lean<Pick<WebhookEndpointRecord, '_id' | 'url'>[]>();
  return new Map(endpoints.map(({ _id, url }) => [String(_id), url]));
}
