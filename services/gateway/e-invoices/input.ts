// The formats that a caller may ask for.
import Joi from 'joi';
import { FORMAT_NAMES, type FormatName } from '#libs/e-invoice/formats.ts';

export interface FormatQuery {
  format?: FormatName;
}

/** The format where neither the request, the client nor the account names one. */
export const STANDARD_FORMAT: FormatName = 'en16931-ubl';

export const formatQuery = Joi.object<FormatQuery, true>({
  format: Joi.string()
    .valid(...FORMAT_NAMES)
    .description(
      'XRechnung 3.0, Peppol BIS Billing 3.0 or plain EN 16931, as UBL 2.1 or UN/CEFACT CII; `facturx` is a PDF with CII inside. Unless given, the `e_invoice_format` of the client or the account, else `en16931-ubl`',
    ),
});

const problems = Joi.object()
  .pattern(Joi.string(), Joi.array().items(Joi.string()))
  .description(
    'What is missing, by the name of the field that has to be set; each text names the business term or the rule',
  );

/** The readiness of a document for each format. */
export const readiness = Joi.object(
  Object.fromEntries(
    FORMAT_NAMES.map((name) => [
      name,
      Joi.object({
        ready: Joi.boolean().required().description('True when nothing is missing'),
        problems: problems.required(),
      })
        .required()
        .description(`Whether ${name} can be made`)
        .meta({ schema: 'EInvoiceReadiness' }),
    ]),
  ),
).meta({ schema: 'EInvoiceCheck' });
