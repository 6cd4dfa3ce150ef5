// Every error of the API, once: its code, its status, its text and what a caller can do. A code is never removed, renamed or used for something else.
import type { ParamValue } from './template.ts';

type Extra = Readonly<Record<string, ParamValue>>;

interface Declaration<Text extends string = string, More extends Extra = Extra> {
  status: number;
  /** The text, in the specification's words where it has some. Its gaps are the parameters of the error. */
  text: Text;
  /** The advice to callers, in Markdown. */
  advice: string;
  /** Parameters that the text does not contain, and an example of each. */
  extra?: More;
}

const withStatus =
  (status: number) =>
  <const Text extends string, More extends Extra = Record<never, never>>(
    text: Text,
    advice: string,
    extra?: More,
  ): Declaration<Text, More> => ({ status, text, advice, ...(extra ? { extra } : {}) });

const badRequest = withStatus(400);
const forbidden = withStatus(403);
const notFound = withStatus(404);
const conflict = withStatus(409);
const unprocessable = withStatus(422);
const tooMany = withStatus(429);
const unavailable = withStatus(503);

const CHECK_ID = 'Check the id. It is unknown, or of another account.';
const RETRY_AFTER = 'Repeat the request after `Retry-After` seconds.';
const SHORTEN = 'Shorten the texts, or split the document.';

const INPUT = {
  validation_failed: badRequest('Validation failed', 'Correct the fields that `problems` names, and send it again.'),
  missing_required_fields: badRequest(
    'Missing required fields: name, email',
    'Send the fields that `fields` names. Each is in `problems` as well.',
    { fields: ['email'] },
  ),
  no_valid_fields: badRequest('No valid fields to update', 'Send at least one field that the operation can change.'),
  malformed_request: badRequest('Malformed request', 'Send valid percent-encoding and one `Host` header.'),
  body_not_json: badRequest('Request body is not valid JSON', 'Send JSON (RFC 8259).'),
  body_not_utf8: badRequest('Request body is not valid UTF-8', 'Encode the body as UTF-8.'),
  body_incomplete: badRequest('Request body is incomplete', 'Send as many bytes as `Content-Length` says.'),
  body_value_too_long: badRequest(
    'Request body must hold no value of more than {limit_kib} KiB but images',
    'Shorten the longest value.',
  ),
  body_too_many_values: badRequest('Request body must hold at most {limit} values', 'Send several smaller requests.'),
  body_too_deep: badRequest('Request body is nested too deeply', 'Send the body as the reference shows it.'),
  body_name_rejected: badRequest('Request body must not hold the name {name}', 'Leave the name out.'),
  idempotency_key_malformed: badRequest(
    'Idempotency-Key must be 1 to 255 visible ASCII characters',
    'Send a key such as a UUID.',
  ),
};

const ACCESS = {
  unauthorized: withStatus(401)(
    'Unauthorized: Invalid or revoked API key',
    'Send a usable key as `Authorization: Bearer <key>`. A retry with the same key does not help.',
  ),
  scope_missing: forbidden('Forbidden: API key lacks the {scope} scope', 'Use a key with the scope.'),
  key_outlived: forbidden(
    'Forbidden: API key expires at {expires_at}, the new key must not outlive it',
    'Send an `expires_at` that is not later, or use a key without an end.',
  ),
};

const ROUTES_AND_RECORDS = {
  route_not_found: notFound('Not found', 'Check the path. No operation has it.'),
  acceptance_not_found: notFound('Acceptance not found', 'The client has not accepted the quote on its page.'),
  account_not_found: notFound('Account not found or access denied', CHECK_ID),
  allocation_not_found: notFound('Allocation not found or access denied', CHECK_ID),
  api_key_not_found: notFound('API key not found or access denied', CHECK_ID),
  batch_not_found: notFound('Batch of documents not found or access denied', `${CHECK_ID} A batch is kept for a day.`),
  client_not_found: notFound('Client not found or access denied', CHECK_ID),
  attachment_not_found: notFound('Attachment not found or access denied', 'Read the list of files first.'),
  credit_note_not_found: notFound('Credit note not found or access denied', CHECK_ID),
  delivery_not_found: notFound('Delivery not found or access denied', CHECK_ID),
  document_not_found: notFound('Document not found or access denied', 'Correct the ids that `problems` names.'),
  event_not_found: notFound('Event not found or access denied', CHECK_ID),
  expense_not_found: notFound('Expense not found or access denied', CHECK_ID),
  hour_package_not_found: notFound('Hour package not found or access denied', CHECK_ID),
  invoice_not_found: notFound('Invoice not found or access denied', CHECK_ID),
  item_not_found: notFound('Item not found or access denied', CHECK_ID),
  mail_server_not_found: notFound(
    'Mail server not found',
    'Set one first, or go without: mail leaves by the server of the installation.',
  ),
  mail_template_not_found: notFound(
    'Mail template not found or access denied',
    'Use one of the kinds that the reference names.',
  ),
  link_not_found: notFound('Link not found or access denied', CHECK_ID),
  message_not_found: notFound('Message not found or access denied', CHECK_ID),
  payment_not_found: notFound('Payment not found or access denied', CHECK_ID),
  project_not_found: notFound('Project not found or access denied', CHECK_ID),
  question_not_found: notFound('Question not found or access denied', CHECK_ID),
  quote_not_found: notFound('Quote not found or access denied', CHECK_ID),
  recurring_invoice_not_found: notFound('Recurring invoice not found or access denied', CHECK_ID),
  stripe_settings_not_found: notFound('Stripe settings not found', 'Set them first.'),
  suppression_not_found: notFound('Suppression not found or access denied', 'Check the address. It is not suppressed.'),
  task_not_found: notFound('Task not found or access denied', `${CHECK_ID} A task has to be one of the project.`),
  time_entry_not_found: notFound('Time entry not found or access denied', CHECK_ID),
  timer_not_found: notFound('Timer not found or access denied', CHECK_ID),
  webhook_not_found: notFound('Webhook not found or access denied', CHECK_ID),
  write_off_not_found: notFound('Write-off not found or access denied', CHECK_ID),
  method_not_allowed: withStatus(405)('Method not allowed', 'Use a method that the header `Allow` names.'),
  record_changed: withStatus(412)(
    'The record has changed: If-Match does not match its ETag',
    'Read the record again, decide anew, and send its present `ETag`.',
  ),
  body_too_large: withStatus(413)('Request body is too large', 'Send less in one request.'),
  content_type_not_json: withStatus(415)(
    'Content-Type must be application/json',
    'Send `Content-Type: application/json`.',
  ),
  encoding_not_supported: withStatus(415)(
    'Unsupported content encoding or charset',
    'Send the body as plain UTF-8, not compressed.',
  ),
  caller_gone: withStatus(499)(
    'The caller has gone',
    'No caller receives it: the connection ended before the response.',
  ),
};

const RETRIES_AND_LIMITS = {
  idempotency_key_running: conflict('A request with this Idempotency-Key is still running', RETRY_AFTER),
  idempotency_key_reused: unprocessable(
    'Idempotency-Key was already used with another request',
    'Use a new key for each new request, the old one only for the same request.',
  ),
  external_id_reused: unprocessable(
    'external_id was already used with another {record|words}',
    'Read what has the `external_id`. A correction needs another one.',
  ),
  external_id_voided: conflict(
    'external_id was already used with {number}, which was voided',
    'Book the payment with another `external_id`.',
  ),
  rate_limited: tooMany('Too many requests, please slow down', RETRY_AFTER),
  too_many_uploads: tooMany('Too many large uploads at the same time', RETRY_AFTER),
  too_many_lists: tooMany('Too many lists are being read at the same time', RETRY_AFTER),
  too_many_unread_responses: tooMany(
    'Too many responses are waiting to be read',
    'Read the responses that were sent, then repeat the request.',
  ),
  too_many_documents: tooMany('Too many documents at the same time', RETRY_AFTER),
  batches_running: tooMany(
    '{limit} batches of documents are not finished yet',
    'Wait until a batch is finished, or delete one.',
  ),
  batch_being_taken: tooMany('Another batch of documents is being taken, please try again', RETRY_AFTER),
  upload_capacity_exhausted: unavailable('Upload capacity exhausted, retry later', RETRY_AFTER),
  response_capacity_exhausted: unavailable('Too many responses are waiting to be read, retry later', RETRY_AFTER),
  too_many_waiting_documents: unavailable('Too many documents are waiting, please try again later', RETRY_AFTER),
  too_many_waiting_changes: unavailable('Too many changes are waiting, please try again later', RETRY_AFTER),
  record_busy: unavailable('The record is busy, please try again', RETRY_AFTER),
  change_unknown: unavailable(
    'It is not known whether the change was stored, please check',
    'Repeat the request with the same `Idempotency-Key`, or read the record first.',
  ),
  service_unavailable: unavailable('The service is temporarily unavailable', RETRY_AFTER),
  internal_error: withStatus(500)(
    'Internal server error',
    'Tell the operator the `X-Request-Id`. The log has the reason under it.',
  ),
  quota_exceeded: conflict(
    'Records and events would take {size}, at most {limit} are kept for an account: ask its operator for more',
    'Delete records, or ask the operator.',
  ),
  batch_quota_exceeded: conflict(
    'Files of batches would take {size}, at most {limit} are kept for an account: delete a batch, or wait until one expires',
    'Delete a batch, or wait until one expires.',
  ),
  batches_kept: conflict(
    '{limit} batches of documents are kept already: delete one, or wait until it expires',
    'Delete a batch, or wait until one expires.',
  ),
  record_too_large: conflict(
    'A {record|words} can have at most {limit_kib} KiB with all that belongs to it',
    'Use another record for what is added.',
  ),
  texts_too_large: conflict(
    'Too much text in the {records|words} of one request (at most {limit_mib} MiB)',
    'Name fewer records in one request.',
  ),
  api_key_limit_reached: conflict('An account can have at most {limit} usable API keys', 'Revoke a key first.'),
  webhook_limit_reached: conflict('An account can have at most {limit} webhook endpoints', 'Delete a webhook first.'),
  portal_link_limit_reached: conflict(
    'An account can have at most {limit} portal links at a time',
    'Use a link that you have made, or wait until one of them expires.',
  ),
  link_limit_reached: conflict(
    'A document or client can have at most {limit} links that are not revoked',
    'Use a link that you have made, or revoke one.',
  ),
  webhook_being_registered: conflict('Another endpoint is being registered, please try again', 'Repeat the request.'),
};

const DOCUMENTS_AS_FILES = {
  document_late: withStatus(504)(
    'The document was not ready before its deadline',
    'Repeat the request. If it happens again, shorten the document or use a batch.',
  ),
  renderer_ended: withStatus(502)(
    'The renderer ended while it printed the document',
    'Repeat the request once. If it happens again, the document is too much work.',
  ),
  printing_unavailable: unavailable('Documents cannot be printed at the moment', RETRY_AFTER),
  printing_failed: unavailable('The document could not be printed, try again later', RETRY_AFTER),
  document_not_printable: unprocessable(
    'The document cannot be printed',
    'Check the texts and images of the document.',
  ),
  document_not_printed: unprocessable(
    'The document could not be printed',
    'Check the texts and images of the document.',
  ),
  document_too_slow: unprocessable('The document takes too long to print', SHORTEN),
  document_needs_memory: unprocessable('The document needs too much memory to print', SHORTEN),
  markdown_late: unavailable('bodyMarkdown could not be laid out in time, please try again later', RETRY_AFTER),
  markdown_not_printable: unprocessable('bodyMarkdown could not be laid out', 'Simplify `bodyMarkdown`.'),
  document_too_long: unprocessable(
    'The document is estimated at {pages|number} pages of work, at most {limit} are printed',
    SHORTEN,
  ),
  document_texts_too_long: unprocessable(
    'The text of the document is estimated at {pages|number} pages of work, at most {limit} are printed',
    SHORTEN,
  ),
  client_texts_too_long: unprocessable(
    'The name and address of the client is estimated at {pages|number} pages of work, at most {limit} are printed',
    'Shorten the name and address of the client.',
  ),
  account_texts_too_long: unprocessable(
    'The profile of the account is estimated at {pages|number} pages of work, at most {limit} are printed',
    'Shorten the profile of the account.',
  ),
  draft_without_original: conflict('A draft has no original', 'Issue the document first, or leave `copy` out.'),
  batch_document_queued: conflict('The document is not printed yet', RETRY_AFTER),
  batch_document_failed: conflict(
    'The document could not be printed: {reason}',
    'See `reason_code`, correct the document, and print it again.',
    { reason_code: 'quote_not_found' },
  ),
  batch_running: conflict('The batch is not finished yet', RETRY_AFTER),
  batch_empty: conflict(
    'No document of the batch could be printed',
    'See `error_code` of its documents, correct them, and send a new batch.',
  ),
  batch_document_late: conflict('Not printed within 24 hours', 'Send it in a new batch.'),
  batch_document_too_large: conflict('The PDF is larger than {limit_mib} MiB', 'Print the document alone.'),
};

const CLIENTS_AND_PROJECTS = {
  client_in_use: conflict('Cannot delete a client with {records|words}', 'Delete these first, or keep the client.'),
  client_anonymised: conflict(
    'Client was anonymised: it takes no new projects and documents',
    'Create the client anew, and use that one.',
  ),
  client_change_anonymised: conflict('Cannot change a client that was anonymised', 'Create the client anew.'),
  project_in_use: conflict('Cannot delete a project with {records|words}', 'Delete these first, or keep the project.'),
  project_fixed_amount_billed: conflict(
    'Cannot delete a project with a billed fixed amount',
    'Keep the project, or take its invoices back first.',
  ),
  project_too_large: conflict(
    'Cannot delete a project with more than {limit} tasks or {limit_mib} MiB of them: delete tasks first',
    'Delete tasks first.',
  ),
  project_of_documents: conflict(
    'Cannot move a project with {records|words} to another client',
    'Create a project of the other client.',
  ),
  project_fixed_amount_moved: conflict(
    'Cannot move a project with a billed fixed amount to another client',
    'Create a project of the other client.',
  ),
  project_of_recurring: conflict(
    'Cannot stop billing a project with recurring invoices',
    'Take the project off its recurring invoices first.',
  ),
  project_not_fixed: conflict('Project has no fixed amount', 'Set `billing` and `fixed_amount` of the project.'),
  project_time_billed: conflict(
    'Cannot set billing to fixed for a project with billed time',
    'Take the time off its invoices, or create another project.',
  ),
  fixed_amount_fields_locked: conflict(
    'Cannot change {fields} of a project whose fixed amount was billed',
    'Leave these fields as they are.',
  ),
  fixed_amount_below_billed: conflict(
    'Cannot set a fixed amount below {billed}: so much was billed',
    'Send at least `billed`.',
  ),
  fixed_amount_exceeded: conflict('Only {left} of the fixed amount is left to bill', 'Send at most `left`.'),
};

const TASKS_TIME_AND_EXPENSES = {
  task_time_issued: conflict('Cannot delete a task with time on an issued invoice', 'Keep the task.'),
  task_time_on_draft: conflict(
    'Cannot delete a task with time on a draft invoice: take it off {number} first',
    'Take the time off the invoice.',
  ),
  task_time_settled: conflict(
    'Cannot delete a task with settled time: set it to unbilled first',
    'Set the time to unbilled, or keep the task.',
  ),
  task_too_large: conflict(
    'Cannot delete a task with more than {limit} time entries or {limit_mib} MiB of them: delete time entries first',
    'Delete time entries first.',
  ),
  task_in_use: conflict('Cannot delete a task with {records|words}', 'Take the task off these first.'),
  task_not_movable: conflict(
    'Cannot move a task with {records|words} to another project',
    'Create a task in the other project.',
  ),
  timer_running_on_record: conflict('Cannot {action|words} with a running timer', 'Stop or discard the timer first.'),
  timer_already_running: conflict('A timer is already running', 'Stop it, or send `on_running`.'),
  timer_not_running: conflict('Timer is not running', 'Read the timer: it was stopped or discarded.'),
  timer_too_long: conflict(
    'Timer has run for {hours} hours: send ended_at',
    'Send `ended_at`, the time when work ended.',
  ),
  running_timer_too_long: conflict(
    'The running timer has run for {hours} hours: stop it with ended_at first',
    'Stop that timer with `ended_at`.',
  ),
  time_locked: conflict(
    'Time before {day} is locked, the time_locked_before of the account',
    'Use a later day, or move `time_locked_before`.',
  ),
  time_entry_settled: conflict('Time entry is settled: set it to unbilled first', 'Set it to unbilled first.'),
  time_entry_issued: conflict(
    'Cannot change time on an issued invoice',
    'Credit the invoice instead. Its time may then be billed again.',
  ),
  time_entry_on_draft: conflict(
    'Cannot change time on a draft invoice: take it off {number} first',
    'Take the time off the invoice.',
  ),
  time_entry_not_billable: conflict('Time entry is not billable', 'Set `billable` of the entry, or leave it out.'),
  time_entry_covered: conflict(
    'Time entry is covered by the fixed amount of its project',
    'Bill the fixed amount of the project.',
  ),
  time_entry_already_billed: conflict(
    'Time entry is already on {number}',
    'Leave it out, or take it off that invoice first.',
  ),
  time_entry_not_on_invoice: conflict('Time entry is not on this invoice', 'Name entries that the invoice has.'),
  expense_settled: conflict('Expense is settled: set it to unbilled first', 'Set it to unbilled first.'),
  expense_issued: conflict(
    'Cannot change an expense on an issued invoice',
    'Credit the invoice instead. Its expenses may then be billed again.',
  ),
  expense_on_draft: conflict(
    'Cannot change an expense on a draft invoice: take it off {number} first',
    'Take the expense off the invoice.',
  ),
  expense_not_billable: conflict('Expense is not billable', 'Set `billable` of the expense, or leave it out.'),
  expense_already_billed: conflict(
    'Expense is already on {number}',
    'Leave it out, or take it off that invoice first.',
  ),
  expense_not_on_invoice: conflict('Expense is not on this invoice', 'Name expenses that the invoice has.'),
  rate_of_too_many_entries: conflict(
    'Cannot apply a rate to more than {limit} unbilled time entries or {limit_mib} MiB of them: bill some first',
    'Bill some of the time first, or leave `apply_to` out.',
  ),
  nothing_to_bill: conflict('Nothing to bill', 'Select other work. All of the selected is billed, or none matches.'),
  too_many_time_entries: conflict(
    'Too many time entries for one invoice (at most {limit})',
    'Select less, for instance by `date_to`.',
  ),
  time_entry_texts_too_large: conflict(
    'Too much text in the time entries of one invoice (at most {limit_mib} MiB)',
    'Select less, for instance by `date_to`.',
  ),
  too_many_expenses: conflict('Too many expenses for one invoice (at most {limit})', 'Select less.'),
  too_many_lines: conflict('Too many lines (at most {limit}): {instead}', 'Select less, or group lines.'),
  hour_package_limit_reached: conflict(
    'Too many hour packages of a client (at most {limit})',
    'Delete packages that no invoice draws from.',
  ),
  hour_package_in_use: conflict(
    'Cannot delete an hour package that invoices draw from',
    'Set `valid_until` instead, so that nothing more is drawn.',
  ),
  hour_package_below_drawn: conflict('Cannot set hours below {drawn}: so many were drawn', 'Send at least `drawn`.'),
};

const QUOTES = {
  quote_already_sent: conflict('Cannot change {fields} after the quote was sent', 'Create a new quote.'),
  quote_already_accepted: conflict('Cannot change {fields} of an accepted quote', 'Create a new quote.'),
  quote_already_billed: conflict(
    'Cannot change {fields} of a quote that was billed',
    'Leave these fields as they are, or create a new quote.',
  ),
  quote_below_billed: conflict('Cannot set an amount below {billed}: so much was billed', 'Send at least `billed`.'),
  quote_not_draft: conflict('Can only delete quotes with Draft status', 'Decline the quote instead.'),
  quote_has_invoices: conflict('Cannot delete a quote with invoices', 'Delete its draft invoices first.'),
  quote_too_large: conflict(
    'Cannot delete a quote with more than {limit} messages or {limit_mib} MiB of them',
    'Keep it as a draft. Anonymising its client erases the messages.',
  ),
  quote_already_invoiced: conflict('Quote was already converted to {number}', 'Read that invoice. All is billed.'),
  quote_amount_exceeded: conflict('Only {left} of {number} is left to bill', 'Send at most `left`.'),
  quote_part_is_draft: conflict(
    'Cannot make the final invoice while {number} is a draft',
    'Send or delete that invoice first.',
  ),
  quote_part_limit_reached: conflict(
    'A quote can have at most {limit} invoices',
    'Bill the rest as the final invoice.',
  ),
  question_not_open: conflict('The question is {status} already', 'Its client can ask again on its page.'),
  quote_declined: conflict('Cannot convert a declined quote', 'Create a new quote.'),
  quote_not_accepted: conflict(
    'Cannot convert a quote that is not accepted',
    'Send `accept: true` if the client agreed, or set its status.',
  ),
  quote_changed_since_accepted: conflict(
    'Quote was changed after it was accepted',
    'Have it accepted again, or send `accept_changes: true`.',
  ),
  final_invoice_outdated: conflict(
    'Cannot send {number}: {changed} has changed since. Recalculate it, or delete it and convert again',
    'Send `recalculate: true`, or delete the draft and convert again.',
  ),
  not_final_draft: conflict(
    'Can only recalculate the final invoice of a quote with Draft status',
    'Leave `recalculate` out.',
  ),
  final_invoice_without_quote: conflict(
    'Can only recalculate the final invoice of a quote that exists',
    'Leave `recalculate` out, or delete the draft.',
  ),
};

const INVOICES = {
  invoice_not_draft: conflict('Can only delete invoices with Draft status', 'Cancel the invoice, or credit it.'),
  invoice_already_sent: conflict('Cannot change {fields} after the invoice was sent', 'Credit it and make a new one.'),
  invoice_already_paid: conflict('Cannot change {fields} of a paid invoice', 'Credit it and make a new one.'),
  invoice_already_cancelled: conflict('Cannot change {fields} of a cancelled invoice', 'Make a new one.'),
  invoice_status_not_possible: conflict(
    'Cannot change status from {from} to {to}',
    'Read the invoice. From its status there is no way to the one you sent.',
  ),
  invoice_incomplete: conflict(
    'The invoice lacks what the law wants on it',
    'Add what `problems` names to account, client or invoice, or set `strict_invoices` of the account to false.',
  ),
  invoice_nothing_overdue: conflict(
    'Cannot set status Overdue: nothing is due',
    'Leave the status as it is. An invoice of 0 is never overdue.',
  ),
  invoice_client_fixed: conflict(
    'Cannot change client_id of an invoice {reason|words}',
    'Delete the draft, and make a new one for the other client.',
  ),
  invoice_currency_of_time: conflict(
    'Cannot change currency of an invoice with time: take it off first',
    'Take the time off the invoice.',
  ),
  invoice_currency_of_expenses: conflict(
    'Cannot change currency of an invoice with expenses: take them off first',
    'Take the expenses off the invoice.',
  ),
  quote_part_locked: conflict(
    'Cannot change {fields} of a part of {number}: delete it and convert again',
    'Delete the draft and convert the quote again.',
  ),
  fixed_amount_part_locked: conflict(
    'Cannot change {fields} of a part of the fixed amount: delete it and bill it again',
    'Delete the draft and bill the fixed amount again.',
  ),
  invoice_of_quote_part: conflict(
    'Cannot add time to a part of {number}: bill it on an invoice of its own',
    'Bill the time on an invoice of its own.',
  ),
  invoice_time_issued: conflict('Cannot change the time of an issued invoice', 'Credit the invoice instead.'),
  discount_exceeds_lines: conflict(
    'Cannot leave {left} on an invoice with a discount_amount of {discount}: lower it first',
    'Lower `discount_amount` first.',
  ),
  number_format_taken: conflict(
    'Another format gave thousands of the next numbers: choose another prefix',
    'Choose another prefix in `number_formats`.',
  ),
  number_start_fixed: conflict(
    'Cannot change the start of {sequence} numbers after one was drawn',
    'Leave `start` as it is, or choose another prefix.',
  ),
  recurring_limit_reached: conflict(
    'Too many recurring invoices (at most {limit})',
    'Delete recurring invoices that have ended.',
  ),
  recurring_ended: conflict('Recurring invoice has ended', 'Create a new one.'),
  recurring_not_paused: conflict('Recurring invoice is not paused', 'Read it: it runs, or it has ended.'),
  recurring_day_not_due: conflict(
    '{day} is not the day of the next occurrence, nor of one without an invoice',
    'Read the recurring invoice, and send a day of its schedule.',
  ),
  recurring_day_invoiced: conflict('The occurrence of {day} has an invoice: {number}', 'Read that invoice.'),
  recurring_day_left_out: conflict(
    'The occurrence of {day} was left out already',
    'Run the day if it shall have an invoice after all.',
  ),
  recurring_days_lost: conflict(
    'Occurrences are due that the new schedule does not have: {days|some}. Run or skip them first',
    'Run or skip these days first.',
  ),
  recurring_fee_period_fixed: conflict(
    'fee_period cannot be changed after the first occurrence',
    'End it, and create a new one.',
  ),
};

const PAYMENTS = {
  invoice_is_draft: conflict('Cannot pay a draft', 'Send the invoice first.'),
  invoice_cancelled: conflict('Cannot pay a cancelled invoice', 'Make a new invoice, or book without an invoice.'),
  invoice_currency_differs: conflict(
    'Cannot pay a {invoice_currency} invoice in {currency}',
    'Book the payment in the currency of the invoice.',
  ),
  invoice_nothing_due: conflict('Nothing is due on {number}', 'Book without the invoice: it becomes credit.'),
  allocation_exceeds_due: conflict(
    'Cannot allocate {amount} to {number}: {due} is due',
    'Send at most `due`. The rest stays credit of the client.',
  ),
  allocation_exceeds_rest: conflict('Cannot allocate {amount}: {left} of {number} is left', 'Send at most `left`.'),
  nothing_unallocated: conflict('Nothing is left of {number}', 'Release an allocation first.'),
  allocation_limit_reached: conflict(
    'A {record|words} can have at most {limit} allocations',
    'Book another payment for the rest.',
  ),
  nothing_allocated: conflict('Nothing of the {record|words} is allocated', 'There is nothing to release.'),
  allocation_released: conflict('Allocation was already released', 'There is nothing to do.'),
  payment_voided: conflict('Payment is already voided', 'There is nothing to do.'),
  payment_voided_not_allocable: conflict('Cannot allocate a voided payment', 'Book the payment again.'),
  payment_voided_not_refundable: conflict('Cannot refund a voided payment', 'There is nothing to refund.'),
  payment_refunded: conflict('Cannot void a payment that was refunded', 'Refund what is left instead.'),
  refund_limit_reached: conflict(
    'A {record|words} can have at most {limit} refunds',
    'Refund the rest outside of the records, and tell your accountant.',
  ),
  refund_exceeds_unallocated: conflict(
    'Cannot refund {amount}: {left} of the payment is unallocated',
    'Send at most `left`, or name the invoice.',
  ),
  refund_exceeds_paid: conflict(
    'Cannot refund {amount}: {left} of the payment is paid on {number}',
    'Send at most `left`.',
  ),
  refund_exceeds_credit: conflict(
    'Cannot refund {amount}: {left} of {number} is unallocated',
    'Send at most `left`, or release an allocation.',
  ),
  too_many_movements: unprocessable(
    'Too many movements for the balance of a past day (at most {limit})',
    'Ask for the balance of today, or of one invoice.',
  ),
  statement_too_long: unprocessable(
    'The statement has more than {limit} rows',
    'Ask for a shorter period, and go on with the next day: each begins with the balance that the one before ended with.',
  ),
  write_off_of_draft: conflict('Cannot write off a draft', 'Delete the draft.'),
  write_off_of_cancelled: conflict('Cannot write off a cancelled invoice', 'There is nothing to write off.'),
  write_off_limit_reached: conflict('{number} can have at most {limit} write-offs', 'Credit the rest instead.'),
  write_off_exceeds_due: conflict('Cannot write off {amount} of {number}: {due} is due', 'Send at most `due`.'),
  nothing_written_off: conflict('Nothing is written off of {number}', 'There is nothing to take back.'),
  write_off_of_cancelled_kept: conflict(
    'Cannot take back a write-off of a cancelled invoice',
    'Leave it. The invoice was cancelled with it.',
  ),
};

const CREDIT_NOTES = {
  credit_of_draft: conflict('Cannot credit a draft', 'Change or delete the draft.'),
  credit_of_cancelled: conflict('Cannot credit a cancelled invoice', 'There is nothing to credit.'),
  credit_exceeds_invoice: conflict('Cannot credit more than is left of {number}: {left}', 'Send at most `left`.'),
  credit_exceeds_rate: conflict(
    'Cannot credit more than is left of {number} at {rate} %: {left}',
    'Send at most `left` at this tax rate.',
  ),
  credit_exceeds_shipping: conflict(
    'Cannot credit more shipping than is left of {number}: {left}',
    'Send at most `left` as `shipping_amount`.',
  ),
  credit_exceeds_line: conflict(
    'Cannot credit more of line {line} of {number} than is left: {left}',
    'Send at most `left`.',
  ),
  credit_leaves_rate: conflict(
    'Cannot credit all of {number} without what is left at {rate} %: {left}',
    'Credit the rest at this rate as well.',
  ),
  credit_of_nothing: conflict(
    'What is credited is worth nothing: it can only be cancelled or corrected',
    'Send `reason` correction or cancellation.',
  ),
  invoice_worth_nothing: conflict(
    '{number} is worth nothing: it can only be cancelled or corrected',
    'Send `reason` correction or cancellation.',
  ),
  credit_lines_edited: conflict(
    'The lines of {number} were edited by hand: credit them as line_items',
    'Send `line_items` instead of ids.',
  ),
  credit_work_not_possible: conflict('{reason}', 'Leave out the ids of `credited_ids` and `unknown_ids`.', {
    number: 'INV-0042',
    credited_ids: ['0192…'],
    unknown_ids: [],
  }),
};

const E_INVOICES = {
  e_invoice_of_draft: conflict(
    'An invoice that was not sent has no e-invoice',
    'Send the invoice first. `GET …/e-invoice/check` tells at any time what is missing.',
  ),
  e_invoice_incomplete: conflict(
    'The {document|words} lacks what {rules} asks for',
    'Set the fields that `problems` names; each has the business term or rule that asks for it.',
  ),
  e_invoice_decimals: conflict(
    '{currency} amounts have three decimals, EN 16931 has two',
    'Use amounts whose third decimal is 0.',
  ),
  e_invoice_pdf_too_large: conflict(
    'The PDF is larger than {limit_mib} MiB, too large to stand in XML',
    'Set `e_invoice_pdf` of the client to false, or ask for `facturx`.',
  ),
};

const MAIL = {
  mail_not_set_up: conflict('Mail is not set up', 'Ask the operator: Billhook has no mail server.'),
  client_without_address: conflict('Client has no usable address', 'Send `to`, or give the client an `email`.'),
  recipient_suppressed: conflict(
    'Recipient is suppressed: {addresses}',
    'Mail to the address came back. Correct it, or free it with `DELETE /api/v1/suppressions/{address}`.',
  ),
  invoice_not_due: conflict(
    'Cannot remind about an invoice that is not due',
    'Wait until its due date; send the invoice again before.',
  ),
  document_not_mailable: conflict('Cannot send {number}: it is {status}', 'Send a document that is valid.'),
  quote_not_mailable: conflict(
    'Cannot send {number} on {day}: it is valid until {expires_at}',
    'Set a later `expires_at` first, or send it before that day ends.',
  ),
  message_not_cancellable: conflict('Cannot cancel a message that is {state}', 'It left already, or it ended.'),
  message_not_ended: conflict(
    'Cannot send a message again that is {state}',
    'Wait until it was accepted or has failed, or cancel it.',
  ),
  message_of_other_client: conflict(
    'Cannot send a message again whose document has another client now',
    'Send the document to its client.',
  ),
  mail_files_too_large: unprocessable(
    'The files of the mail have {size_mib} MiB together, at most {limit_mib} MiB are sent',
    'Send `attach_pdf: false`, or fewer or smaller files with the invoice.',
  ),
  mail_text_not_printable: unprocessable(
    'The text of the mail could not be laid out',
    'Shorten or simplify the text of the mail.',
  ),
  mail_not_made: conflict('The mail is not made yet', 'Wait until the message is being sent.'),
  mail_not_kept: conflict('The mail is not kept any more', 'Read the document itself: its original is kept.'),
};

const KEYS_WEBHOOKS_AND_EVENTS = {
  api_key_not_rotatable: conflict(
    'Cannot rotate a key that is revoked, expired or was replaced already: rotate its successor or create a new key',
    'Rotate its successor, or create a new key.',
  ),
  webhook_disabled: conflict('The webhook is disabled, enable it first', 'Enable the webhook.'),
  link_of_draft: conflict('A draft has no link', 'Issue the document, for instance with `status: "Sent"`.'),
  portal_not_set_up: conflict('Portal is not set up', 'Ask the operator to set `PORTAL_URL`.'),
  feed_ends_before: conflict(
    'The feed ends at sequence {last}: read on from an earlier one',
    'Read on from `last` or earlier.',
  ),
};

/** All of them under the headings of the guide. */
export const ERROR_GROUPS = {
  Input: INPUT,
  Access: ACCESS,
  'Routes and records': ROUTES_AND_RECORDS,
  'Retries and limits': RETRIES_AND_LIMITS,
  'Documents as files': DOCUMENTS_AS_FILES,
  'Clients and projects': CLIENTS_AND_PROJECTS,
  'Tasks, time and expenses': TASKS_TIME_AND_EXPENSES,
  Quotes: QUOTES,
  Invoices: INVOICES,
  Payments: PAYMENTS,
  'Credit notes': CREDIT_NOTES,
  'E-invoices': E_INVOICES,
  Mail: MAIL,
  'Keys, webhooks and events': KEYS_WEBHOOKS_AND_EVENTS,
};

export const ERRORS = {
  ...INPUT,
  ...ACCESS,
  ...ROUTES_AND_RECORDS,
  ...RETRIES_AND_LIMITS,
  ...DOCUMENTS_AS_FILES,
  ...CLIENTS_AND_PROJECTS,
  ...TASKS_TIME_AND_EXPENSES,
  ...QUOTES,
  ...INVOICES,
  ...PAYMENTS,
  ...CREDIT_NOTES,
  ...E_INVOICES,
  ...MAIL,
  ...KEYS_WEBHOOKS_AND_EVENTS,
};

export type ErrorCode = keyof typeof ERRORS;
