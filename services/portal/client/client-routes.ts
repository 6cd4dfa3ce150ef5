// The pages of an account's clients: the tables of pages and forms, and the checks before each of them.
import express, { type NextFunction, type Request, type Response, Router } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { AppError } from '#libs/errors.ts';
import { requireFormOfPage, requireToken } from '#libs/pages/form-guard.ts';
import { isChangedSince } from '#libs/rules/quotes/acceptance.ts';
import { isResting } from '#libs/rules/reminders/reminder-rest.ts';
import { openLimit, type VisitLimits } from '../http/limits.ts';
import { countFor } from '../http/unread-responses.ts';
import type { ClientForm, FormAgain, FormResult } from './client-form.ts';
import { stateOf } from './document-state.ts';
import { CLIENT_FORMS } from './forms.ts';
import { type Page, sendPage } from './layout.ts';
import { documentPage } from './pages/document.ts';
import { documentsPage } from './pages/documents.ts';
import { expiredPage } from './pages/expired.ts';
import { statementPage } from './pages/statement.ts';
import { timePage } from './pages/time.ts';
import { renew } from './renew.ts';
import { sendLogo } from './send-logo.ts';
import { sendOriginal } from './send-original.ts';
import {
  type ClientParts,
  type DocumentVisit,
  fieldsOf,
  isOfDocument,
  noSuchLink,
  noteOpening,
  openVisit,
  type Visit,
} from './visit.ts';
import { OUTCOMES, type Outcome } from './words/page-words.ts';

interface ClientPage {
  show: (visit: DocumentVisit, response: Response) => Promise<Page | undefined>;
  /** Shows the same of the list of a client's link. Absent for a page that only documents have. */
  showList?: (visit: Visit, response: Response) => Promise<Page | undefined>;
}

/** The pages by their paths below that of the document. */
export const CLIENT_PAGES: Readonly<Record<string, ClientPage>> = {
  '': { show: (visit) => documentPage(visit), showList: documentsPage },
  '/pdf': {
    async show(visit, response) {
      await sendOriginal(visit, response);
      return undefined;
    },
  },
  '/time': { show: timePage },
  '/statement': {
    async show() {
      throw noSuchLink();
    },
    showList: statementPage,
  },
  '/logo': { show: sendLogo, showList: sendLogo },
};

/** Requests per minute. A client looks at few pages, and a program that checks mail at each once. */
const CLIENT_LIMITS: VisitLimits = { address: 300, link: 120, forms: 30 };

const BYTES_MAX = 32 * 1024;

/** The paths of a document: that of its own link, and those below the link of its client. */
const DOCUMENTS = ['/p/:token', '/p/:token/invoices/:id', '/p/:token/quotes/:id'] as const;

export interface ClientOptions extends ClientParts {
  limits?: VisitLimits | undefined;
}

export function clientRoutes({ limits = CLIENT_LIMITS, ...parts }: ClientOptions): Router {
  const admit = { address: openLimit(limits.address), link: openLimit(limits.link), form: openLimit(limits.forms) };
  const router = Router({ caseSensitive: true, strict: true });

  const admitAddress = (request: Request, _response: Response, next: NextFunction) => {
    admit.address(ipKeyGenerator(request.ip ?? 'unknown'));
    next();
  };
  /** Finds the visit of a request, which has no log line, so that no log has a token. */
  const visitOf = async (request: Request) => {
    const visit = await openVisit(request, parts);
    countFor(visit.accountId, request.res);
    admit.link(String(visit.link._id));
    return visit;
  };
  const formVisitOf = async (request: Request) => {
    // An unknown link is a 404 wherever the form comes from.
    const visit = await visitOf(request);
    requireFormOfPage(request);
    admit.form(String(visit.link._id));
    requireToken(request, visit.csrf);
    return visit;
  };
  const fieldsOfAtMost = (bytes: number) => express.urlencoded({ extended: false, limit: bytes, parameterLimit: 40 });

  router.use('/p', admitAddress);
  for (const [path, { show, showList }] of Object.entries(CLIENT_PAGES)) {
    router.get(
      DOCUMENTS.map((base) => base + path),
      async (request, response) => {
        const visit = await visitOf(request);
        if (visit.hasEnded) return sendPage(response, expiredPage(visit), visit, messageIn(visit));
        let page: Page | undefined;
        if (isOfDocument(visit)) page = await show(visit, response);
        else if (showList) page = await showList(visit, response);
        else throw noSuchLink();
        if (page) sendPage(response, page, visit, messageIn(visit));
      },
    );
  }
  for (const [path, form] of Object.entries(CLIENT_FORMS)) {
    router.post(
      DOCUMENTS.map((base) => base + path),
      fieldsOfAtMost(form.bytesMax ?? BYTES_MAX),
      async (request, response) => {
        const visit = await formVisitOf(request);
        if (visit.hasEnded) return sendPage(response, expiredPage(visit), visit);
        if (!isOfDocument(visit) || !visit.link.allow.includes(form.act)) throw noSuchLink();
        await sendForm(visit, { path, form }, response);
      },
    );
  }
  router.post(
    DOCUMENTS.map((base) => `${base}/opened`),
    fieldsOfAtMost(BYTES_MAX),
    async (request, response) => {
      const visit = await formVisitOf(request);
      if (!visit.hasEnded) await noteOpening(visit);
      response.status(204).end();
    },
  );
  router.post('/p/:token/renew', fieldsOfAtMost(BYTES_MAX), async (request, response) => {
    const visit = await formVisitOf(request);
    if (!visit.hasEnded) return response.redirect(303, visit.home);
    const isSent = await renew(visit);
    if (isSent) return response.redirect(303, `${visit.home}?done=renewed`);
    const { words } = visit.locale;
    sendPage(response, { ...expiredPage(visit), status: 503 }, visit, {
      tone: 'warn',
      text: words.problems.unavailable,
    });
  });
  return router;
}

/** Does a form, and shows the page that follows: after an act by a redirect, so that a reload does not send it again. */
async function sendForm(
  visit: DocumentVisit,
  { path, form }: { path: string; form: ClientForm },
  response: Response,
): Promise<void> {
  const { words } = visit.locale;
  const { outcome } = form;
  if (outcome && STANDS[outcome]?.(visit)) return response.redirect(303, `${visit.base}?done=${outcome}`);
  if (!form.isOffered(visit)) {
    const page = await documentPage(visit);
    return sendPage(response, { ...page, status: 409 }, visit, { tone: 'warn', text: words.problems.notOffered });
  }
  const fields = fieldsOf(visit.request);
  const result = await resultOf(form, visit, fields);
  if ('again' in result) {
    const page = await documentPage(visit, { path, ...result.again });
    return sendPage(response, { ...page, status: 422 }, visit);
  }
  const { accountId, link, parts } = visit;
  if ('goTo' in result) return response.redirect(303, result.goTo);
  // The log has the pattern of the path, so that it holds no token.
  parts.log.info({ accountId, linkId: String(link._id), form: path }, 'form done');
  await noteOpening(visit);
  response.redirect(303, `${visit.base}?done=${result.done}`);
}

async function resultOf(form: ClientForm, visit: DocumentVisit, fields: FormAgain['fields']): Promise<FormResult> {
  try {
    return await form.send(visit, fields);
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    // The texts of the API are for programs. The page that is shown again says what is possible.
    return { again: { fields, problem: visit.locale.words.problems.notOffered } };
  }
}

/** True as long as the outcome of a form stands. */
const STANDS: Partial<Record<Outcome, (visit: Visit) => boolean>> = {
  renewed: ({ hasEnded }) => hasEnded,
  accepted: ({ subject: { type, record } }) =>
    type === 'quote' && record.status === 'Accepted' && !isChangedSince(record),
  declined: ({ subject: { type, record } }) => type === 'quote' && record.status === 'Declined',
  promised: ({ subject, today }) =>
    subject.type === 'invoice' && isResting(subject.record, today) && stateOf(subject, today).isDue,
};

/**
 * Returns the sentence about the form that redirected here. Any other value of the address is ignored, and so is an outcome
 * that does not stand: browsers keep the address.
 */
function messageIn(visit: Visit): { tone: 'good'; text: string } | undefined {
  const { done } = visit.request.query;
  const outcome = OUTCOMES.find((one) => one === done) as Outcome | undefined;
  const stands = outcome && STANDS[outcome];
  if (!outcome || (stands && !stands(visit))) return undefined;
  return { tone: 'good', text: visit.locale.words.done[outcome] };
}
