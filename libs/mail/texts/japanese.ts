// The words of mails in Japanese.
import type { MailTexts } from './mail-texts.ts';

export const japanese: MailTexts = {
  invoice: {
    subject: '請求書 {number}（{sender}）',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。{date}付の請求書 **{number}**（合計 **{total}**）を添付いたします。お支払期限は {due_date}、お支払額は {amount_due} です。',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'いつもお世話になっております。{date}付の請求書 **{number}**（合計 **{total}**）を発行いたしました。お支払期限は {due_date}、お支払額は {amount_due} です。',
  },
  quote: {
    subject: '見積書 {number}（{sender}）',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。見積書 **{number}**（合計 **{total}**）を添付いたします。有効期限は {valid_until} です。',
      'ご検討のほど、よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'いつもお世話になっております。見積書 **{number}**（合計 **{total}**）を作成いたしました。有効期限は {valid_until} です。',
  },
  reminder_1: {
    subject: 'お支払いのご案内：請求書 {number}',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。{date}付の請求書 **{number}** のお支払期限は {due_date}、お支払額は **{amount_due}** です。',
      'すでにお支払い済みの場合は、本メールをご放念ください。\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: '請求書 {number} のお支払期限について',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。{date}付の請求書 **{number}** は {due_date} がお支払期限でしたが、**{amount_due}** が未払いとなっております。数日以内にお支払いくださいますようお願いいたします。',
      'すでにお支払い済みの場合は、本メールをご放念ください。\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: '再度のお願い：請求書 {number}',
    body: [
      '{client_name} 様',
      'お支払期限 {due_date} の請求書 **{number}** について、**{amount_due}** のご入金がまだ確認できておりません。至急お支払いいただくか、ご不明な点がございましたらお知らせください。',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: '三度目のお願い：請求書 {number}',
    body: [
      '{client_name} 様',
      '再三のご案内にもかかわらず、お支払期限 {due_date} の請求書 **{number}** の **{amount_due}** が未払いとなっております。七日以内にお支払いくださいますようお願いいたします。',
      '{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: '最終のお知らせ：請求書 {number}',
    body: [
      '{client_name} 様',
      'お支払期限 {due_date} の請求書 **{number}** についての最終のお知らせです。**{amount_due}** が未払いとなっております。これ以上の手続きが必要とならないよう、ただちにお支払いください。',
      '{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'お支払いありがとうございました（{number}）',
    body: [
      '{client_name} 様',
      '{date}に **{total}** のお支払いをいただき、誠にありがとうございました。領収書 **{number}** を添付いたします。',
      '今後ともよろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      '{date}に **{total}** のお支払いをいただき、誠にありがとうございました。領収書の番号は **{number}** です。',
  },
  credit_note: {
    subject: 'クレジットノート {number}（{sender}）',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。請求書 {invoice_number} に対するクレジットノート **{number}**（合計 **{total}**）を添付いたします。',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'いつもお世話になっております。請求書 {invoice_number} に対するクレジットノート **{number}**（合計 **{total}**）を発行いたしました。',
  },
  link: {
    subject: '{number} へのリンク',
    body: [
      '{client_name} 様',
      '{number} へのリンクをお送りいたします。',
      '{link}',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
  },
  answer: {
    subject: '{number} に関するご質問への回答',
    body: [
      '{client_name} 様',
      '{number} について、次のご質問をいただきました。',
      '{question}',
      '**回答**',
      '{answer}',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: '取引明細書 {from}～{to}（{sender}）',
    body: [
      '{client_name} 様',
      'いつもお世話になっております。{from}から{to}までの取引明細書を添付いたします。期末残高は **{balance}** です。',
      'よろしくお願いいたします。\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'いつもお世話になっております。{from}から{to}までの期末残高は **{balance}** です。',
  },
};
