// The ways to pay what is due now, one for each option of the account that can pay it. The printed document and the
// client's page show the same ones.
import { formatReference } from 'swissqrbill/utils';
import { printedIban } from '../../identifiers/bank-account.ts';
import { decimalsOf, fromMinor } from '../money/money.ts';
import { epcCode } from './epc-code.ts';
import { paymentLink, upiLink } from './payment-link.ts';
import { ownerOf, type PayeeFields, type PaymentOption } from './payment-options.ts';
import { creditorReference, type SwissBill, type SwissParty, swissBill } from './swiss-bill.ts';

/** The sum that a document asks for. */
export interface SumDue {
  /** The sum that is due now, in minor units. */
  amount: number;
  currency: string;
  /** Absent on a draft: its number may still change, so it has no codes and no links. */
  number?: string | undefined;
  /** The client with its address, as a QR-bill names it. */
  debtor?: SwissParty | undefined;
}

export interface WayToPay {
  type: PaymentOption['type'];
  /** The account, or an instruction, in lines. Empty for a link. The amount and the number stand beside it. */
  text: string;
  /** The text of a code that a banking app scans: EPC or UPI. */
  code?: string;
  /** A link, and its words. */
  link?: { label: string; url: string };
  /** The payment part of a QR-bill. Its code is made by swissCode(). */
  swissBill?: SwissBill;
}

/** Returns the ways to pay. None when nothing is due. An option that cannot pay the currency is left out. */
export function waysToPay(payee: PayeeFields, due: SumDue): WayToPay[] {
  if (due.amount <= 0) return [];
  const ways = (payee.payment_options ?? []).flatMap((option) => wayOf(option, payee, due) ?? []);
  return payee.bank_details ? [...ways, { type: 'bank_transfer', text: payee.bank_details }] : ways;
}

function wayOf(option: PaymentOption, payee: PayeeFields, due: SumDue): WayToPay | undefined {
  const text = textOf(option, payee);
  switch (option.type) {
    case 'bank_transfer':
      return { type: option.type, text, ...transferCode(option, payee, due) };
    case 'swiss_qr':
      return swissWay(option, text, due);
    case 'upi':
      return upiWay(option, text, due);
    case 'link':
      return linkWay(option, text, due);
  }
}

/** Returns what the payer has to name, as it is written. @param number of the invoice. */
export function referenceOf({ swissBill: bill }: Pick<WayToPay, 'swissBill'>, number: string): string {
  return bill?.reference ? formatReference(bill.reference) : number;
}

/** Returns the lines of every way, whatever is due. */
export function paymentTexts(payee: PayeeFields): string {
  const texts = (payee.payment_options ?? []).flatMap((option) => [textOf(option, payee), option.label, option.url]);
  return [...texts, payee.bank_details].filter(Boolean).join('\n\n');
}

/** Returns the lines that name an option. A bank account without a holder is the issuer's. */
function textOf({ type, holder, iban, qr_iban, bic, text, vpa, name }: PaymentOption, payee: PayeeFields) {
  const account = qr_iban ?? iban;
  const lines = {
    bank_transfer: [
      holder ?? (account && ownerOf(payee)),
      account && `IBAN ${printedIban(account)}`,
      bic && `BIC ${bic}`,
      text,
    ],
    swiss_qr: [holder, account && `IBAN ${printedIban(account)}`],
    upi: [name, vpa && `UPI ${vpa}`],
    link: [],
  };
  return lines[type].filter(Boolean).join('\n');
}

function transferCode({ holder, iban, bic }: PaymentOption, payee: PayeeFields, { number, amount, currency }: SumDue) {
  if (iban === undefined || number === undefined) return {};
  const code = epcCode({ holder: holder ?? ownerOf(payee) ?? '', iban, bic, amount, currency, reference: number });
  return code === undefined ? {} : { code };
}

/** Any number says whether a draft will have a bill. */
const ANY_NUMBER = '0';

function swissWay(option: PaymentOption, text: string, { number, debtor, ...sum }: SumDue): WayToPay | undefined {
  const bill = swissBill(option, { ...sum, number: number ?? ANY_NUMBER, ...(debtor ? { debtor } : {}) });
  return bill && { type: 'swiss_qr', text, ...(number === undefined ? {} : { swissBill: bill }) };
}

function upiWay({ vpa, name }: PaymentOption, text: string, due: SumDue): WayToPay | undefined {
  const { number, currency } = due;
  if (currency !== 'INR' || !vpa || !name) return undefined;
  if (number === undefined) return { type: 'upi', text };
  const url = upiLink({ vpa, name, amount: majorOf(due), number });
  return { type: 'upi', text, code: url, link: { label: vpa, url } };
}

function linkWay({ label, url }: PaymentOption, text: string, due: SumDue): WayToPay | undefined {
  const { number, currency } = due;
  if (!label || !url || number === undefined) return undefined;
  const values = { number, amount: majorOf(due), currency, reference: creditorReference(number) ?? number };
  return { type: 'link', text, link: { label, url: paymentLink(url, values) } };
}

function majorOf({ amount, currency }: SumDue): string {
  return fromMinor(amount, currency).toFixed(decimalsOf(currency));
}
