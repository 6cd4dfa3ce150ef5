// The table of the forms on a document's page. Programs that check mail send every form that they find, so no form does
// anything without a field that only a person fills in: sent empty, it is shown again.
import type { ClientForm } from './client-form.ts';
import { acceptForm } from './forms/accept.ts';
import { askForm } from './forms/ask.ts';
import { declineForm } from './forms/decline.ts';
import { PAY_PATH, payForm } from './forms/pay.ts';
import { promiseForm } from './forms/promise.ts';

/** The forms by their paths below that of the document, in the order in which the page shows them. */
export const CLIENT_FORMS: Readonly<Record<string, ClientForm>> = {
  [PAY_PATH]: payForm,
  '/accept': acceptForm,
  '/decline': declineForm,
  '/promise': promiseForm,
  '/ask': askForm,
};
