// Raw delivery reports: which message came back, from whom and why, as real servers write it, and hostile mails that are none.
import { describe, expect, test } from '@jest/globals';
import { parseReport } from '../../../services/gateway/messages/report/parse-report.ts';
import { returnOf } from '../../../services/gateway/messages/report/reported-return.ts';
import { complaintReport, returned, statusReport } from '../../support/delivery-reports.ts';

const reported = { id: '019a1f00-0000-7000-8000-000000003a11', recipient: 'ada@example.net' };
const names = [reported.id, `<${reported.id}@mail.example.com>`];

describe('what came back', () => {
  test.each(Object.entries(returned))(
    'when %s returns a mail, then message, recipient, code and words are known',
    async (_server, report) => {
      const read = await parseReport(report(reported));
      expect(names).toEqual(expect.arrayContaining(read?.messages ?? []));
      expect(read?.messages.length).toBeGreaterThan(0);
      expect(read?.recipients).toEqual([
        {
          addresses: expect.arrayContaining([reported.recipient]),
          outcome: { kind: 'hard', code: expect.stringMatching(/^550 5\.1\.10?$/), text: expect.stringMatching(/\w/) },
        },
      ]);
      expect(JSON.stringify(read)).not.toMatch(/\\[rnt]/);
    },
  );

  test('when a report is about several recipients, then each has its own words', async () => {
    const fields = `Final-Recipient: rfc822; a@example.net
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp; 552 5.2.2 mailbox full

Final-Recipient: rfc822; <b@example.net>
Action: delayed
Status: 4.4.1

Final-Recipient: rfc822; c@example.net
Action: delivered
Status: 2.0.0`;
    const read = await parseReport(statusReport({ reported, fields }));
    expect(read?.recipients.map(({ addresses, outcome }) => [addresses[0], outcome])).toEqual([
      ['a@example.net', { kind: 'returned', code: '552 5.2.2', text: '552 5.2.2 mailbox full' }],
      ['b@example.net', { kind: 'soft', code: '4.4.1' }],
      ['c@example.net', { kind: 'none', code: '2.0.0' }],
    ]);
  });

  test.each([
    ['the time is over, and the server has only met temporary errors', ['failed', '4.4.7', undefined], 'returned'],
    ['a rule about senders', ['failed', '5.7.1', 'smtp; 550 5.7.1 blocked'], 'returned'],
    ['a status that says nothing, beside words that do', ['failed', '5.0.0', 'smtp; 552-5.3.4 too large'], 'returned'],
    ['no status', ['failed', undefined, 'x-unix; user unknown'], 'hard'],
    ['an action with a comment', ['Failed (final)', '5.1.1', undefined], 'hard'],
    ['a list that passes the mail on', ['expanded', '2.0.0', undefined], 'none'],
  ] as const)('when a server says %s, then it is %s', (_words, [action, status, diagnostic], kind) => {
    expect(returnOf(action, status, diagnostic).kind).toBe(kind);
  });

  test('when a mailbox provider reports a complaint, then it is one, unless its kind is none', async () => {
    const kinds = async (report: Buffer) =>
      (await parseReport(report))?.recipients.map(({ addresses, outcome }) => [addresses, outcome.kind]);
    expect(await kinds(complaintReport(reported))).toEqual([[[reported.recipient], 'complaint']]);
    expect(await kinds(complaintReport(reported, { isNamed: false }))).toEqual([[['redacted'], 'complaint']]);
    expect(await kinds(complaintReport(reported, { type: 'not-spam' }))).toEqual([[[reported.recipient], 'none']]);
    expect((await parseReport(complaintReport(reported)))?.messages).toContain(names[1]);
  });
});

describe('hostile mails', () => {
  const multipart = (levels: number) =>
    Array.from(
      { length: levels },
      (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`,
    ).join('');
  test.each([
    ['nothing', ''],
    [
      'an ordinary mail',
      'From: ada@example.net\r\nSubject: Re: Invoice\r\n\r\nThank you, <ada@example.net>: will pay.\r\n',
    ],
    ['a reply of an absence', 'Auto-Submitted: auto-replied\r\nSubject: Out of office\r\n\r\nI am away.\r\n'],
    ['parts in each other', multipart(10_000)],
    ['many parts', `Content-Type: multipart/report; boundary=b\r\n\r\n${'--b\r\n\r\n'.repeat(100_000)}`],
    ['a header that does not end', `X: ${'y'.repeat(4 * 2 ** 20)}`],
    ['many headers', 'X: y\r\n'.repeat(500_000)],
    ['bytes that are no text', Buffer.from(Array.from({ length: 65_536 }, (_, at) => at % 256))],
  ])('when a mail is %s, then it is no report', async (_what, mail) => {
    expect(await parseReport(Buffer.from(mail))).toBeUndefined();
  });

  test('when a report names 50,000 recipients and messages, then only some are read', async () => {
    const fields = 'Final-Recipient: rfc822; a@example.net\nAction: failed\nStatus: 5.1.1\n\n'.repeat(50_000);
    const headers = `References: ${'<a@example.net> '.repeat(5_000)}\n`;
    const read = await parseReport(statusReport({ reported, fields, headers }));
    expect(read?.recipients).toHaveLength(100);
    expect(read?.messages.length).toBeLessThanOrEqual(50);
  });

  test('when words have line ends, control characters and halves of characters, then none is left', () => {
    const { text, code } = returnOf(
      'failed',
      '5.1.1',
      `smtp; 550 x\r\nBcc: all@example.net\u0000\u202e\ud800${'y'.repeat(9_999)}`,
    );
    expect(text).toMatch(/^550 x Bcc: all@example\.net \ufffdy+$/);
    expect([code, text?.length]).toEqual(['550 5.1.1', 2_000]);
  });
});
