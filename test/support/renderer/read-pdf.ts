// Reads a PDF: its words with their positions, its fonts, its links, the colours of a page.
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import { getDocument, type PDFDocumentProxy, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs';
import decodeQR from 'qr/decode.js';

export interface Word {
  text: string;
  /** Millimetres from the page's top left corner to the word's baseline start. */
  x: number;
  y: number;
  width: number;
  height: number;
}

interface ReadPage {
  /** Everything, with single spaces. */
  text: string;
  words: Word[];
  links: string[];
  /** The numbers of the pages that its links within the document lead to. */
  linkedPages: number[];
  /** The texts of its figures for screen readers, in order. Undefined for a figure without one. */
  figures: (string | undefined)[];
}

interface Tag {
  role?: string;
  alt?: string;
  children?: Tag[];
}

interface Metadata {
  get(name: string): unknown;
}

export interface ReadPdf {
  pages: ReadPage[];
  /** The text of all pages. */
  text: string;
  info: Record<string, unknown>;
  /** Absent in a file that is no archive file. */
  metadata: Metadata | null;
  /** The two halves of its identifier: what stays through updates, and what does not. */
  fingerprints: [string, string | null];
  /** The files inside it, as text by name. */
  attachments: Record<string, string>;
  isTagged: boolean;
  outline: unknown;
  /** Millimetres. */
  size: { width: number; height: number };
  /** Red, green, blue at a place of a page, in millimetres from its top left corner. */
  colourAt(page: number, x: number, y: number): Promise<[number, number, number]>;
  /** True when nothing but white lies in the box, in millimetres. */
  isBlank(page: number, box: { x: number; y: number; width: number; height: number }): Promise<boolean>;
  /** The text of the code that is printed in the box, in millimetres. @throws when a scanner would find none. */
  codeIn(page: number, box: { x: number; y: number; width: number; height: number }): Promise<string>;
}

const MM_PER_POINT = 25.4 / 72;
/** Dots for each point of the page. */
const SCALE = 2;

export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  const pdf = await getDocument({ data: Uint8Array.from(bytes), verbosity: VerbosityLevel.ERRORS }).promise;
  const pages = await Promise.all(Array.from({ length: pdf.numPages }, (_none, index) => readPage(pdf, index + 1)));
  const { info, metadata } = await pdf.getMetadata();
  // The library gives a map, though its types say a record.
  const marks = (await pdf.getMarkInfo()) as unknown as Map<string, boolean> | null;
  const [, , width = 0, height = 0] = (await pdf.getPage(1)).view;
  return {
    pages,
    text: pages.map(({ text }) => text).join(' '),
    info: info as Record<string, unknown>,
    metadata: metadata as Metadata | null,
    fingerprints: pdf.fingerprints as [string, string | null],
    attachments: await attachmentsOf(pdf),
    isTagged: marks?.get('Marked') === true,
    outline: await pdf.getOutline(),
    size: { width: width * MM_PER_POINT, height: height * MM_PER_POINT },
    async colourAt(page, x, y) {
      const [red = 0, green = 0, blue = 0] = await pixels(pdf, page, { x, y, width: 0, height: 0 });
      return [red, green, blue];
    },
    isBlank: async (page, box) => (await pixels(pdf, page, box)).every((part) => part === 255),
    codeIn: (page, box) => scanned(pdf, page, box),
  };
}

async function attachmentsOf(pdf: PDFDocumentProxy): Promise<Record<string, string>> {
  const names = [...((await pdf.getAttachments())?.keys() ?? [])];
  const contents = names.map(
    async (name): Promise<[string, string]> => [
      name,
      Buffer.from((await pdf.getAttachmentContent(name)) as Uint8Array).toString(),
    ],
  );
  return Object.fromEntries(await Promise.all(contents));
}

async function readPage(pdf: PDFDocumentProxy, number: number): Promise<ReadPage> {
  const page = await pdf.getPage(number);
  const [, , , height = 0] = page.view;
  const { items } = await page.getTextContent();
  const annotations = await page.getAnnotations();
  const texts = items.filter((item) => 'str' in item);
  const words = texts.flatMap(({ str, transform, width, height: size }) => {
    const [, , , , x = 0, y = 0] = transform as number[];
    const inMm = { x, y: height - y, width, height: size };
    return str === '' ? [] : [{ text: str, ...mapValues(inMm, (value) => value * MM_PER_POINT) }];
  });
  return {
    text: texts
      .map(({ str, hasEOL }) => (hasEOL ? `${str} ` : str))
      .join('')
      .replaceAll(/\s+/g, ' ')
      .trim(),
    words,
    // pdf.js itself follows no link of another scheme than those of the web and of mail, such as upi.
    links: annotations.flatMap(({ unsafeUrl }: { unsafeUrl?: string }) => (unsafeUrl ? [unsafeUrl] : [])),
    linkedPages: await Promise.all(annotations.flatMap(({ dest }) => (dest ? [linkedPage(pdf, dest)] : []))),
    figures: figuresOf((await page.getStructTree()) as Tag | null),
  };
}

function figuresOf(tag: Tag | null): (string | undefined)[] {
  const within = (tag?.children ?? []).flatMap(figuresOf);
  return tag?.role === 'Figure' ? [tag.alt, ...within] : within;
}

/** @param given a destination, or the name of one. */
async function linkedPage(pdf: PDFDocumentProxy, given: string | unknown[]): Promise<number> {
  const destination = typeof given === 'string' ? await pdf.getDestination(given) : given;
  return 1 + (await pdf.getPageIndex(destination?.[0] as Parameters<PDFDocumentProxy['getPageIndex']>[0]));
}

const rendered = new WeakMap<PDFDocumentProxy, Map<number, Canvas>>();

type Box = Parameters<ReadPdf['isBlank']>[1];

function inPixels(box: Box): Box {
  return mapValues({ ...box }, (length) => Math.round((length / MM_PER_POINT) * SCALE));
}

/** A scanner looks from several distances. Dots for each point of the page. */
const DISTANCES = [2, 3, 4, 5, 6, 7, 8, 10, 12];

async function scanned(pdf: PDFDocumentProxy, number: number, box: Box): Promise<string> {
  const page = await pdf.getPage(number);
  let problem: unknown;
  for (const scale of DISTANCES) {
    const { x, y, width, height } = mapValues({ ...box }, (length) => Math.round((length / MM_PER_POINT) * scale));
    const viewport = page.getViewport({ scale, offsetX: -x, offsetY: -y });
    const canvas = createCanvas(width, height);
    await page.render({ canvas: canvas as never, viewport }).promise;
    try {
      const { data } = canvas.getContext('2d').getImageData(0, 0, width, height);
      return decodeQR({ width, height, data: Uint8Array.from(data) });
    } catch (error) {
      problem = error;
    }
  }
  throw problem;
}

async function pixels(pdf: PDFDocumentProxy, number: number, box: Box) {
  const canvases = rendered.get(pdf) ?? new Map<number, Canvas>();
  rendered.set(pdf, canvases);
  let canvas = canvases.get(number);
  if (!canvas) {
    const page = await pdf.getPage(number);
    const viewport = page.getViewport({ scale: SCALE });
    canvas = createCanvas(viewport.width, viewport.height);
    // The two libraries mean the same by a canvas, but only one has the browser's types.
    await page.render({ canvas: canvas as never, viewport }).promise;
    canvases.set(number, canvas);
  }
  const { x, y, width, height } = inPixels(box);
  return canvas.getContext('2d').getImageData(x, y, Math.max(1, width), Math.max(1, height)).data;
}

function mapValues<Key extends string>(record: Record<Key, number>, change: (value: number) => number) {
  return Object.fromEntries(Object.entries<number>(record).map(([key, value]) => [key, change(value)])) as Record<
    Key,
    number
  >;
}
