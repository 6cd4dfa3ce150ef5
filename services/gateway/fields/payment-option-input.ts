// Input of the ways to pay that an account names.
import Joi from 'joi';
import { isQRIBAN } from 'swissqrbill/utils';
import { readBic, readIban } from '#libs/identifiers/bank-account.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { line, name, text } from '#libs/input/kinds.ts';
import { isLinkTemplate, LINK_NAMES, unknownNames } from '#libs/rules/paying/payment-link.ts';
import { PAYMENT_OPTION_TYPES, type PaymentOption, type SwissAddress } from '#libs/rules/paying/payment-options.ts';
import { isSwissText, SWISS_LONGEST } from '#libs/rules/paying/swiss-bill.ts';
import { countryInput } from './party-input.ts';

type Type = PaymentOption['type'];

const OPTIONS_MAX = 10;
const PART_LONGEST = 200;
const INSTRUCTION_LONGEST = 1_000;
const UPI_NAME_LONGEST = 99;
const LABEL_LONGEST = 100;
const URL_LONGEST = 500;
/** The user before the @ and the handle of the bank after it, as NPCI allows them. */
const VPA = /^[A-Za-z0-9._-]{2,256}@[A-Za-z][A-Za-z0-9]{1,63}$/;

/** Null and an empty text count as not given. */
const optional = <Schema extends Joi.Schema>(schema: Schema) => schema.allow(null, '').empty(Joi.valid(null, ''));

/** Returns the condition of `when` for options of these types. */
const ifOf = (types: readonly Type[], schema: Joi.Schema) => ({
  not: Joi.valid(...types).required(),
  otherwise: schema,
});

/** Returns a field that options of one type need, and others must not have. */
function requiredFor(type: Type, schema: Joi.Schema): Joi.Schema {
  return onlyFor([type], optional(schema)).when('type', ifOf([type], Joi.required()));
}

/** Returns a field that options of other types must not have. An unknown type is a problem of its own. */
function onlyFor(types: readonly Type[], schema: Joi.Schema): Joi.Schema {
  const others = PAYMENT_OPTION_TYPES.filter((type) => !types.includes(type));
  return schema.when('type', ifOf(others, Joi.forbidden()));
}

const isType = (type: Type, { state }: Joi.CustomHelpers) => (state.ancestors[0] as PaymentOption).type === type;

function ibanInput(given: string, helpers: Joi.CustomHelpers) {
  const iban = readIban(given);
  if (iban === undefined) return noIban(helpers);
  if (!isType('swiss_qr', helpers)) return iban;
  if (!isSwissIban(iban)) return notSwiss(helpers);
  return isQRIBAN(iban) ? refuse(helpers, 'qr_iban_misplaced', '{{#label}} is a QR-IBAN: it belongs in qr_iban') : iban;
}

function qrIbanInput(given: string, helpers: Joi.CustomHelpers) {
  const iban = readIban(given);
  if (iban === undefined) return noIban(helpers);
  if (!isSwissIban(iban)) return notSwiss(helpers);
  return isQRIBAN(iban)
    ? iban
    : refuse(helpers, 'invalid_qr_iban', '{{#label}} is no QR-IBAN: its digits 5 to 9 are not between 30000 and 31999');
}

const noIban = (helpers: Joi.CustomHelpers) =>
  refuse(helpers, 'invalid_iban', '{{#label}} is no IBAN: form or check digits are wrong');
const isSwissIban = (iban: string) => /^(CH|LI)/.test(iban);
const notSwiss = (helpers: Joi.CustomHelpers) =>
  refuse(helpers, 'iban_not_swiss', '{{#label}} must be an IBAN of Switzerland or Liechtenstein');

/** Letters that the code of a QR-bill can carry. */
function swissLetters(given: string, helpers: Joi.CustomHelpers) {
  return isSwissText(given)
    ? given
    : refuse(
        helpers,
        'letters_not_swiss',
        '{{#label}} must have only letters that a QR-bill can carry: those of Latin alphabets',
      );
}

/** The holder of a bank account may have other letters, and be longer. */
function holderInput(given: string, helpers: Joi.CustomHelpers) {
  if (!isType('swiss_qr', helpers)) return given;
  return given.length > SWISS_LONGEST.name
    ? refuse(
        helpers,
        'too_long',
        `{{#label}} length must be less than or equal to ${SWISS_LONGEST.name} characters long`,
        {
          limit: SWISS_LONGEST.name,
        },
      )
    : swissLetters(given, helpers);
}

const swissAddress = () =>
  Joi.object<SwissAddress, true>({
    line1: line()
      .max(SWISS_LONGEST.line1)
      .custom(swissLetters)
      .allow(null, '')
      .empty(Joi.valid(null, ''))
      .description('Street and number'),
    postal_code: name().max(SWISS_LONGEST.postal_code).custom(swissLetters).required(),
    city: name().max(SWISS_LONGEST.city).custom(swissLetters).required(),
    country: countryInput().required(),
  }).meta({ schema: 'SwissAddressInput' });

const linkTemplate = () =>
  line()
    .max(URL_LONGEST)
    .custom((given: string, helpers) => {
      const names = unknownNames(given);
      return names.length === 0
        ? given
        : refuse(
            helpers,
            'unknown_link_name',
            `{{#label}} must not contain ${names.join(', ')}: there is no such value in a link`,
            { names: names.join(', ') },
          );
    })
    .custom((given: string, helpers) =>
      isLinkTemplate(given)
        ? given
        : refuse(
            helpers,
            'invalid_link',
            '{{#label}} must be an https URL without a user, and with nothing in braces before its path',
          ),
    );

const paymentOption = () =>
  Joi.object<PaymentOption>({
    type: Joi.string()
      .valid(...PAYMENT_OPTION_TYPES)
      .required(),
    holder: requiredHolder(),
    // A QR-bill needs exactly one of its two accounts.
    iban: onlyFor(['bank_transfer', 'swiss_qr'], optional(line().max(PART_LONGEST).custom(ibanInput)))
      .when('type', ifOf(['swiss_qr'], Joi.required()))
      .when('qr_iban', { not: Joi.exist(), otherwise: Joi.forbidden() }),
    bic: onlyFor(['bank_transfer'], optional(line().max(PART_LONGEST).custom(bicInput))),
    text: onlyFor(['bank_transfer'], optional(text().max(INSTRUCTION_LONGEST))).description(
      'Instead of an IBAN: an account number of another form, or what else is to be said',
    ),
    qr_iban: onlyFor(['swiss_qr'], optional(line().max(PART_LONGEST).custom(qrIbanInput))).description(
      'Of `swiss_qr`, in place of `iban`: the account for payments with a QR reference',
    ),
    address: requiredFor('swiss_qr', swissAddress()).description('Of `swiss_qr`: the address of the holder'),
    vpa: requiredFor(
      'upi',
      line().pattern(VPA).messages({ 'string.pattern.base': '{{#label}} must be a UPI address such as studio@bank' }),
    ).description('Of `upi`: the virtual payment address'),
    name: requiredFor('upi', line().max(UPI_NAME_LONGEST)).description('Of `upi`: the payee'),
    label: requiredFor('link', line().max(LABEL_LONGEST)).description('Of `link`: its words'),
    url: requiredFor('link', linkTemplate()).description(
      `Of \`link\`: an https URL; ${LINK_NAMES.map((one) => `\`{${one}}\``).join(', ')} stand for values of the invoice`,
    ),
  })
    .custom((option: PaymentOption, helpers) => {
      if (option.type !== 'bank_transfer') return option;
      if ((option.iban === undefined) === (option.text === undefined)) {
        return refuse(helpers, 'bank_account_unclear', '{{#label}} must have either iban or text');
      }
      return option.bic !== undefined && option.iban === undefined
        ? refuse(helpers, 'needs', '{{#label}}.bic must stand beside an iban', { other: 'iban' })
        : option;
    })
    .meta({ schema: 'PaymentOptionInput' });

function requiredHolder() {
  return onlyFor(['bank_transfer', 'swiss_qr'], optional(line().max(PART_LONGEST).custom(holderInput)))
    .when('type', ifOf(['swiss_qr'], Joi.required()))
    .description('Unless it is the name on the document; `swiss_qr` needs one');
}

function bicInput(given: string, helpers: Joi.CustomHelpers) {
  return readBic(given) ?? refuse(helpers, 'invalid_bic', '{{#label}} is no BIC');
}

export const paymentOptionsInput = () =>
  Joi.array()
    .items(paymentOption())
    .min(1)
    .max(OPTIONS_MAX)
    .allow(null)
    .description('The ways to pay that invoices name: bank accounts, Swiss QR-bills, UPI and links');
