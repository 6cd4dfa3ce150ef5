// Adds up the prepaid hours that a client has left, over all packages whose hours can be used today.
import { sumBy } from 'es-toolkit/math/sumBy';
import type { Id, StoredId } from '../../models/tenant.ts';
import type { HourPackageRecord } from '../../models/time/hour-package.ts';
import { inOrderOfUse } from '../../rules/time/prepaid-hours.ts';
import { hoursQuantity } from '../../rules/time/time-rounding.ts';
import { hourPackageViews, packageState, packagesOf } from './draw-hours.ts';

/** Returns one sum for the client, one for each project that packages are bound to, and the packages in the order of use. */
export async function clientHours(accountId: Id, clientId: StoredId) {
  const records = (await packagesOf({ accountId }, clientId)).filter((one) => leftOf(one) > 0);
  const views = await hourPackageViews(records, accountId);
  const active = records
    .flatMap((record, index) => {
      const view = views[index];
      return view?.status === 'Active' ? [{ record, view }] : [];
    })
    .toSorted((one, other) => inOrderOfUse(packageState(one.record), packageState(other.record)));
  const places = Map.groupBy(active, ({ record }) => String(record.project_id));
  return {
    left_hours: hoursOf(active),
    by_project: [...places.values()].map((own) => ({
      project: own[0]?.view.project ?? null,
      left_hours: hoursOf(own),
    })),
    hour_packages: active.map(({ view }) => ({
      id: view.id,
      name: view.name,
      project: view.project,
      left_hours: view.left_hours,
      valid_until: view.valid_until,
      rollover: view.rollover,
    })),
  };
}

function hoursOf(active: readonly { record: HourPackageRecord }[]): number {
  return Number(hoursQuantity(sumBy(active, ({ record }) => leftOf(record))));
}

function leftOf({ seconds, drawn_seconds }: HourPackageRecord): number {
  return seconds - drawn_seconds;
}
