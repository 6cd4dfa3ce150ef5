// Filters by a status that the day decides: what is stored as Sent may read as overdue or expired.

type Condition = Readonly<Record<string, unknown>>;

/** The same condition twice: MongoDB counts the one from an index alone, and walks the other in the order of an index. */
export interface StatusFilter {
  /** For a list. Of an `$or` the database would make one walk for each alternative, and sort. */
  walked: Condition;
  /** For a count. A `$nor` is not looked up in an index alone. */
  counted: Condition;
}

/** A filter by equality with one value, or with any of several. */
export function oneOf<Value>(values: readonly Value[]): Value | { $in: Value[] } {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : { $in: [...values] };
}

/**
 * @param status a filter on what is stored. @param statuses what it should read as.
 * @param yes alternatives of which one holds for those stored as Sent that are wanted. @param no of which one holds for all others.
 */
export function sentAs(given: {
  status: unknown;
  statuses: readonly string[];
  yes: readonly Condition[];
  no: readonly Condition[];
}): StatusFilter {
  const { status, statuses, yes, no } = given;
  const sent = (condition: Condition) => ({ status: 'Sent', ...condition });
  const others = statuses.filter((one) => one !== 'Sent').map((one) => ({ status: one }));
  return {
    walked: { status, $nor: no.map(sent) },
    counted: { status, $or: [...others, ...yes.map(others.length > 0 ? sent : (condition) => condition)] },
  };
}
