// Makes the PDF of a document whose images are loaded: lays it out, prints it, and makes the print an archive file.
import type { PrintableDocument } from '#libs/jobs/printable-document.ts';
import { archiveFile } from '#libs/pdf/archive.ts';
import { UnknownForm } from '#libs/pdf/structure.ts';
import { withoutBidiControls } from '#libs/printable.ts';
import { type DocumentView, documentView } from './document/document-view.ts';
import type { Render } from './document/template.ts';
import { drawnDocument, drawnHtml } from './fonts/glyphs.ts';
import { accessiblePdf } from './pdf/accessible.ts';
import { mayHaveClusters, withFindableClusters } from './pdf/pdf-clusters.ts';
import { pageCount } from './pdf/pdf-file.ts';
import { makeReproducible } from './pdf/reproducible.ts';

const IMAGES_OMITTED = 'bodyMarkdown: images are not printed, only their descriptions';

/** The paper of the payment part of a Swiss QR-bill. */
const SWISS_PAPER = 'a4';

export interface LoadedDocument {
  document: PrintableDocument;
  bodyHtml: string | undefined;
  logo: Parameters<typeof documentView>[1]['logo'];
  banner: Parameters<typeof documentView>[1]['banner'];
  signature?: Parameters<typeof documentView>[1]['signature'];
}

export interface Printing {
  render: Render;
  print: (html: string, isTagged: boolean) => Promise<Buffer>;
}

/** The print of a document, which finished() makes a file. */
export interface Printed {
  html: string;
  pdf: Buffer;
  printMs: number;
  author: string;
  language: string;
  warnings: string[];
}

export async function printed(
  { document, bodyHtml, logo, banner, signature }: LoadedDocument,
  { render, print }: Printing,
): Promise<Printed> {
  const drawn = await drawnDocument(document);
  const body = await drawnHtml(bodyHtml);
  // Such an image would have to be fetched from an address inside the text.
  const omitted = bodyHtml?.includes('<span class="picture">') ? [IMAGES_OMITTED] : [];
  const images = { logo, banner, signature, bodyHtml: body.content };
  const { view, warnings } = documentView(drawn.content, images);
  const isTagged = document.accessible === true;
  const startedAt = performance.now();
  const { html, pdf } = await laidOut(view, { render, print: (text) => print(text, isTagged) });
  const printMs = performance.now() - startedAt;
  // Metadata may contain a name that no font can draw.
  const { issuer } = drawn.content === document ? view : documentView(document, images).view;
  return {
    html,
    pdf,
    printMs,
    author: withoutBidiControls(issuer.nameInLine),
    language: view.language,
    warnings: [...warnings, ...drawn.warnings, ...body.warnings, ...omitted],
  };
}

interface LaidOut {
  html: string;
  pdf: Buffer;
}

type PrintHtml = (html: string) => Promise<Buffer>;

/**
 * Lays the document out. A payment part stands at the foot of the first page where everything before it has room
 * above, and otherwise on a page of its own.
 */
async function laidOut(view: DocumentView, { render, print }: { render: Render; print: PrintHtml }): Promise<LaidOut> {
  if (!view.swissPart || view.pageSize !== SWISS_PAPER) return withTimeSheet(view, { render, print });
  const atFoot: DocumentView = { ...view, swissPlace: 'foot' };
  const html = render({ ...atFoot, timeSheet: undefined });
  const pdf = await print(html);
  if (pageCount(pdf) > 1) return withTimeSheet(view, { render, print });
  return view.timeSheet ? withTimeSheet(atFoot, { render, print }) : { html, pdf };
}

/** Chromium has no reference to the page of another part: the pages before the time sheet are printed alone and counted. */
async function withTimeSheet(
  view: DocumentView,
  { render, print }: { render: Render; print: PrintHtml },
): Promise<LaidOut> {
  const before = view.timeSheet ? pageCount(await print(render({ ...view, timeSheet: undefined }))) : 0;
  const html = render({ ...view, timeSheetPage: view.timeSheet && before + 1 });
  return { html, pdf: await print(html) };
}

/** Returns the file. With a time of creation the same content gives the same bytes. */
export async function finished(
  { html, pdf, author, language }: Printed,
  { madeAt, accessible: isAccessible = false }: PrintableDocument,
): Promise<Buffer> {
  const findable = mayHaveClusters(html) ? await withFindableClusters(pdf) : pdf;
  try {
    if (madeAt !== undefined) makeReproducible(findable, madeAt);
    const readable = isAccessible ? await accessiblePdf(findable) : findable;
    return archiveFile(readable, { author, language, isAccessible });
  } catch (error) {
    // A document that is no archive file, and does not claim to be one, is better than no document.
    if (error instanceof UnknownForm) return findable;
    throw error;
  }
}
