// The document a caller supplies to be printed: the shared language of the gateway, which checks it, and the renderer, which prints it.

export interface PdfLine {
  id?: string;
  description?: string;
  qty?: string | number;
  rate?: string | number;
}

/** The specification's body of `POST /api/tools/generate-pdf` after validation, defaults filled in. */
export interface PdfDocument {
  title: 'Invoice' | 'Quote';
  number: string;
  /** `YYYY-MM-DD`, as are dueDate and expiryDate. */
  date: string;
  clientName: string;
  clientEmail: string;
  partnerName: string;
  partnerEmail: string;
  /** The total as printed. */
  amount: number;
  lineItems: PdfLine[];
  dueDate?: string;
  expiryDate?: string;
  clientCompany?: string;
  partnerCompany?: string;
  logoUrl?: string;
  subtotal?: number;
  taxRate: number;
  currencySymbol: string;
  notes?: string;
  terms?: string;
  poNumber?: string;
  discountAmount?: number;
  shippingAmount?: number;
  fontStyle: 'elegant' | 'modern' | 'classic';
  textScale: number;
  showBanner: boolean;
  layoutType: 'standard' | 'overlay';
  bannerUrl?: string;
  brandColor?: string;
  isQuote: boolean;
  quoteIntro?: string;
  bodyMarkdown?: string;
  requiresSignature: boolean;
  paymentDueDays?: number;
}
