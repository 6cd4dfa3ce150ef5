// Numbers of company registers with published check digits, by their scheme in ISO 6523.
import abn from 'stdnum/lib/cjs/au/abn.js';
import kbo from 'stdnum/lib/cjs/be/vat.js';
import uid from 'stdnum/lib/cjs/ch/uid.js';
import cvr from 'stdnum/lib/cjs/dk/cvr.js';
import registrikood from 'stdnum/lib/cjs/ee/registrikood.js';
import yTunnus from 'stdnum/lib/cjs/fi/ytunnus.js';
import siren from 'stdnum/lib/cjs/fr/siren.js';
import siret from 'stdnum/lib/cjs/fr/siret.js';
import ean from 'stdnum/lib/cjs/gen/ean.js';
import kennitala from 'stdnum/lib/cjs/is/kennitala.js';
import norwegian from 'stdnum/lib/cjs/no/orgnr.js';
import swedish from 'stdnum/lib/cjs/se/orgnr.js';
import type { Validator } from 'stdnum/lib/cjs/types.js';

type Check = Pick<Validator, 'validate'>;

/** Each check is imported by itself, because the library's index loads the numbers of ninety countries. */
const CHECKS: Readonly<Record<string, Check>> = {
  '0002': siren,
  '0007': swedish,
  '0009': siret,
  '0088': ean,
  '0106': form(/^\d{8}$/),
  '0151': abn,
  '0183': uid,
  '0184': cvr,
  '0191': registrikood,
  '0192': norwegian,
  '0196': kennitala,
  '0199': form(/^[A-Z0-9]{18}\d{2}$/),
  '0208': kbo,
  '0212': yTunnus,
};

/**
 * Reads a register number.
 * @returns it without blanks and separators, or unchanged where its scheme has no known form. Undefined when it cannot
 * be a number of the scheme.
 */
export function readRegisterNumber(value: string, scheme: string | undefined): string | undefined {
  const check = scheme === undefined ? undefined : CHECKS[scheme];
  if (!check) return value;
  const result = check.validate(value);
  return result.isValid ? result.compact : undefined;
}

function form(pattern: RegExp): Check {
  return {
    validate(value) {
      const compact = value.replaceAll(/[\s.-]/g, '').toUpperCase();
      return pattern.test(compact)
        ? { isValid: true, compact, isIndividual: false, isCompany: true }
        : { isValid: false, error: new Error('not of the form') as never };
    },
  };
}
