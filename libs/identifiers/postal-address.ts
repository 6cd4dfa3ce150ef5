// Structured postal addresses, and the lines in which their country writes them.

import { formatAddress } from 'localized-address-format';
import { intlLocale } from '../profile-forms.ts';

export interface PostalAddress {
  line1?: string;
  line2?: string;
  line3?: string;
  postal_code?: string;
  city?: string;
  /** The state, province or canton. It is printed where addresses of the country have one. */
  region?: string;
  /** An ISO 3166-1 code. */
  country: string;
}

/**
 * Returns the printed address of a party: the free text, else the lines of the structured one. Undefined without
 * either.
 */
export function printedAddress(
  {
    address,
    postal_address,
  }: { address?: string | null | undefined; postal_address?: PostalAddress | null | undefined },
  written: Written,
): string | undefined {
  if (address) return address;
  return postal_address ? postalLines(postal_address, written) : undefined;
}

interface Written {
  /** The language for the country's name. */
  locale: string;
  /** The issuer's country, whose name is left out: a letter within a country needs none. */
  from?: string | undefined;
}

/** Returns the lines of an address, joined by line breaks, in the order of its country (CLDR data of the library). */
export function postalLines(address: PostalAddress, { locale, from }: Written): string {
  const { line1, line2, line3, postal_code, city, region, country } = address;
  const addressLines = [line1, line2, line3].filter((line) => line !== undefined);
  const written = (places: { administrativeArea?: string | undefined }) =>
    formatAddress({
      postalCountry: country,
      addressLines,
      ...defined({ locality: city, postalCode: postal_code, administrativeArea: region, ...places }),
    });
  const lines = written({});
  // In some countries, such as Japan, the region field carries the city.
  const isCityShown = city === undefined || lines.some((line) => line.toUpperCase().includes(city.toUpperCase()));
  const shown = isCityShown ? lines : written({ administrativeArea: [region, city].filter(Boolean).join('') });
  return [...shown, ...(country === from ? [] : [countryName(country, locale)])].join('\n');
}

function countryName(country: string, locale: string): string {
  return new Intl.DisplayNames([intlLocale(locale), 'en'], { type: 'region' }).of(country) ?? country;
}

function defined<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
