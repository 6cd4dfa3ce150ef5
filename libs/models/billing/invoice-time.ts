// The lines of an invoice that were made from time, and the way they were made. The entries themselves link to the
// invoice.
import { TIME_GROUPS, type TimeGroup } from '../../rules/time/time-lines.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';

/** One line as it was made. Its time entries name it by `id`. */
export interface InvoiceTimeLine {
  id: number;
  /** Its place among the line items, until these are changed by hand. */
  at: number;
  group_by: TimeGroup;
  /** The template of the caller, if there was one. */
  text?: string | undefined;
  /** True where its days follow its text, see LineForm. */
  shows_days?: true | undefined;
  rounding: TimeRounding | null;
}

/** The text and unit that the caller gave a line. They stay when the line is made anew. */
export interface GivenLineText {
  /** The line, see line-texts.ts. */
  key: string;
  /** Absent when the caller left it as it was, as the next. */
  description?: string | undefined;
  /** Null for none. */
  unit?: string | null | undefined;
}

export interface InvoiceTime {
  /** True after more than texts of the lines was changed by hand. They no longer follow from the time. */
  is_edited: boolean;
  /** The id of the next line that is made. */
  next: number;
  lines: InvoiceTimeLine[];
  /** The line items that take off prepaid hours, with the line of time that each covers. */
  prepaid?: { line: number; at: number }[] | undefined;
  /** The line items that take off the hours that the fee of a recurring invoice includes, and that of their rounding. */
  included?: { at: number[] } | undefined;
  texts?: GivenLineText[] | undefined;
}

/** The declaration of the field in a mongoose schema. */
export const invoiceTimeField = {
  type: {
    _id: false,
    is_edited: Boolean,
    next: Number,
    lines: [
      {
        _id: false,
        id: Number,
        at: Number,
        group_by: { type: String, enum: TIME_GROUPS },
        text: String,
        shows_days: Boolean,
        rounding: Object,
      },
    ],
    prepaid: { type: [{ _id: false, line: Number, at: Number }], default: undefined },
    included: { type: { _id: false, at: [Number] }, default: undefined },
    texts: { type: [{ _id: false, key: String, description: String, unit: String }], default: undefined },
  },
  default: undefined,
} as const;
