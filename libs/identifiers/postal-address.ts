// Postal addresses in parts, and the lines in which their country writes them.

import { formatAddress } from 'localized-address-format';
import { LRUCache } from 'lru-cache';
import { intlLocale } from '../profile-forms.ts';

export interface PostalAddress {
  line1?: string;
  line2?: string;
  line3?: string;
  postal_code?: string;
  city?: string;
  /** State, province or canton; printed where addresses of the country have one. */
  region?: string;
  /** ISO 3166-1. */
  country: string;
}

/** What is printed as a party's address: the free one, else the one in parts; undefined without either. */
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
  /** The language of the country's name. */
  locale: string;
  /** A country that is not named: a letter within it needs none. */
  from?: string | undefined;
}

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
  // In some countries, such as Japan, the city is part of what the region is elsewhere.
  const isCityShown = city === undefined || lines.some((line) => line.toUpperCase().includes(city.toUpperCase()));
  const shown = isCityShown ? lines : written({ administrativeArea: [region, city].filter(Boolean).join('') });
  return [...shown, ...(country === from ? [] : [countryName(country, locale)])].join('\n');
}

/** Making one costs a hundred times what using it does. */
const names = new LRUCache<string, Intl.DisplayNames>({ max: 100 });

function namesIn(locale: string): Intl.DisplayNames {
  const known = names.get(locale);
  if (known) return known;
  const made = new Intl.DisplayNames([locale, 'en'], { type: 'region' });
  names.set(locale, made);
  return made;
}

function countryName(country: string, locale: string): string {
  return namesIn(intlLocale(locale)).of(country) ?? country;
}

function defined<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
