// Money that came, went back or is given up, as callers describe it.
import Joi from 'joi';
import { day, name, reference } from '#libs/input/kinds.ts';
import { AMOUNT_MAX } from '#libs/rules/money/money.ts';
import { PAYMENT_METHODS, type PaymentMethod } from '#libs/rules/money/payment-methods.ts';
import { number } from './number-input.ts';

const EXTERNAL_ID_LONGEST = 200;
const REASON_LONGEST = 500;

/** In major units. That it is exact in its currency is checked where that is known, see exact-amount.ts. */
export const movedAmount = () => number().positive().max(AMOUNT_MAX);
export const paymentMethodInput = () => Joi.string().valid(...PAYMENT_METHODS);
export const bankReference = () => reference().allow(null, '').description('What the bank or the provider calls it');
export const externalId = () => name().max(EXTERNAL_ID_LONGEST);
export const reasonInput = () => name().max(REASON_LONGEST).required();

/** How money went back. */
export interface RefundDetailsInput {
  date?: string;
  method?: PaymentMethod;
  reference?: string | null;
  external_id?: string | null;
}

export const refundDetails = {
  date: day().description(
    "The day the money went back; today on the account's calendar unless given. Not after it, and not before the day the money came",
  ),
  method: paymentMethodInput().description('`other` unless given'),
  reference: bankReference(),
  external_id: externalId()
    .allow(null)
    .description(
      'What another system calls it. A refund is booked once for it: a repeat answers 200 and books nothing',
    ),
};
