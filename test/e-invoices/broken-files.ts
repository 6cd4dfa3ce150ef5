// Files with one fault each, which the validator must refuse: otherwise its verdict on the others says nothing.
import { embedXml } from '#libs/e-invoice/embed.ts';
import { type FormatName, formatOf } from '#libs/e-invoice/formats.ts';
import { writeEInvoice } from '#libs/e-invoice/write.ts';
import { type Case, cases } from './cases.ts';
import { termsOfCase } from './terms-of-case.ts';

const FORMAT: FormatName = 'facturx';

/** Each replaces a part by another one of the same length, so that the file stays readable. */
const REPLACED: readonly [name: string, part: string, other: string][] = [
  ['another name of the XML', '/UF (factur-x.xml)', '/UF (invoices.xml)'],
  ['another profile in the metadata', '>EN 16931<', '>EXTENDED<'],
  ['an unspecified relation', '/AFRelationship /Alternative', '/AFRelationship /Unspecified'],
  ['no associated file', '/AF [', '/XF ['],
  ['another part of PDF/A', '<pdfaid:part>3<', '<pdfaid:part>2<'],
  ['another media type', '/Subtype /text#2Fxml', '/Subtype /text#2Ftxt'],
  ['no identifier', '/ID [<', '/IX [<'],
  ['no meaning of colours', '/OutputIntents [', '/OtherIntents_ ['],
];

/** @param pages an archive file. */
export function brokenFiles(pages: Buffer): [name: string, file: Buffer][] {
  const { embedded } = formatOf(FORMAT);
  if (!embedded) throw new Error(`${FORMAT} stands in no PDF`);
  const xml = writeEInvoice(termsOfCase(cases['plain'] as Case), FORMAT);
  const hybrid = embedXml(pages, Buffer.from(xml), embedded);
  const containing = (text: string) => embedXml(pages, Buffer.from(text), embedded);
  const replaced = REPLACED.map(([name, part, other]): [string, Buffer] => {
    const text = hybrid.toString('latin1');
    if (part.length !== other.length || !text.includes(part)) throw new Error(`${name}: nothing to replace`);
    return [name, Buffer.from(text.replaceAll(part, other), 'latin1')];
  });
  return [
    ...replaced,
    ['half of the file', hybrid.subarray(0, hybrid.length / 2)],
    ['the print of Chromium', pages.subarray(0, pages.indexOf('%%EOF\n') + 6)],
    ['another document inside', containing('<?xml version="1.0"?><note/>')],
    ['a document type', containing(xml.replace('?>', '?><!DOCTYPE note>'))],
    ['text inside that is no XML', containing('Invoice INV-0042')],
  ];
}
