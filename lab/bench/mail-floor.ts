// The floor of mail: a loop that hands mails to the same server by nodemailer, over as many pooled connections, with no queue and no database.
import { randomBytes } from 'node:crypto';
import { createTransport } from 'nodemailer';
import { ORIGINAL_BYTES } from './api-data.ts';

const { SMTP_URL = '', CONNECTIONS = '5' } = process.env;
const { hostname: host, port } = new URL(SMTP_URL);
const transport = createTransport({
  host,
  port: Number(port),
  pool: true,
  maxConnections: Number(CONNECTIONS),
  maxMessages: Number.POSITIVE_INFINITY,
});
const pdf = randomBytes(ORIGINAL_BYTES);

/** Sends as many mails as a message asks for and reports when it is done. A failed mail ends it. */
process.on('message', (count: number) => void send(count));

async function send(count: number) {
  const turns = Array.from({ length: count }, (_, turn) => turn).values();
  const loop = async () => {
    for (const turn of turns)
      await transport.sendMail({
        from: { name: 'Studio North', address: 'billing@example.com' },
        to: 'ada@example.com',
        subject: `Invoice INV-${turn}`,
        text: 'Hello Ada,\n\nyour invoice is attached.',
        html: '<p>Hello Ada,</p><p>your invoice is attached.</p>',
        attachments: [{ filename: `INV-${turn}.pdf`, content: pdf, contentType: 'application/pdf' }],
      });
  };
  await Promise.all(Array.from({ length: Number(CONNECTIONS) }, loop));
  process.send?.('sent');
}
