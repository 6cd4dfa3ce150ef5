// Makes a tagged PDF of Chromium fulfil PDF/UA-1 (ISO 14289-1). Chromium marks the content that belongs to the structure and leaves the rest unmarked.
import { partition } from 'es-toolkit/array/partition';
import { inSlices, type Slices } from '../in-slices.ts';
import { type PdfFile, readPdfFile } from './pdf-file.ts';

/** Matches a page, and the number of its content. */
const PAGE = /^<<\/Type \/Page\n[\s\S]*\/Contents (\d+) 0 R/;
const FONT_MAP = /\/ToUnicode (\d+) 0 R/;
const LINK = /^<<\/Type \/Annot\n\/Subtype \/Link\n/;
const ROOT = /^<<\/Type \/StructTreeRoot\n/;
/** Types that PDF 1.7 does not know. */
const ROLES = '/RoleMap <</Em /Span /Strong /Span>>';
const ITEM = /^<<\/Type \/StructElem\n\/S \/LI\n/;
const HEADING = /^<<\/Type \/StructElem\n\/S \/H([1-6])\n/;
const ADDRESS = /\/URI \(((?:[^\\()]|\\[\s\S])*)\)/;

/** @throws UnknownForm */
export function accessiblePdf(pdf: Buffer): Promise<Buffer> {
  return inSlices(rewriting(pdf));
}

function* rewriting(pdf: Buffer): Slices<Buffer> {
  const file = readPdfFile(pdf);
  let level = 0;
  for (const number of [...file.numbers]) {
    const text = file.textOf(number);
    const contents = PAGE.exec(text)?.[1];
    if (contents) change(file, Number(contents), withArtifacts);
    const map = FONT_MAP.exec(text)?.[1];
    if (map) change(file, Number(map), withoutNull);
    if (LINK.test(text)) file.replaceText(number, described(text));
    if (ROOT.test(text)) file.replaceText(number, text.replace('<<', `<<${ROLES}\n`));
    if (ITEM.test(text)) withBody(file, number, text);
    const heading = HEADING.exec(text)?.[1];
    if (heading) {
      // Markdown may leave a level out, which the structure may not. Its elements stand in the order of the document.
      level = Math.min(Number(heading), level + 1);
      file.replaceText(number, text.replace(`/S /H${heading}`, `/S /H${level}`));
    }
    yield;
  }
  return file.toBuffer();
}

function change(file: PdfFile, stream: number, rewrite: (content: string) => string) {
  const content = file.streamOf(stream).toString('latin1');
  const changed = rewrite(content);
  if (changed !== content) file.replaceStream(stream, Buffer.from(changed, 'latin1'));
}

const PATH = /^(?:.* )?(?:m|l|c|v|y|h|re)$/;
const PAINTED = /^(?:f\*?|F|S|s|B\*?|b\*?)$/;
const PICTURE = /^\/\S+ (?:Do|sh)$/;

/** Marks what lies outside of the structure as artifacts, which screen readers skip: page feet, grounds, rules and drawings. */
export function withArtifacts(content: string): string {
  const lines: string[] = [];
  /** Whether each open sequence of marked content belongs to the structure. */
  const open: boolean[] = [];
  /** The lines of a path or a text that has begun outside of the structure, and is not yet drawn. */
  let begun: string[] = [];
  let isText = false;
  const end = (isDrawn: boolean) => {
    if (isDrawn) lines.push('/Artifact BMC', ...begun, 'EMC');
    else lines.push(...begun);
    begun = [];
    isText = false;
  };
  for (const line of content.split('\n')) {
    if (line.endsWith('BDC')) open.push(line.includes('/MCID'));
    else if (line.endsWith('BMC')) open.push(false);
    else if (line === 'EMC') open.pop();
    if (open.includes(true)) {
      // A text may begin before the structure that it belongs to.
      end(false);
      lines.push(line);
    } else if (line === 'BT' || PATH.test(line) || isText) {
      begun.push(line);
      isText ||= line === 'BT';
      if (line === 'ET') end(true);
    } else if (PAINTED.test(line) || PICTURE.test(line)) {
      begun.push(line);
      end(true);
    } else {
      // Such as a path that only clips.
      end(false);
      lines.push(line);
    }
  }
  end(false);
  return lines.join('\n');
}

/** Lets no glyph stand for U+0000. Chromium gives it to the marks of Arabic letters, whose characters stand beside them. */
function withoutNull(map: string): string {
  return map.replaceAll(/ <0000>$/gm, ' <200B>');
}

/** Puts the content of a list's item into a body, beside its label. */
function withBody(file: PdfFile, item: number, text: string) {
  const kids = Array.from(text.matchAll(/(?<=\/K \[?(?:\d+ 0 R ?)*)(\d+) 0 R/g), ([, number]) => Number(number));
  const isLabel = (number: number) => file.textOf(number).includes('/S /Lbl\n');
  const [labels, content] = partition(kids, isLabel);
  if (content.length === 0) return;
  const references = (numbers: readonly number[]) => numbers.map((number) => `${number} 0 R`).join(' ');
  const body = file.add(`<</Type /StructElem\n/S /LBody\n/P ${item} 0 R\n/K [${references(content)}]>>`);
  for (const number of content) {
    file.replaceText(number, file.textOf(number).replace(`/P ${item} 0 R`, `/P ${body} 0 R`));
  }
  file.replaceText(item, text.replace(/\/K (?:\[[^\]]*\]|\d+ 0 R)/, `/K [${references([...labels, body])}]`));
}

/** Describes a link by its address. One within the document has none. */
function described(link: string): string {
  const address = ADDRESS.exec(link)?.[1] ?? 'Link';
  return link.replace('<<', `<</Contents (${address})\n`);
}
