// Reports mail that waits: no mail service takes it, or the mail server of the installation does not.
import { MESSAGES_COUNTED_MAX, readMailProblems } from '#libs/models/messages/mail-problems.ts';
import { type Finding, finding } from './check-result.ts';

const MINUTE_MS = 60_000;

export async function examineMail(): Promise<Finding[]> {
  const { overdue, refused } = await readMailProblems();
  return [
    finding(
      'Due mail',
      overdue.count === 0
        ? 'none waits'
        : `${counted(overdue.count)}, the oldest for ${Math.round(overdue.oldestMs / MINUTE_MS)} min`,
      overdue.count === 0,
      'Start the mail service, or check that it reaches MongoDB and Redis and that no queue is paused: it takes due mail within seconds. The dashboard lists it under Mail',
    ),
    finding(
      'Mail server',
      refused.count === 0
        ? 'no mail waits for it'
        : `${counted(refused.count)} not taken at least twice: ${refused.answer}`,
      refused.count === 0,
      'Correct SMTP_URL and MAIL_FROM of the mail service, or the mail server: mail is tried again for 48 hours, and then fails. The dashboard lists it under Mail, and retries it',
      'warning',
    ),
  ];
}

function counted(count: number): string {
  return `${count}${count === MESSAGES_COUNTED_MAX ? ' or more' : ''} message(s)`;
}
