// The pages of runs: actions on many records, their progress, and buttons to stop or continue them.
import type { VNode } from 'preact';
import { audited } from '#libs/models/operations/audit-entry.ts';
import { type BulkRecord, BulkRun, bulkStateOf, resumeBulk, stopBulk } from '#libs/models/operations/bulk-run.ts';
import { isId } from '#libs/models/tenant.ts';
import { ago, count } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { action, badge, live, note, stat, type Tone, table } from '#libs/pages/parts.ts';
import { actorOf, type Done, type Visit, type Visitor } from '../session/visit.ts';
import type { Page } from '../views/layout.ts';

const SHOWN = 100;
const TONES: Record<ReturnType<typeof bulkStateOf>, Tone> = {
  running: 'main',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
  interrupted: 'bad',
};

const stateBadge = (run: BulkRecord) => badge(bulkStateOf(run), TONES[bulkStateOf(run)]);

export async function bulkPage(): Promise<Page> {
  const runs = await BulkRun.find().sort({ created_at: -1 }).limit(SHOWN).lean<BulkRecord[]>();
  const columns = [
    { name: 'Started', cell: ({ created_at }: BulkRecord) => ago(created_at) },
    { name: 'What', cell: ({ _id, title }: BulkRecord) => html`<a href=${`/bulk/${String(_id)}`}>${title}</a>` },
    { name: 'State', cell: stateBadge },
    {
      name: 'Done',
      isNumber: true,
      cell: ({ done, total }: BulkRecord) => `${count(done)} of ${count(total)}`,
    },
    { name: 'By', cell: ({ operator }: BulkRecord) => operator },
  ];
  const empty = html`No run yet. Start one from a <a href="/deliveries">search</a> or from a <a href="/failures">group of failures</a>.`;
  const body = live('runs', table('Runs, newest first', columns, runs, empty));
  return { title: 'Runs', section: '/bulk', body };
}

export async function bulkRunPage({ request, visitor }: Visit): Promise<Page> {
  const run = await requireRun(request.params['id']);
  return { title: run.title, section: '/bulk', body: live('run', progress(run, visitor)) };
}

function progress(run: BulkRecord, visitor: Visitor): VNode {
  const state = bulkStateOf(run);
  const handled = run.done + run.skipped;
  const button = (verb: 'stop' | 'continue', label: string) =>
    visitor.role === 'operator' ? action({ to: `/bulk/${String(run._id)}/${verb}`, csrf: visitor.csrf, label }) : null;
  return html`<div class="card">
    <progress max=${Math.max(run.total, 1)} value=${run.total === 0 ? 1 : Math.min(handled, run.total)} aria-label="Progress"></progress>
    <dl class="stats wide">
      ${stat('State', stateBadge(run))} ${stat('Done', `${count(run.done)} of ${count(run.total)}`)}
      ${stat('Skipped', count(run.skipped))} ${stat('Started', ago(run.created_at))}
      ${stat('Last step', ago(run.updated_at))} ${stat('By', run.operator)}
    </dl>
    ${run.problem ? note('bad', run.problem) : null}
    ${state === 'interrupted' ? note('warn', 'The process of this run has ended. Finished steps stay finished.') : null}
    ${state === 'running' ? (run.stop_requested ? note('warn', 'It stops after the current batch.') : button('stop', 'Stop')) : null}
    ${state === 'interrupted' || state === 'stopped' || state === 'failed' ? button('continue', 'Continue') : null} ${state === 'interrupted' ? button('stop', 'Stop') : null}
  </div>`;
}

export async function stopRun({ request, visitor }: Visit): Promise<Done> {
  const run = await requireRun(request.params['id']);
  const auditedAction = { ...actorOf(visitor), action: 'bulk.stop', target: run.title } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const stopped = await stopBulk(String(run._id));
    if (!stopped) throw new PageError(409, 'The run had already ended');
    return { detail: stopped.state === 'stopped' ? 'The run is stopped.' : 'It stops after the current batch.' };
  });
  return { to: `/bulk/${String(run._id)}`, entryId };
}

export async function continueRun({ request, visitor, bulk }: Visit): Promise<Done> {
  const run = await requireRun(request.params['id']);
  const auditedAction = { ...actorOf(visitor), action: 'bulk.continue', target: run.title } as const;
  const { entryId } = await audited(auditedAction, async () => {
    const taken = await resumeBulk(String(run._id));
    if (!taken) throw new PageError(409, 'The run is running or has ended');
    bulk.resume(taken);
    return { detail: 'The run continues where it stopped.' };
  });
  return { to: `/bulk/${String(run._id)}`, entryId };
}

async function requireRun(id: unknown): Promise<BulkRecord> {
  const run = isId(id) ? await BulkRun.findById(id).lean<BulkRecord>() : null;
  if (!run) throw new PageError(404, 'No such run');
  return run;
}
