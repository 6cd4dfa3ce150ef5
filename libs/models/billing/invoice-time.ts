// Which lines of an invoice were made from time, and how: the entries themselves are linked to the invoice.
import { TIME_GROUPS, type TimeGroup } from '../../rules/time/time-lines.ts';
import type { TimeRounding } from '../../rules/time/time-rounding.ts';

/** One line as it was made. Its entries name it by `id`. */
export interface InvoiceTimeLine {
  id: number;
  /** Its place among the line items, while these are as they were made. */
  at: number;
  group_by: TimeGroup;
  /** The caller's text for lines, where there was one. */
  text?: string | undefined;
  rounding: TimeRounding | null;
}

export interface InvoiceTime {
  /** The lines were changed by hand since: they no longer follow from the time. */
  is_edited: boolean;
  /** The id of the next line that is made. */
  next: number;
  lines: InvoiceTimeLine[];
  /** The line items that take prepaid hours off again, by the line of time that they cover. */
  prepaid?: { line: number; at: number }[] | undefined;
  /** The line items that take off again what the fee of a recurring invoice includes. */
  included?: { at: number[] } | undefined;
}

/** How it is declared in a model. */
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
        rounding: Object,
      },
    ],
    prepaid: { type: [{ _id: false, line: Number, at: Number }], default: undefined },
    included: { type: { _id: false, at: [Number] }, default: undefined },
  },
  default: undefined,
} as const;
