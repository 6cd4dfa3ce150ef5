// The words of mails in Arabic.
import type { MailTexts } from './mail-texts.ts';

export const arabic: MailTexts = {
  invoice: {
    subject: 'الفاتورة {number} من {sender}',
    body: [
      'مرحبًا {client_name}،',
      'تجدون مرفقًا الفاتورة **{number}** بتاريخ {date} بقيمة **{total}**. المبلغ المستحق {amount_due} واجب الدفع في {due_date}.',
      'شكرًا لكم مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'أصدرنا الفاتورة **{number}** بتاريخ {date} بقيمة **{total}**. المبلغ المستحق {amount_due} واجب الدفع في {due_date}.',
  },
  quote: {
    subject: 'عرض السعر {number} من {sender}',
    body: [
      'مرحبًا {client_name}،',
      'تجدون مرفقًا عرض السعر **{number}** بقيمة **{total}**. العرض صالح حتى {valid_until}.',
      'نتطلع إلى ردكم، مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'أعددنا لكم عرض السعر **{number}** بقيمة **{total}**. العرض صالح حتى {valid_until}.',
  },
  reminder_1: {
    subject: 'تذكير: الفاتورة {number}',
    body: [
      'مرحبًا {client_name}،',
      'نود تذكيركم بالفاتورة **{number}** بتاريخ {date}: المبلغ **{amount_due}** يستحق الدفع في {due_date}.',
      'إذا كنتم قد سددتم المبلغ، فيرجى تجاهل هذه الرسالة. مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'الفاتورة {number} مستحقة الدفع',
    body: [
      'مرحبًا {client_name}،',
      'استحقت الفاتورة **{number}** بتاريخ {date} في {due_date}، ولا يزال المبلغ **{amount_due}** غير مدفوع. نرجو السداد خلال الأيام القادمة.',
      'إذا كنتم قد سددتم المبلغ، فيرجى تجاهل هذه الرسالة. مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'التذكير الثاني: الفاتورة {number}',
    body: [
      'مرحبًا {client_name}،',
      'لم يصلنا بعد المبلغ **{amount_due}** عن الفاتورة **{number}** المستحقة في {due_date}. نرجو السداد الآن، أو إعلامنا إذا كان هناك أمر غير واضح.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'التذكير الثالث: الفاتورة {number}',
    body: [
      'مرحبًا {client_name}،',
      'رغم تذكيراتنا، لا يزال المبلغ **{amount_due}** عن الفاتورة **{number}** المستحقة في {due_date} غير مدفوع. نرجو السداد خلال سبعة أيام.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'التذكير الأخير: الفاتورة {number}',
    body: [
      'مرحبًا {client_name}،',
      'هذا تذكيرنا الأخير بالفاتورة **{number}** المستحقة في {due_date}. لا يزال المبلغ **{amount_due}** غير مدفوع. نرجو السداد الآن حتى لا تكون هناك حاجة إلى إجراءات أخرى.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'شكرًا لكم على الدفع، {number}',
    body: [
      'مرحبًا {client_name}،',
      'شكرًا لكم على دفع مبلغ **{total}** بتاريخ {date}. تجدون الإيصال **{number}** مرفقًا.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'شكرًا لكم على دفع مبلغ **{total}** بتاريخ {date}. رقم الإيصال هو **{number}**.',
  },
  credit_note: {
    subject: 'إشعار دائن {number} من {sender}',
    body: [
      'مرحبًا {client_name}،',
      'تجدون مرفقًا الإشعار الدائن **{number}** بقيمة **{total}** عن الفاتورة {invoice_number}.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'أصدرنا الإشعار الدائن **{number}** بقيمة **{total}** عن الفاتورة {invoice_number}.',
  },
  link: {
    subject: 'رابطكم إلى {number}',
    body: ['مرحبًا {client_name}،', 'هذا رابطكم إلى {number}:', '{link}', 'مع أطيب التحيات\n{sender}'].join('\n\n'),
  },
  answer: {
    subject: 'الرد على سؤالكم بشأن {number}',
    body: [
      'مرحبًا {client_name}،',
      'سألتم بشأن {number}:',
      '{question}',
      '**ردّنا:**',
      '{answer}',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'كشف حساب من {sender}: {from} – {to}',
    body: [
      'مرحبًا {client_name}،',
      'تجدون مرفقًا كشف حسابكم من {from} إلى {to}. الرصيد الختامي هو **{balance}**.',
      'مع أطيب التحيات\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'الرصيد الختامي لحسابكم عن الفترة من {from} إلى {to} هو **{balance}**.',
  },
};
