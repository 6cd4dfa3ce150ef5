// Factur-X, in Germany ZUGFeRD: the PDF of an invoice with its XML and other files inside.
import { withEmbeddedFiles } from '../pdf/archive.ts';
import type { Embedded } from './formats.ts';
import type { EAttachment } from './terms.ts';

/**
 * @param pdf the document as it was printed, an archive file. Its pages stay as they are.
 * @throws UnknownForm, because a PDF that only looks like an e-invoice must not be given out.
 */
export function embedXml(
  pdf: Buffer,
  xml: Buffer,
  { file, level, version, isData }: Embedded,
  attachments: readonly EAttachment[] = [],
): Buffer {
  const property = (name: string, value: string, description: string) =>
    ({ name, value, type: 'Text', category: 'external', description }) as const;
  const invoice = {
    name: file,
    bytes: xml,
    type: 'text/xml',
    description: 'The invoice as XML',
    relation: isData ? 'Data' : 'Alternative',
  } as const;
  const others = attachments.map(
    ({ fileName, bytes, mediaType, description }) =>
      ({ name: fileName, bytes, type: mediaType, description, relation: 'Supplement' }) as const,
  );
  return withEmbeddedFiles(pdf, [invoice, ...others], {
    name: 'Factur-X PDFA Extension Schema',
    uri: 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#',
    prefix: 'fx',
    properties: [
      property('DocumentType', 'INVOICE', 'The kind of the embedded document'),
      property('DocumentFileName', file, 'The name of the embedded file'),
      property('Version', version, 'The version of the standard of the XML'),
      property('ConformanceLevel', level, 'The profile of the XML'),
    ],
  });
}
