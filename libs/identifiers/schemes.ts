// The schemes of register numbers (ISO 6523) and of electronic addresses (EAS).

/** The codes of ISO 6523 that are not assigned. */
const UNASSIGNED = new Set([92, 103, 181, 182]);
const FIRST = 2;
const LAST = 244;

/** The codes of ISO 6523, from which EN 16931 takes the scheme of a register number. */
export const REGISTER_SCHEMES: readonly string[] = Array.from({ length: LAST - FIRST + 1 }, (_, index) => FIRST + index)
  .filter((code) => !UNASSIGNED.has(code))
  .map((code) => String(code).padStart(4, '0'));

/** The European Commission's list of electronic address schemes. `EM` is an e-mail address. */
export const ADDRESS_SCHEMES: readonly string[] = `
  0002 0007 0009 0037 0060 0088 0096 0097 0106 0130 0135 0142 0147 0151 0154 0158 0170 0177 0183 0184 0188 0190 0191 0192 0193 0194
  0195 0196 0198 0199 0200 0201 0202 0203 0204 0205 0208 0209 0210 0211 0212 0213 0215 0216 0217 0218 0221 0225 0230 0235 0240 0242
  9910 9913 9914 9915 9918 9919 9920 9922 9923 9924 9925 9926 9927 9928 9929 9930 9931 9932 9933 9934 9935 9936 9937 9938 9939 9940
  9941 9942 9943 9944 9945 9946 9947 9948 9949 9950 9951 9952 9953 9957 9959 AN AQ AS AU EM`
  .trim()
  .split(/\s+/);

/** The printed name of a country's register. */
const REGISTER_NAMES: Readonly<Record<string, string>> = {
  '0002': 'SIREN',
  '0007': 'Org.nr',
  '0009': 'SIRET',
  '0088': 'GLN',
  '0106': 'KvK',
  '0151': 'ABN',
  '0183': 'UID',
  '0184': 'CVR',
  '0192': 'Org.nr.',
  '0199': 'LEI',
  '0208': 'KBO/BCE',
  '0212': 'Y-tunnus',
};

/** Returns the name of the register behind a scheme, such as SIREN for 0002. Undefined where it has none. */
export function registerName(scheme: string | undefined): string | undefined {
  return scheme === undefined ? undefined : REGISTER_NAMES[scheme];
}
