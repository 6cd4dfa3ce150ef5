// The evidence that a client accepted a quote, over HTTP.
import { appError } from '#libs/errors.ts';
import { evidenceOf, quoteEvidenceView } from '#libs/models/answers/quote-evidence.ts';
import { Quote } from '#libs/models/billing/quote.ts';
import { quoteEvidenceResponse } from '#libs/responses/quote-evidence.ts';
import { found } from '../http/response.ts';
import { type Context, type Route, route } from '../http/route.ts';

export const quoteAcceptanceRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/v1/quotes/{id}/acceptance',
    operation: 'getQuoteAcceptance',
    isLarge: true,
    scope: 'quotes:read',
    missing: 'Quote not found or access denied',
    docs: {
      title: 'Get the acceptance of a quote',
      summary: 'Get the signed evidence that the client accepted the quote on its page',
      description:
        'The latest acceptance, also after it was withdrawn, unless the quote is for another client now. A stranger can check it offline with the public keys at `/.well-known/billhook-keys`. ' +
        '404 while the client has not accepted it on its page.',
      response: quoteEvidenceResponse,
    },
    handler: getAcceptance,
  }),
];

async function getAcceptance({ requireRecord }: Context) {
  const quote = await requireRecord(Quote);
  const evidence = await evidenceOf(quote);
  if (!evidence) throw appError('acceptance_not_found');
  return found(quoteEvidenceView(evidence));
}
