// The form that leads to a page of Stripe. It is made at the click, over what is due then; the way back books nothing.
import { checkoutPage, isPayableByStripe } from '../../stripe/checkout-page.ts';
import type { ClientForm } from '../client-form.ts';
import { formOf, tick } from '../form-parts.ts';
import { payWords } from '../words/pay-words.ts';

export const PAY_PATH = '/pay/stripe';

export const payForm: ClientForm = {
  act: 'pay',
  isOffered: isPayableByStripe,
  show(visit, again) {
    const { title, tick: sentence, button } = payWords(visit.locale.language);
    return formOf(visit, { path: PAY_PATH, title, fields: tick('pay', sentence, again), button, isMain: true }, again);
  },
  async send(visit, fields) {
    const words = payWords(visit.locale.language);
    if (fields['pay'] !== 'yes') return { again: { fields, problem: words.notTicked, wrong: ['pay'] } };
    try {
      const page = await checkoutPage(visit);
      return page === 'paying' ? { again: { fields, problem: words.paying } } : { goTo: page };
    } catch (error) {
      if (!isOfStripe(error)) throw error;
      // Its words may name the key or the account.
      visit.parts.log.warn({ accountId: visit.accountId, type: error.type, code: error.code }, 'Stripe made no page');
      return { again: { fields, problem: visit.locale.words.problems.unavailable } };
    }
  },
};

function isOfStripe(error: unknown): error is { type: string; code?: string } {
  return (
    typeof (error as { type?: unknown })?.type === 'string' &&
    String((error as { type: string }).type).startsWith('Stripe')
  );
}
