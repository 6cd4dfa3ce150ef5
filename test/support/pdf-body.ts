// A body for the PDF tool with what it needs and nothing else.

/** @returns one that a test may spread into its own. */
export function pdfOf(title: 'Invoice' | 'Quote') {
  return {
    title,
    number: title === 'Invoice' ? 'INV-0042' : 'QUO-0042',
    date: '2026-11-21',
    clientName: 'Ada Lovelace',
    clientEmail: 'ada@client.example',
    partnerName: 'Grace Hopper',
    partnerEmail: 'grace@issuer.example',
    amount: 240,
    lineItems: [{ description: 'Design', qty: 2, rate: '100.00' }],
  };
}
