// Every problem of one field, once: its code and its text. They are our own, whatever the library that validates calls them. A code is never removed, renamed or used for something else.
import type { ParamValue } from './template.ts';

interface ProblemDeclaration<Text extends string = string> {
  /** The text. `field` is the name of the field, the other gaps are parameters. */
  text: Text;
  /** Parameters that not every text contains, and an example of each. */
  extra?: Readonly<Record<string, ParamValue>>;
}

const problem = <const Text extends string>(
  text: Text,
  extra?: Readonly<Record<string, ParamValue>>,
): ProblemDeclaration<Text> => ({ text, ...(extra ? { extra } : {}) });

const PRESENCE = {
  required: problem('{field} is required'),
  required_by_law: problem('{field} must be on an invoice from {country} ({source})'),
  required_with: problem('{field} is required with {other}'),
  required_with_or_both_null: problem(
    '{field} is required with {other}, or null for both: then the entry has hours alone',
  ),
  required_without: problem('{field} is required without {other}'),
  one_required: problem('{field} must contain at least one of {fields}'),
  needs: problem('{field} needs {other}'),
  not_together: problem('{field} must not stand beside {others}'),
  not_allowed: problem('{field} is not allowed'),
  unknown_field: problem('{field} is not known'),
  unknown_parameter: problem('{field} is not known to this operation'),
  repeated_parameter: problem('{field} must not be repeated'),
  misnamed: problem('{field} is called {name} here'),
  immutable: problem('{field} cannot be changed'),
  empty: problem('{field} is not allowed to be empty'),
  blank: problem('{field} must not be blank'),
};

const FORM = {
  wrong_type: problem('{field} must be a number', { type: 'number' }),
  not_one_of: problem('{field} must be one of {values}'),
  invalid: problem('{field} contains an invalid value'),
  invalid_uuid: problem('{field} must be a UUID'),
  invalid_date: problem('{field} must be a calendar day written YYYY-MM-DD'),
  invalid_timestamp: problem('{field} must be an ISO 8601 timestamp'),
  invalid_time_zone: problem('{field} must be an IANA time zone such as Europe/Berlin'),
  invalid_time: problem('{field} must be a time such as 09:00'),
  invalid_locale: problem('{field} must be a language tag such as en-US'),
  invalid_currency: problem('{field} must be a 3-letter ISO 4217 currency code'),
  invalid_country: problem('{field} must be a 2-letter ISO 3166-1 country code'),
  invalid_email: problem('{field} must be a valid email'),
  invalid_domain: problem('{field} must contain a valid domain name'),
  invalid_url: problem('{field} must be an http(s) URL'),
  invalid_image: problem('{field} must be an http(s) URL or a base64 data URI of an image'),
  invalid_colour: problem('{field} must be a hex colour such as #1a2b3c'),
  invalid_decimal: problem('{field} must be a number or a plain decimal such as "1.50"'),
  invalid_hours: problem('{field} must be a number, or a text such as "1:30", "90m" or "1h 30m"'),
  invalid_unit: problem('{field} must be one of hour, day, or a code of UN/ECE Recommendation 20'),
  invalid_vat_id: problem('{field} is no VAT id: its check digits are wrong'),
  invalid_register_number: problem('{field} is no number of scheme {scheme}'),
  invalid_iban: problem('{field} is no IBAN: form or check digits are wrong'),
  invalid_bic: problem('{field} is no BIC'),
  invalid_qr_iban: problem('{field} is no QR-IBAN: its digits 5 to 9 are not between 30000 and 31999'),
  iban_not_swiss: problem('{field} must be an IBAN of Switzerland or Liechtenstein'),
  letters_not_swiss: problem('{field} must have only letters that a QR-bill can carry: those of Latin alphabets'),
  invalid_link: problem('{field} must be an https URL without a user, and with nothing in braces before its path'),
  invalid_format: problem('{field} fails to match the required pattern'),
  unprintable: problem('{field} must not hold control characters or broken Unicode'),
  not_one_line: problem('{field} must be one line'),
  not_integer: problem('{field} must be an integer'),
  not_finite: problem('{field} must be a finite number'),
  beyond_exact: problem('{field} is too large'),
  duplicate: problem('{field} contains a duplicate value'),
};

const SIZE = {
  too_small: problem('{field} must be greater than or equal to {limit}'),
  not_greater: problem('{field} must be greater than {limit}'),
  not_positive: problem('{field} must be positive'),
  too_large: problem('{field} must be less than or equal to {limit}'),
  too_short: problem('{field} must be at least {limit} characters long'),
  too_long: problem('{field} must be at most {limit} characters long'),
  wrong_length: problem('{field} must be {limit} characters long'),
  too_few_items: problem('{field} must contain at least {limit} items'),
  too_many_items: problem('{field} must contain less than or equal to {limit} items'),
  wrong_count: problem('{field} must contain {limit} items'),
  too_few_fields: problem('{field} must have at least {limit} key'),
  too_many_fields: problem('{field} must have less than or equal to {limit} keys'),
  less_than_a_second: problem('{field} must be at least one second'),
  exceeds_max_entry_hours: problem('{field} must be less than or equal to {limit}, the max_entry_hours of the account'),
  finds_too_many: problem('{field} finds more than {limit} clients: use a longer text'),
  concerns_too_many: problem('{field} concerns more than {limit} records: filter by project_id or invoice_id'),
};

const QUERY_AND_PAGES = {
  query_malformed: problem('{field} must be percent-encoded UTF-8'),
  too_many_parameters: problem('{field} must hold at most {limit} parameters'),
  invalid_parameter_names: problem('{field} must hold plain parameter names only'),
  cursor_malformed: problem('{field} must be the cursor of a `Link` header'),
  cursor_of_other_list: problem('{field} belongs to a list of another order or with other filters'),
  cursor_gone: problem('{field} stands at a record that is gone: begin with the first page'),
};

const DAYS_AND_TIMES = {
  too_early: problem('{field} must not be before {earliest}'),
  too_late: problem('{field} must not be after {latest}'),
  before_last_issued: problem('{field} must not be before {earliest}, when the last one was issued'),
  before_other: problem('{field} must not be before {other}'),
  after_other: problem('{field} must not be after {other}'),
  not_after: problem('{field} must be after {other}'),
  in_future: problem('{field} must not be in the future'),
  in_past: problem('{field} must be in the future'),
  before_timer: problem('{field} must be after started_at of the timer'),
  before_running_timer: problem('{field} must be after that of the running timer: stop it first'),
  time_too_long: problem('{field} must be at most {limit} hours after started_at, the max_entry_hours'),
  follows_from_times: problem(
    '{field} of measured time follows from its times: send started_at and ended_at, or null for both: then the entry has hours alone',
  ),
  hours_differ: problem('{field} must be {hours}, the time from started_at to ended_at, or left out'),
  date_differs: problem('{field} must be {date}, the day of started_at in the time zone of the account, or left out'),
  day_of_weeks: problem('{field} must not stand beside weeks: they are counted from start_on'),
  schedule_empty: problem('{field} has no occurrence from {day} on'),
};

const REFERENCES = {
  not_found: problem('{record|words} not found or access denied'),
  of_other_client: problem('{field} must be {records|words} of the same client'),
  invoice_still_stands: problem(
    '{field} must be an invoice that was issued, and cancelled or credited in whole: {number}',
  ),
  time_of_other_client: problem('{field} must be time for the same client'),
  of_other_project: problem('{field} must be tasks of the projects that are billed'),
  task_of_former_project: problem('{field} is required: the task is of the former project. Null is none'),
  invoice_currency_differs: problem('{field} must be in {currency}, the currency of the invoice'),
  line_not_on_invoice: problem('{line}.line must be at most {limit}, as many lines the invoice has'),
  line_rate_ambiguous: problem('{line} needs a tax_rate, or the line that it credits: {number} has several rates'),
  unknown_event_type: problem('{event} is no event type'),
  other_mode: problem("{field} must be {mode}, as the account's is"),
  url_rejected: problem('{field} must use https (scheme)', { reason: 'scheme' }),
  url_registered: problem(
    '{field} is also that of webhook {id}: each of the two gets the events that it subscribes to',
  ),
  prefix_taken: problem('{field} must not have the same prefix for two kinds of documents'),
  prefix_without_year: problem('{field}.prefix must hold the year in braces when numbers restart yearly'),
};

const MONEY = {
  too_many_decimals: problem('{field} must have at most {decimals} decimals in {currency}'),
  not_whole_in_currency: problem('{field} must be a whole number in {currency}'),
  percent_too_precise: problem('{field} must have at most 2 decimals'),
  step_too_precise: problem('{field} must not have more than {decimals} decimals in {currency}'),
  below_smallest_unit: problem('{field} must be at least the smallest unit of {currency}'),
  too_large_in_currency: problem('{field} is too large in {currency}'),
  too_large_at_one_rate: problem('{field} is too large in {currency} at one tax rate'),
  line_too_large: problem('{line} is too large in {currency}'),
  rate_needed: problem('{rate} must be greater than 0 in tax_category {category}'),
  rate_not_allowed: problem('{rate} must be 0 in tax_category {category}'),
  rate_missing: problem('{count} time entries have no rate: {time_entry_ids}'),
  tax_id_missing: problem('{party} tax_id is required for reverse charge'),
  sum_negative: problem('{field} must not sum to less than 0'),
  sum_negative_before_tax: problem('{field} must not sum to less than 0 before tax'),
  sum_negative_with_tax: problem('{field} must not sum to less than 0 with tax'),
  sum_zero_on_one_side: problem('{field} must not sum to 0 before tax or with it alone'),
  sum_not_positive: problem('{field} must sum to more than 0'),
  exceeds_amount: problem('{field} must not sum to more than amount'),
  exceeds_line_items: problem('{field} must not be more than the sum of line_items'),
  amount_differs: problem('{field} must be the sum of line_items, {sum}, or be left out', { net: '840.34' }),
  discount_differs: problem('{field} must be left out beside discount_percent, or be what it gives, {amount}'),
  lines_required_for_time: problem('{field} are required on an invoice that time is added to'),
  lines_required_without_time: problem('{field} are required without include_time'),
  share_required: problem('percent or amount is required for {part}'),
  share_not_allowed: problem('percent and amount are not allowed for {part}'),
  one_share: problem('percent and amount must not both be given for {part}'),
  lines_not_allowed: problem('{fields} must not be given for {part}: its price is that of the quote'),
  credited_in_several_ways: problem('amount must not stand beside line_items'),
  standard_look_only: problem('copy=issued has only the standard look'),
  bank_account_unclear: problem('{field} must have either iban or text'),
  qr_iban_misplaced: problem('{field} is a QR-IBAN: it belongs in qr_iban'),
  unknown_link_name: problem('{field} must not contain {names}: there is no such value in a link'),
};

const E_INVOICES = {
  e_invoice_field_missing: problem('is missing ({rule})'),
  e_invoice_field_missing_or: problem('is missing, and so is {other} ({rule})'),
  e_invoice_category_missing: problem('is missing: a rate of 0 needs one of Z, E, AE, K, G, O ({rule})'),
  e_invoice_category_not_alone: problem('of tax_category O do not stand beside others ({rule})'),
  e_invoice_vat_id_out_of_scope: problem('does not stand beside tax_category O ({rule})'),
  e_invoice_scheme_unknown: problem('is missing: Peppol does not know the scheme {scheme} ({rule})'),
  e_invoice_rounding_unknown: problem('rounds the total, and {rules} has no field for that (BT-114)'),
  e_invoice_tax_in_units: problem('is {currency}, whose tax is rounded to whole units: {rules} takes none ({rule})'),
  e_invoice_tax_differs: problem('at {rate} % is one {currency} or more from that rate of its taxable amount ({rule})'),
  e_invoice_three_decimals: problem('has amounts with three decimals, EN 16931 has two'),
  e_invoice_not_base64: problem('must be a file in base64'),
  attachment_name: problem('{field} must be a name without slashes that ends with one of {types}'),
  attachment_name_repeated: problem('{field} is the name of another file, too'),
  attachment_content: problem('{field} is not a file of the type {type}, as its name says'),
  attachments_too_large: problem('{field} must have at most {limit_mib} MiB together'),
  e_invoice_not_xml: problem('is no XML that can be read: {reason}'),
  e_invoice_document_type: problem('must not have a document type: entities are not resolved'),
  e_invoice_encoding: problem('is not text in {encoding}'),
  e_invoice_too_deep: problem('has more than {limit} elements in each other'),
  e_invoice_too_many_elements: problem('has more than {limit|number} elements'),
  e_invoice_too_many_attributes: problem('has an element with more than {limit} attributes'),
  e_invoice_text_too_long: problem('has a text of more than {limit|number} characters'),
  e_invoice_file_too_large: problem('must have at most {limit_mib} MiB'),
  e_invoice_too_costly: problem('takes too much time or memory to read'),
  e_invoice_syntax_unknown: problem('is neither UBL nor CII: its root element is {root}'),
  e_invoice_pdf_encrypted: problem('is an encrypted PDF: save it without a password first'),
  e_invoice_pdf_broken: problem('is no PDF that can be read: {reason}'),
  e_invoice_pdf_unpacks: problem('is a PDF that unpacks to more than {limit_mib} MiB'),
  e_invoice_pdf_without_xml: problem('is a PDF without an e-invoice in it'),
  e_invoice_pdf_several: problem(
    'is a PDF with several XML files, and their names do not say which is the invoice: {names}',
  ),
};

/** True for a problem whose text does not name its field, because `details` and `problems` do. */
export function isWithoutField(code: ProblemCode): boolean {
  return Object.hasOwn(E_INVOICES, code);
}
const MAIL = {
  not_a_recipient: problem('{field} is not a recipient of the message'),
  host_rejected: problem('{field} must be the name of a public mail server ({reason})', { reason: 'address' }),
  mail_port_rejected: problem('{field} must be 25, 465 or 587'),
  report_unreadable: problem('{field} is no delivery report that can be read'),
  report_too_costly: problem('{field} takes too much time or memory to read'),
  report_without_message: problem('{field} names no message: neither its return path nor its Message-ID'),
  report_without_recipient: problem('{field} names no recipient of the message'),
  send_time_out_of_range: problem('{field} must be within the next {days} days'),
  unknown_placeholder: problem('{field} must not contain {names}: there is no such value in a mail of this kind'),
};

/** All of them under the headings of the guide. */
export const PROBLEM_GROUPS = {
  Presence: PRESENCE,
  Form: FORM,
  Size: SIZE,
  'Query and pages': QUERY_AND_PAGES,
  'Days and times': DAYS_AND_TIMES,
  References: REFERENCES,
  Money: MONEY,
  'E-invoices': E_INVOICES,
  Mail: MAIL,
};

export const PROBLEMS = {
  ...PRESENCE,
  ...FORM,
  ...SIZE,
  ...QUERY_AND_PAGES,
  ...DAYS_AND_TIMES,
  ...REFERENCES,
  ...MONEY,
  ...E_INVOICES,
  ...MAIL,
};

export type ProblemCode = keyof typeof PROBLEMS;
