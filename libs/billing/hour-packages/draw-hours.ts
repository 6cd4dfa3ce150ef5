// Draws prepaid hours for an invoice and gives them back. A package is never overdrawn, because the update that draws
// requires that enough is left.
import { sumBy } from 'es-toolkit/math/sumBy';
import { dayIn } from '../../day.ts';
import { readAccount } from '../../models/accounts/account.ts';
import { clientsOf } from '../../models/accounts/client.ts';
import type { ReturnedHours } from '../../models/billing/credit-note.ts';
import type { InvoiceRecord } from '../../models/billing/invoice.ts';
import { printedNumber } from '../../models/billing/number-ledger.ts';
import { changeTime } from '../../models/counter.ts';
import { changeOwn, driverOf, insertOwn, readAll } from '../../models/records.ts';
import { removeBatch } from '../../models/remove-records.ts';
import { type Id, newRecord, type StoredId, storedId } from '../../models/tenant.ts';
import { HourDrawdown, type HourDrawdownRecord } from '../../models/time/hour-drawdown.ts';
import { HourPackage, type HourPackageRecord, hourPackageView, isLow } from '../../models/time/hour-package.ts';
import { projectsOf } from '../../models/time/project.ts';
import type { EventType } from '../../models/webhooks/event-types.ts';
import type { Session } from '../../mongo/connection.ts';
import { staleRead } from '../../mongo/errors.ts';
import { type LineItem, lineItem } from '../../rules/documents/line-item.ts';
import { lineTexts } from '../../rules/documents/line-texts.ts';
import { filledLine, joinedForLine } from '../../rules/documents/line-wording.ts';
import { coveredQuantity, type Draw, type PackageState } from '../../rules/time/prepaid-hours.ts';
import type { UnitOfWork } from '../unit-of-work.ts';
import { type LinkedTimeLines, requireLines } from '../work/time-line-links.ts';

/** The most packages of a client. All of them are read when its time is billed. */
export const PACKAGES_MAX = 1_000;

/** Returns the lines of time, followed by a line for each one with prepaid hours, which takes their price off again. */
export function withPrepaidHours(
  lines: LinkedTimeLines,
  draws: readonly Draw[],
  { packages, locale }: { packages: readonly HourPackageRecord[]; locale: string },
): LinkedTimeLines {
  if (draws.length === 0) return lines;
  const names = new Map(packages.map(({ _id, name }) => [String(_id), name]));
  const taken = Map.groupBy(draws, ({ line }) => line);
  const covered = lines.made.flatMap((line) => {
    const parts = taken.get(line.id);
    return parts ? [{ line: line.id, item: coveredItem(line, parts, { names, locale }) }] : [];
  });
  requireLines(lines.line_items.length + covered.length);
  const prepaid = covered.map(({ line }, index) => ({ line, at: lines.line_items.length + index }));
  return {
    ...lines,
    line_items: [...lines.line_items, ...covered.map(({ item }) => item)],
    time: { ...lines.time, prepaid: [...(lines.time.prepaid ?? []), ...prepaid] },
  };
}

/** Returns a package in the form of the rules. `left` is in seconds. */
export function packageState(record: HourPackageRecord): PackageState {
  return {
    ...record,
    id: String(record._id),
    project_id: record.project_id && String(record.project_id),
    left: record.seconds - record.drawn_seconds,
  };
}

/** Returns the line that takes prepaid hours off, at the rate of its line. */
function coveredItem(
  line: LinkedTimeLines['made'][number],
  parts: readonly Draw[],
  { names, locale }: { names: ReadonlyMap<string, string | null>; locale: string },
): LineItem {
  const seconds = sumBy(parts, (part) => part.seconds);
  const named = parts.map(({ package_id }) => names.get(package_id) ?? '');
  const packages = joinedForLine(named, ', ');
  const description = filledLine(lineTexts(locale).prepaidHours, { packages }).replace(/[:：]\s*$/, '');
  const { rate } = line;
  return lineItem({ description, qty: `-${coveredQuantity(line, seconds)}`, rate, discount: '0', unit: 'hour' });
}

/** Draws the hours. Begins the transaction again when a package has not enough left any more. */
export async function drawHours(
  unit: UnitOfWork,
  invoice: Pick<InvoiceRecord, '_id' | 'number' | 'number_text'>,
  draws: readonly Draw[],
): Promise<void> {
  if (draws.length === 0) return;
  const { session, accountId } = unit;
  const drawn = await moveHours(unit, draws);
  const invoice_number = printedNumber('invoice', invoice);
  for (const { package_id, line, seconds } of draws) {
    const fields = { package_id: storedId(package_id), invoice_id: invoice._id, invoice_number, line, seconds };
    await insertOwn(HourDrawdown, { ...newRecord(accountId), ...fields }, session);
  }
  await announcePackages(unit, 'hour_package.drawn', drawn);
  await announceLow(unit, drawn);
}

/** Announces once for each package that little of it is left. @param records the changed ones. */
export async function announceLow(unit: UnitOfWork, records: readonly HourPackageRecord[]): Promise<void> {
  const low: HourPackageRecord[] = [];
  for (const record of records) {
    if (!isLow(record) || record.is_low) continue;
    low.push(await changeOwn(HourPackage, record, { is_low: true }, unit.session));
  }
  if (low.length > 0) await announcePackages(unit, 'hour_package.low', low);
}

/** Gives all hours of the invoice back. */
export async function giveHoursBack(unit: UnitOfWork, { _id, time }: Pick<InvoiceRecord, '_id' | 'time'>) {
  if (!time?.prepaid) return;
  const { session, accountId } = unit;
  const drawdowns = await drawdownsOf(unit, _id);
  if (drawdowns.length === 0) return;
  await removeBatch(HourDrawdown, accountId, drawdowns, session);
  const given = drawdowns.map(({ package_id, seconds }) => ({ package_id: String(package_id), seconds: -seconds }));
  await announcePackages(unit, 'hour_package.released', await moveHours(unit, given));
}

/** Gives back a part of the hours that the lines of the invoice draw. */
export async function returnHours(
  unit: UnitOfWork,
  { _id }: Pick<InvoiceRecord, '_id'>,
  returned: readonly ReturnedHours[],
): Promise<void> {
  const { session, accountId } = unit;
  const drawdowns = await drawdownsOf(unit, _id);
  const moves: Pick<Draw, 'package_id' | 'seconds'>[] = [];
  for (const { package_id, line, seconds } of returned) {
    const drawn = drawdowns.find((one) => one.line === line && one.package_id.equals(package_id));
    if (!drawn) continue;
    const back = Math.min(seconds, drawn.seconds);
    if (back === drawn.seconds) await removeBatch(HourDrawdown, accountId, [drawn], session);
    else await changeOwn(HourDrawdown, drawn, { seconds: drawn.seconds - back }, session);
    moves.push({ package_id: String(package_id), seconds: -back });
  }
  await announcePackages(unit, 'hour_package.released', await moveHours(unit, moves));
}

/** Returns the drawdowns of the invoice, line by line. */
export async function drawdownsOf(
  { accountId, session }: Pick<UnitOfWork, 'accountId'> & { session?: Session },
  invoiceId: StoredId,
): Promise<HourDrawdownRecord[]> {
  const filter = { account_id: storedId(accountId), invoice_id: invoiceId } as object;
  const found = await driverOf(HourDrawdown)
    .find(filter, session ? { session } : {})
    .toArray();
  return found as unknown as HourDrawdownRecord[];
}

/**
 * Moves hours in the order of package ids: of two transactions that want the same packages, the second begins again.
 * @returns the changed packages.
 */
export async function moveHours(
  { session, accountId }: UnitOfWork,
  moves: readonly Pick<Draw, 'package_id' | 'seconds'>[],
): Promise<HourPackageRecord[]> {
  const updated_at = await changeTime(session, accountId, new Date());
  const moved: HourPackageRecord[] = [];
  const byPackage = [...Map.groupBy(moves, ({ package_id }) => package_id)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [id, parts] of byPackage) {
    const by = sumBy(parts, ({ seconds }) => seconds);
    const after = { $add: ['$drawn_seconds', by] };
    const isWithin = { $and: [{ $gte: [after, 0] }, { $lte: [after, '$seconds'] }] };
    const changed = await driverOf(HourPackage).findOneAndUpdate(
      { _id: storedId(id), account_id: storedId(accountId), $expr: isWithin } as object,
      { $inc: { drawn_seconds: by }, $set: { updated_at } } as object,
      { session, returnDocument: 'after' },
    );
    if (!changed) throw staleRead('the hours of a package were drawn or changed meanwhile');
    moved.push(changed as unknown as HourPackageRecord);
  }
  return moved;
}

/** Returns the packages of a client, used-up and expired ones too, at most PACKAGES_MAX. */
export async function packagesOf(
  { session, accountId }: Pick<UnitOfWork, 'accountId'> & { session?: Session },
  clientId: StoredId,
): Promise<HourPackageRecord[]> {
  const filter = { account_id: storedId(accountId), client_id: clientId } as object;
  const found = await driverOf(HourPackage)
    .find(filter, { ...(session ? { session } : {}), limit: PACKAGES_MAX, batchSize: PACKAGES_MAX + 1 })
    .toArray();
  return found as unknown as HourPackageRecord[];
}

/** Returns the form in which packages are read, listed and announced. */
export async function hourPackageViews(records: readonly HourPackageRecord[], accountId: Id, session?: Session) {
  const [clients, projects, account] = await readAll(session, [
    () =>
      clientsOf(
        accountId,
        records.map(({ client_id }) => client_id),
        session,
      ),
    () =>
      projectsOf(
        accountId,
        records.map(({ project_id }) => project_id),
        session,
      ),
    () => readAccount(accountId, session),
  ] as const);
  const today = dayIn(account.time_zone);
  const valid = await placesValidOn(today, { records, accountId, session });
  return records.map((record) =>
    hourPackageView(record, {
      client: clients.get(String(record.client_id)),
      project: projects.get(String(record.project_id)),
      today,
      hasSuccessor: valid.has(placeOf(record)),
    }),
  );
}

const placeOf = ({ client_id, project_id }: Pick<HourPackageRecord, 'client_id' | 'project_id'>) =>
  `${String(client_id)} ${String(project_id)}`;

/**
 * Returns the clients and projects with a package for the day, among the clients whose packages have ended with
 * rollover.
 */
async function placesValidOn(
  day: string,
  {
    records,
    accountId,
    session,
  }: { records: readonly HourPackageRecord[]; accountId: Id; session?: Session | undefined },
): Promise<Set<string>> {
  const ended = records.filter(({ rollover, valid_until }) => rollover && valid_until !== null && valid_until < day);
  if (ended.length === 0) return new Set();
  const isValid = {
    account_id: storedId(accountId),
    client_id: { $in: ended.map(({ client_id }) => client_id) },
    valid_from: { $not: { $gt: day } },
    valid_until: { $not: { $lt: day } },
  };
  const places = await driverOf(HourPackage)
    .aggregate<{ _id: Pick<HourPackageRecord, 'client_id' | 'project_id'> }>(
      [
        { $match: isValid },
        { $group: { _id: { client_id: '$client_id', project_id: { $ifNull: ['$project_id', null] } } } },
      ],
      session ? { session } : {},
    )
    .toArray();
  return new Set(places.map(({ _id }) => placeOf(_id)));
}

async function announcePackages(unit: UnitOfWork, type: EventType, records: readonly HourPackageRecord[]) {
  await unit.announceAll(type, await hourPackageViews(records, unit.accountId, unit.session));
}
