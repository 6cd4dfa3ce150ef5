// Delivery reports as servers write them, about a message of ours.

export interface Reported {
  /** The id of the message. */
  id: string;
  recipient: string;
}

const crlf = (text: string) => Buffer.from(text.trimStart().replaceAll(/\r?\n/g, '\r\n'));
const messageId = ({ id }: Reported) => `<${id}@mail.example.com>`;
const returnPath = ({ id }: Reported) => `bounce+${id}@bounces.example.com`;

interface Report {
  reported: Reported;
  /** The fields of the recipient in `message/delivery-status`. */
  fields: string;
  headers?: string;
  /** The part that has the message, with its header. */
  returned?: string;
}

/** A report of RFC 3464 with an explanation for people, the fields and the message. */
export function statusReport({ reported, fields, headers = '', returned }: Report): Buffer {
  return crlf(`
From: MAILER-DAEMON@mx.example.net (Mail Delivery System)
To: ${returnPath(reported)}
Subject: Undelivered Mail Returned to Sender
Auto-Submitted: auto-replied
MIME-Version: 1.0
${headers}Content-Type: multipart/report; report-type=delivery-status;
\tboundary="A1B2.1700000000/mx.example.net"

This is a MIME-encapsulated message.

--A1B2.1700000000/mx.example.net
Content-Description: Notification
Content-Type: text/plain; charset=us-ascii

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

--A1B2.1700000000/mx.example.net
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net
X-Postfix-Queue-ID: A1B2
Arrival-Date: Sat, 28 Nov 2026 10:00:00 +0000 (UTC)

${fields}

--A1B2.1700000000/mx.example.net
${
  returned ??
  `Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers

Return-Path: <${returnPath(reported)}>
From: Studio North <billing@example.com>
To: ${reported.recipient}
Subject: Invoice INV-0042
Message-ID: ${messageId(reported)}`
}

--A1B2.1700000000/mx.example.net--
`);
}

/** The shapes by the server that writes them. All say that the mail came back for good. */
export const returned: Record<string, (reported: Reported) => Buffer> = {
  Postfix: (reported) =>
    statusReport({
      reported,
      fields: `Final-Recipient: rfc822; ${reported.recipient}
Original-Recipient: rfc822;${reported.recipient}
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.example.org
Diagnostic-Code: smtp; 550 5.1.1 <${reported.recipient}>: Recipient address
    rejected: User unknown in virtual mailbox table`,
    }),
  'Exchange Online': (reported) =>
    crlf(`
From: Microsoft Outlook <postmaster@example.onmicrosoft.example>
To: <billing@example.com>
Subject: Undeliverable: Invoice INV-0042
In-Reply-To: ${messageId(reported)}
References: ${messageId(reported)}
X-MS-Exchange-Message-Is-Ndr:
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="_000_5f2a_"

--_000_5f2a_
Content-Type: multipart/alternative; differences=Content-Type;
\tboundary="_001_5f2a_"

--_001_5f2a_
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message to ${reported.recipient} couldn't be delivered.

--_001_5f2a_
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: base64

${Buffer.from('<html><body><p>Your message could not be delivered.</p></body></html>').toString('base64')}

--_001_5f2a_--

--_000_5f2a_
Content-Type: message/delivery-status

Reporting-MTA: dns;AM0PR01MB0001.eurprd01.prod.exchangelabs.example
Received-From-MTA: dns;AM0PR02MB0002.eurprd02.prod.exchangelabs.example
Arrival-Date: Sat, 28 Nov 2026 10:00:00 +0000

Final-Recipient: rfc822;${reported.recipient}
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup
X-Display-Name: Ada

--_000_5f2a_
Content-Type: message/rfc822

From: Studio North <billing@example.com>
To: ${reported.recipient}
Message-ID: ${messageId(reported)}
Content-Type: text/plain

Hello Ada

--_000_5f2a_--
`),
  'an old Exchange server': (reported) =>
    crlf(`
From: System Administrator <postmaster@example.net>
To: ${returnPath(reported)}
Subject: Undeliverable: Invoice INV-0042
MIME-Version: 1.0
Content-Type: text/plain; charset="iso-8859-1"

Your message

  To:      Ada
  Subject: Invoice INV-0042
  Sent:    Sat, 28 Nov 2026 11:00:00 +0100

did not reach the following recipient(s):

${reported.recipient} on Sat, 28 Nov 2026 11:00:01 +0100
    The recipient name is not recognized
    The MTS-ID of the original message is: c=us;a= ;p=example;l=MX01
    MSEXCH:IMS:EXAMPLE:MX:MX01 0 (000C05A6) 550 5.1.1 Unknown Recipient
`),
  qmail: (reported) =>
    crlf(`
From MAILER-DAEMON Sat Nov 28 10:00:00 2026
Delivered-To: ${returnPath(reported)}
Received: (qmail 4711 invoked for bounce); 28 Nov 2026 10:00:00 -0000
Date: 28 Nov 2026 10:00:00 -0000
From: MAILER-DAEMON@mx.example.net
To: ${returnPath(reported)}
Subject: failure notice

Hi. This is the qmail-send program at mx.example.net.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<${reported.recipient}>:
192.0.2.25 does not like recipient.
Remote host said: 550 5.1.1 No such user here
Giving up on 192.0.2.25.

--- Below this line is a copy of the message.

Return-Path: <${returnPath(reported)}>
Message-ID: ${messageId(reported)}
From: Studio North <billing@example.com>

Hello Ada
`),
  Exim: (reported) =>
    crlf(`
X-Failed-Recipients: ${reported.recipient}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.example.net>
To: ${returnPath(reported)}
Subject: Mail delivery failed: returning message to sender

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${reported.recipient}
    host mx.example.org [192.0.2.25]
    SMTP error from remote mail server after RCPT TO:<${reported.recipient}>:
    550 5.1.1 User unknown

------ This is a copy of the message, including all the headers. ------

Message-ID: ${messageId(reported)}
`),
  Gmail: (reported) =>
    statusReport({
      reported,
      headers: `X-Failed-Recipients: ${reported.recipient}\nIn-Reply-To: ${messageId(reported)}\n`,
      fields: `Final-Recipient: rfc822; ${reported.recipient}
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx.example.org. (192.0.2.25, the server for the domain.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist.
 550 5.1.1 https://mail.example.org/answer - smtp
Last-Attempt-Date: Sat, 28 Nov 2026 02:00:00 -0800 (PST)`,
      returned: `Content-Type: message/rfc822

Message-ID: ${messageId(reported)}
To: ${reported.recipient}

Hello Ada`,
    }),
  'a server for addresses in UTF-8': (reported) =>
    Buffer.from(
      statusReport({
        reported,
        fields: `Original-Recipient: utf-8;${reported.recipient}
Final-Recipient: utf-8; jörg@example.net
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550 5.1.1 kein Postfach für jörg`,
      })
        .toString('utf8')
        .replace(
          'message/delivery-status\r\n',
          'message/global-delivery-status\r\nContent-Transfer-Encoding: 8bit\r\n',
        ),
    ),
};

/** A complaint of RFC 5965. `named` leaves out the recipient's address where the provider does. */
export function complaintReport(reported: Reported, { type = 'abuse', isNamed = true } = {}): Buffer {
  return crlf(`
From: <complaints@mailbox.example.net>
To: <abuse@example.com>
Subject: FW: Invoice INV-0042
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report;
 boundary="part1"

--part1
Content-Type: text/plain; charset="US-ASCII"

This is an email abuse report.

--part1
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <${returnPath(reported)}>
${isNamed ? `Original-Rcpt-To: <${reported.recipient}>\n` : ''}Source-IP: 192.0.2.1

--part1
Content-Type: message/rfc822
Content-Disposition: inline

From: Studio North <billing@example.com>
To: ${isNamed ? reported.recipient : 'redacted'}
Message-ID: ${messageId(reported)}

Hello Ada
--part1--
`);
}
