// A small PDF with the structure that Chromium's files have: one table of objects, plain dictionaries.
import { textString } from '#libs/pdf/text-string.ts';

interface Given {
  /** The title as it stands in the file. */
  title?: string;
  /** True for a file with author and language. */
  isDescribed?: boolean;
  /** White space at the end of the page's content. */
  paddingBytes?: number;
}

export function chromiumPdf({
  title = textString('Invoice INV-0042'),
  isDescribed,
  paddingBytes = 0,
}: Given = {}): Buffer {
  const objects = [
    `<</Title ${title}\n/Creator (Chromium)\n/Producer (Skia/PDF m153)\n/CreationDate (D:20261121093000+00'00')\n/ModDate (D:20261121093000+00'00')${isDescribed ? '\n/Author (Studio North)' : ''}>>`,
    `<</Type /Catalog\n/Pages 3 0 R${isDescribed ? '\n/Lang (en)' : ''}>>`,
    '<</Type /Pages\n/Count 1\n/Kids [4 0 R]>>',
    '<</Type /Page\n/Resources <<>>\n/MediaBox [0 0 595 842]\n/Contents 5 0 R\n/Parent 3 0 R>>',
    `<</Length ${4 + paddingBytes}>> stream\nq\nQ\n${' '.repeat(paddingBytes)}\nendstream`,
  ];
  let file = '%PDF-1.4\n%\xd3\xeb\xe9\xe1\n';
  const entries = objects.map((body, index) => {
    const entry = `${String(file.length).padStart(10, '0')} 00000 n \n`;
    file += `${index + 1} 0 obj\n${body}\nendobj\n`;
    return entry;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${entries.join('')}`;
  const trailer = `trailer\n<</Size ${size}\n/Root 2 0 R\n/Info 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + trailer, 'latin1');
}
