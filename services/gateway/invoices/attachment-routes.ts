// The files that go out with an invoice, over HTTP.
import Joi from 'joi';
import { appError } from '#libs/errors.ts';
import { Invoice } from '#libs/models/billing/invoice.ts';
import {
  type AttachedFile,
  findAttachments,
  listAttachments,
  mediaTypeOf,
  replaceAttachments,
} from '#libs/models/documents/attachments.ts';
import { findOwn, lockOwn } from '#libs/models/records.ts';
import { updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { digestHeader, isAnsweredUnchanged, REVALIDATED, sendFile } from '../printing/send-pdf.ts';
import {
  ATTACHMENTS_BODY_BYTES_MAX,
  attachedFiles,
  type GivenFiles,
  givenFiles,
  position,
} from './attachment-input.ts';

/** The list says the type of each file. A browser that gets a file must not open it. */
const OCTETS = 'application/octet-stream';
const path = '/api/v1/invoices/{id}/attachments';

const filesResponse = Joi.object({
  attachments: Joi.array()
    .required()
    .items(
      Joi.object({
        name: Joi.string().required().description('The name of the file'),
        description: Joi.string().allow(null).required().description('What the file is'),
        media_type: Joi.string().required().description('The type of the file, by its name'),
        size_bytes: Joi.number().integer().required().description('The size of the file'),
        sha256: Joi.string().required().description('The SHA-256 of the file, in hex'),
      }).meta({ schema: 'InvoiceAttachment' }),
    )
    .description('The files in the order in which they were given'),
})
  .meta({ schema: 'InvoiceAttachments' })
  .example({
    attachments: [
      {
        name: 'hours.csv',
        description: 'Hours of October',
        media_type: 'text/csv',
        size_bytes: 24,
        sha256: '2ea3d0a5a3ab9c0f7ac4a6fb1f7ea20a1f0b5a2c64d6b8a0d0d3b8fd2c7d1f11',
      },
    ],
  });

export const attachmentRoutes: readonly Route[] = [
  route({
    method: 'put',
    path,
    operation: 'setInvoiceAttachments',
    scope: 'invoices:write',
    body: givenFiles,
    bodyLimitBytes: ATTACHMENTS_BODY_BYTES_MAX,
    valueLimitBytes: ATTACHMENTS_BODY_BYTES_MAX,
    missing: 'Invoice not found or access denied',
    docs: {
      title: 'Attach files to an invoice',
      summary: 'Set the files that go out with a draft invoice, in the place of those before',
      description:
        'Such as an order or a list of hours. E-invoices have them inside (BG-24), Factur-X in its PDF; mail without an e-invoice brings them beside the PDF. They stay as they are once the invoice is sent.',
      response: filesResponse,
      conflict: appError('invoice_already_sent', { fields: ['attachments'] }),
    },
    handler: setAttachments,
  }),
  singleRead({
    path,
    operation: 'getInvoiceAttachments',
    scope: 'invoices:read',
    missing: 'Invoice not found',
    docs: {
      title: 'List the files of an invoice',
      summary: 'Get names, types and sizes of the files that go out with an invoice',
      response: filesResponse,
    },
    read: readAttachments,
  }),
  route({
    method: 'get',
    path: `${path}/{position}`,
    operation: 'getInvoiceAttachment',
    scope: 'invoices:read',
    parameters: { position },
    missing: 'Attachment not found',
    produces: OCTETS,
    isStoredFile: true,
    docs: {
      title: 'Get a file of an invoice',
      summary: 'Get one of the files that go out with an invoice, as it was given',
    },
    handler: sendAttachment,
  }),
];

async function setAttachments({ body, commit, requireRecord }: Context<GivenFiles>) {
  const files = attachedFiles(body);
  return commit(async ({ accountId, session }) => {
    const { _id } = await requireRecord(Invoice, session);
    // The lock keeps the invoice from being sent at the same moment.
    const invoice = await lockOwn(Invoice, accountId, _id, session);
    if (invoice?.status !== 'Draft') throw appError('invoice_already_sent', { fields: ['attachments'] });
    await replaceAttachments(accountId, _id, files, session);
    return updated(viewOf(files));
  });
}

async function readAttachments({ caller, id, session }: Reading) {
  const invoice = await findOwn(Invoice, caller.accountId, id, session);
  return invoice && viewOf(await listAttachments(caller.accountId, id, session));
}

async function sendAttachment(context: Context): Promise<undefined> {
  const { caller, id, parameters, missing: notFound } = context;
  const files = await findAttachments(caller.accountId, id);
  const file = files[(parameters['position'] as number) - 1];
  if (!file) throw notFound();
  const { name, bytes, sha256 } = file;
  const tag = `"${sha256}"`;
  const headers = { ETag: tag, 'Cache-Control': REVALIDATED, ...digestHeader(sha256) };
  if (isAnsweredUnchanged(context, tag, headers)) return undefined;
  const end = name.slice(name.lastIndexOf('.'));
  sendFile(context, { name: name.slice(0, -end.length), end, type: OCTETS }, { bytes, warnings: [] }, headers);
  return undefined;
}

function viewOf(files: readonly Omit<AttachedFile, 'bytes'>[]) {
  return {
    attachments: files.map((file) => {
      const { name, description, size_bytes, sha256 } = file;
      return { name, description, media_type: mediaTypeOf(file), size_bytes, sha256 };
    }),
  };
}
