// The metadata of an archive file (PDF/A-3, ISO 19005-3): an XMP packet that says what the document information says.
import { type Xml, xmlElement } from '../xml.ts';

export interface Properties {
  title: string;
  author: string;
  /** A BCP 47 tag. */
  language: string;
  /** The program that made the page, and the one that made the PDF. */
  creator: string;
  producer: string;
  /** ISO 8601 with an offset. */
  createdAt: string;
  modifiedAt: string;
}

/** Properties of a schema that PDF/A does not know, which the file therefore describes. */
export interface ExtensionSchema {
  name: string;
  uri: string;
  prefix: string;
  properties: readonly ExtensionProperty[];
}

interface ExtensionProperty {
  name: string;
  value: string;
  type: 'Text' | 'Integer';
  category: 'internal' | 'external';
  description: string;
}

/** The claim of PDF/UA-1 (ISO 14289-1). */
const ACCESSIBLE: ExtensionSchema = {
  name: 'PDF/UA identification',
  uri: 'http://www.aiim.org/pdfua/ns/id/',
  prefix: 'pdfuaid',
  properties: [{ name: 'part', value: '1', type: 'Integer', category: 'internal', description: 'Part of PDF/UA' }],
};

const NAMESPACES = {
  'xmlns:pdfaid': 'http://www.aiim.org/pdfa/ns/id/',
  'xmlns:dc': 'http://purl.org/dc/elements/1.1/',
  'xmlns:xmp': 'http://ns.adobe.com/xap/1.0/',
  'xmlns:pdf': 'http://ns.adobe.com/pdf/1.3/',
  'xmlns:pdfaExtension': 'http://www.aiim.org/pdfa/ns/extension/',
  'xmlns:pdfaSchema': 'http://www.aiim.org/pdfa/ns/schema#',
  'xmlns:pdfaProperty': 'http://www.aiim.org/pdfa/ns/property#',
};

/** @param isAccessible true for a file that claims PDF/A-3a and PDF/UA-1 instead of PDF/A-3b. */
export function xmpOf(
  properties: Properties,
  { isAccessible, extensions }: { isAccessible: boolean; extensions: readonly ExtensionSchema[] },
): Buffer {
  const schemas = [...(isAccessible ? [ACCESSIBLE] : []), ...extensions];
  const { title, author, language, creator, producer, createdAt, modifiedAt } = properties;
  const description: Xml = [
    'rdf:Description',
    {
      'rdf:about': '',
      ...NAMESPACES,
      ...Object.fromEntries(schemas.map(({ prefix, uri }) => [`xmlns:${prefix}`, uri])),
    },
    ['pdfaid:part', '3'],
    ['pdfaid:conformance', isAccessible ? 'A' : 'B'],
    ['dc:format', 'application/pdf'],
    ['dc:title', ['rdf:Alt', ['rdf:li', { 'xml:lang': 'x-default' }, title]]],
    ['dc:creator', ['rdf:Seq', ['rdf:li', author]]],
    ['dc:language', ['rdf:Bag', ['rdf:li', language]]],
    ['xmp:CreatorTool', creator],
    ['xmp:CreateDate', createdAt],
    ['xmp:ModifyDate', modifiedAt],
    ['pdf:Producer', producer],
    ...schemas.flatMap((schema) =>
      schema.properties.map(({ name, value }): Xml => [`${schema.prefix}:${name}`, value]),
    ),
    ['pdfaExtension:schemas', ['rdf:Bag', ...schemas.map(described)]],
  ];
  const rdf: Xml = ['rdf:RDF', { 'xmlns:rdf': 'http://www.w3.org/1999/02/22-rdf-syntax-ns#' }, description];
  const packet = xmlElement(['x:xmpmeta', { 'xmlns:x': 'adobe:ns:meta/' }, rdf]);
  return Buffer.from(
    `<?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>\n${packet}\n<?xpacket end="w"?>`,
    'utf8',
  );
}

function described({ name, uri, prefix, properties }: ExtensionSchema): Xml {
  return [
    'rdf:li',
    { 'rdf:parseType': 'Resource' },
    ['pdfaSchema:schema', name],
    ['pdfaSchema:namespaceURI', uri],
    ['pdfaSchema:prefix', prefix],
    [
      'pdfaSchema:property',
      [
        'rdf:Seq',
        ...properties.map(
          (property): Xml => [
            'rdf:li',
            { 'rdf:parseType': 'Resource' },
            ['pdfaProperty:name', property.name],
            ['pdfaProperty:valueType', property.type],
            ['pdfaProperty:category', property.category],
            ['pdfaProperty:description', property.description],
          ],
        ),
      ],
    ],
  ];
}
