// Input of the parties of a document: register and tax numbers, addresses.
import Joi from 'joi';
import { isCountry } from '#libs/identifiers/country.ts';
import type { PostalAddress } from '#libs/identifiers/postal-address.ts';
import { readRegisterNumber } from '#libs/identifiers/register-number.ts';
import { ADDRESS_SCHEMES, REGISTER_SCHEMES } from '#libs/identifiers/schemes.ts';
import { readVatId } from '#libs/identifiers/vat-id.ts';
import { refuse } from '#libs/input/joi-problems.ts';
import { line, name } from '#libs/input/kinds.ts';
import type { ElectronicAddress, LegalId } from '#libs/models/accounts/party-fields.ts';
import { isEmail } from '#libs/profile-forms.ts';

/** Characters of the longest address line, number or name. */
const PART_LONGEST = 200;

const part = () => line().max(PART_LONGEST);
const optionalPart = () => part().allow(null, '');

export const vatIdInput = () =>
  part()
    .custom((given: string, helpers) => {
      // A text of blanks counts as not given.
      if (given === '') return given;
      const { id, problem } = readVatId(given);
      if (id !== undefined) return id;
      const text =
        problem === 'form'
          ? '{{#label}} must be a VAT id with its country, such as DE136695976'
          : '{{#label}} is no VAT id: its check digits are wrong';
      return refuse(helpers, 'invalid_vat_id', text);
    })
    .allow(null, '')
    .description('With its country, such as DE136695976; kept without blanks and dots. Check digits are checked');

export const legalIdInput = () =>
  Joi.object<LegalId>({
    value: name()
      .max(PART_LONGEST)
      .required()
      .description('Such as `HRB 1234 Kiel`, or the number alone with a scheme'),
    scheme: Joi.string()
      .valid(...REGISTER_SCHEMES, null)
      .description('Of ISO 6523, such as 0002 for a SIREN. Then the check digits of the number are checked'),
  })
    .custom((given: LegalId, helpers) => {
      const id = withoutEmpty(given);
      const value = readRegisterNumber(id.value, id.scheme);
      if (value !== undefined) return { ...id, value };
      return refuse(helpers, 'invalid_register_number', `{{#label}}.value is no number of scheme ${id.scheme}`, {
        scheme: id.scheme ?? '',
      });
    })
    .allow(null)
    .meta({ schema: 'LegalIdInput' })
    .description('The number in the register of companies');

export const electronicAddressInput = () =>
  Joi.object<ElectronicAddress>({
    scheme: Joi.string()
      .valid(...ADDRESS_SCHEMES)
      .required()
      .description('Of the list of electronic address schemes (EAS), such as 0208; `EM` is an e-mail address'),
    value: name().max(PART_LONGEST).required(),
  })
    .custom((given: ElectronicAddress, helpers) => {
      if (given.scheme !== 'EM') {
        const value = readRegisterNumber(given.value, given.scheme);
        return value === undefined
          ? refuse(helpers, 'invalid_register_number', `{{#label}}.value is no number of scheme ${given.scheme}`, {
              scheme: given.scheme,
            })
          : { ...given, value };
      }
      return isEmail(given.value)
        ? given
        : refuse(helpers, 'invalid_email', '{{#label}}.value must be an e-mail address');
    })
    .allow(null)
    .meta({ schema: 'ElectronicAddressInput' })
    .description('Where e-invoices go');

export const countryInput = () =>
  Joi.string()
    .custom((given: string, helpers) => {
      const code = given.toUpperCase();
      return isCountry(code)
        ? code
        : refuse(helpers, 'invalid_country', '{{#label}} must be a 2-letter ISO 3166-1 country code');
    })
    .description('ISO 3166-1, two letters');

export const postalAddressInput = () =>
  Joi.object<PostalAddress>({
    line1: optionalPart(),
    line2: optionalPart(),
    line3: optionalPart(),
    postal_code: optionalPart(),
    city: optionalPart(),
    region: optionalPart().description('Printed where addresses of the country have one'),
    country: countryInput().required(),
  })
    .custom(withoutEmpty)
    .allow(null)
    .meta({ schema: 'PostalAddressInput' })
    .description('In parts; printed unless there is a free `address`');

/** Names whose value is null or an empty text are not there. */
function withoutEmpty<Given extends object>(given: Given): Given {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null && value !== '')) as Given;
}
