// An action on all records that match a search: a page shows their number first, then a run acts on them in the background.
import type { VNode } from 'preact';
import { type AuditAction, audited } from '#libs/models/operations/audit-entry.ts';
import type { BulkKind } from '#libs/models/operations/bulk-run.ts';
import { isId, newId } from '#libs/models/tenant.ts';
import { counted, countedUpTo, countUpTo } from '#libs/pages/format.ts';
import { html } from '#libs/pages/html.ts';
import { action, note } from '#libs/pages/parts.ts';
import { paramsOf, selectionParams, withoutPage } from '#libs/pages/query.ts';
import { actorOf, type Done, type Visit } from '../session/visit.ts';
import type { Page } from '../views/layout.ts';

/** A word in the singular and in the plural. */
type Words = readonly [one: string, many: string];

interface BulkAction<Search> {
  kind: BulkKind;
  auditAction: AuditAction;
  /** The path of the page that searches. */
  section: string;
  /** Both paths: of the page that confirms, and of the form that it sends. */
  path: string;
  /** The title of the page, which begins with the verb. */
  title: string;
  records: Words;
  /** The word for them in the title of the run, such as `Replay deliveries that are dead`. */
  runTitle: string;
  /** The words of the audit log for what is done with them. */
  outcome: Words;
  viewerNote: string;
  noneNote: string;
  /** The filter of the state, and the states of a selection that names none, with commas. */
  states: { name: string; standard: string };
  /** The filters that a title names, besides the state. */
  named: ReadonlySet<string>;
  /** The most records that are counted. */
  countedMax: number;
  /** @throws PageError 400 when the selection is not one that can be acted on. */
  searchOf(selection: URLSearchParams): Search;
  count(search: Search): Promise<Counted>;
  /** Says what the action does to these records. */
  explain(selection: URLSearchParams, found: Counted): VNode;
}

interface Counted {
  matches: number;
  /** True when there may be more. */
  isCut: boolean;
}

/** Returns the page that confirms the action, and the action of its form. */
export function bulkAction<Search>(act: BulkAction<Search>) {
  const { section, path, title, countedMax } = act;

  async function confirm({ request, visitor }: Visit): Promise<Page> {
    const selection = selectionOf(paramsOf(request));
    const found = await act.count(act.searchOf(selection));
    const { matches } = found;
    const [verb] = title.split(' ');
    const [one, many] = act.records;
    const body = html`<div class="card">
      <p class="figure"><strong>${countUpTo(countedMax, matches)}</strong> ${matches === 1 ? `${one} that is` : `${many} that are`} ${inWords(selection)}</p>
      ${act.explain(selection, found)}
      ${
        visitor.role !== 'operator'
          ? note('quiet', act.viewerNote)
          : matches > 0
            ? action({
                to: path,
                csrf: visitor.csrf,
                label: `${verb} ${counted(matches, one, many)}`,
                tone: 'main',
                fields: { selection: selection.toString(), run: newId() },
              })
            : note('quiet', act.noneNote)
      }
      <p><a href=${`${section}?${selection}`}>Show them first</a></p>
    </div>`;
    return { title, section, body };
  }

  async function start({ request, visitor, bulk }: Visit): Promise<Done> {
    const { selection: given, run: id } = request.body as { selection?: unknown; run?: unknown };
    const selection = selectionOf(selectionParams(typeof given === 'string' ? given : ''));
    // This comes before the audit log, so that only a search that can be made is recorded.
    const search = act.searchOf(selection);
    const target = selection.toString();
    const { runId, entryId } = await audited({ ...actorOf(visitor), action: act.auditAction, target }, async () => {
      const { matches: total } = await act.count(search);
      const wanted = { kind: act.kind, title: `${act.runTitle} ${inWords(selection)}`, selection: target, total };
      const { run, isNew } = await bulk.start({ ...wanted, id: isId(id) ? id : undefined, operator: visitor.name });
      const outcome = `${countedUpTo(countedMax, total, ...act.outcome)}.`;
      return { runId: String(run._id), detail: isNew ? outcome : 'This run was started already.' };
    });
    return { to: `/bulk/${runId}`, entryId };
  }

  function selectionOf(params: URLSearchParams): URLSearchParams {
    const selection = withoutPage(params);
    if (!selection.has(act.states.name)) selection.set(act.states.name, act.states.standard);
    return selection;
  }

  function inWords(selection: URLSearchParams): string {
    const states = (selection.get(act.states.name) ?? '').split(',').join(' or ');
    const rest = [...selection].flatMap(([name, value]) => (act.named.has(name) ? [`${name} ${value}`] : []));
    return [states, ...rest].join(', ');
  }

  return { confirm, start };
}
