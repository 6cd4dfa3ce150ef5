// Money that went back, from a payment or a credit note, as responses show it.
import Joi from 'joi';
import { PAYMENT_METHODS } from '../rules/money/payment-methods.ts';
import { calendarDay, id, number, orNull } from './response-fields.ts';

export const paymentMethod = () =>
  Joi.string()
    .valid(...PAYMENT_METHODS)
    .required();

export const refundShape = {
  id: id(),
  amount: number(),
  date: calendarDay(),
  method: paymentMethod(),
  reference: orNull(Joi.string()),
  external_id: orNull(Joi.string()),
};
