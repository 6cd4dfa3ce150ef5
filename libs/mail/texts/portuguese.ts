// The words of mails in Portuguese.
import type { MailTexts } from './mail-texts.ts';

export const portuguese: MailTexts = {
  invoice: {
    subject: 'Fatura {number} de {sender}',
    body: [
      'Olá, {client_name},',
      'em anexo enviamos a fatura **{number}** de {date}, no valor de **{total}**. O valor em aberto de {amount_due} vence em {due_date}.',
      'Obrigado e atenciosamente\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'emitimos a fatura **{number}** de {date}, no valor de **{total}**. O valor em aberto de {amount_due} vence em {due_date}.',
  },
  quote: {
    subject: 'Orçamento {number} de {sender}',
    body: [
      'Olá, {client_name},',
      'em anexo enviamos o nosso orçamento **{number}**, no valor de **{total}**. É válido até {valid_until}.',
      'Ficamos a aguardar a sua resposta. Atenciosamente\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'fizemos o orçamento **{number}**, no valor de **{total}**. É válido até {valid_until}.',
  },
  reminder_1: {
    subject: 'Lembrete: fatura {number}',
    body: [
      'Olá, {client_name},',
      'lembramos a fatura **{number}** de {date}: **{amount_due}** vencem em {due_date}.',
      'Se já efetuou o pagamento, desconsidere esta mensagem. Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'A fatura {number} venceu',
    body: [
      'Olá, {client_name},',
      'a fatura **{number}** de {date} venceu em {due_date}, e **{amount_due}** continuam em aberto. Pedimos que efetue o pagamento nos próximos dias.',
      'Se já efetuou o pagamento, desconsidere esta mensagem. Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Segundo lembrete: fatura {number}',
    body: [
      'Olá, {client_name},',
      'ainda não recebemos **{amount_due}** da fatura **{number}**, que venceu em {due_date}. Pedimos que a pague agora, ou que nos diga se algo não está claro.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Terceiro lembrete: fatura {number}',
    body: [
      'Olá, {client_name},',
      'apesar dos nossos lembretes, **{amount_due}** da fatura **{number}**, que venceu em {due_date}, continuam em aberto. Pedimos que efetue o pagamento no prazo de sete dias.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Último lembrete: fatura {number}',
    body: [
      'Olá, {client_name},',
      'este é o nosso último lembrete da fatura **{number}**, que venceu em {due_date}. **{amount_due}** continuam em aberto. Pedimos que pague agora, para que não sejam necessárias outras medidas.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Obrigado pelo seu pagamento, {number}',
    body: [
      'Olá, {client_name},',
      'obrigado pelo seu pagamento de **{total}** de {date}. O recibo **{number}** segue em anexo.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'obrigado pelo seu pagamento de **{total}** de {date}. O recibo tem o número **{number}**.',
  },
  credit_note: {
    subject: 'Nota de crédito {number} de {sender}',
    body: [
      'Olá, {client_name},',
      'em anexo enviamos a nota de crédito **{number}**, no valor de **{total}**, relativa à fatura {invoice_number}.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'emitimos a nota de crédito **{number}**, no valor de **{total}**, relativa à fatura {invoice_number}.',
  },
  link: {
    subject: 'O seu link para {number}',
    body: ['Olá, {client_name},', 'este é o seu link para {number}:', '{link}', 'Atenciosamente\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Resposta à sua pergunta sobre {number}',
    body: [
      'Olá, {client_name},',
      'sobre {number}, perguntou:',
      '{question}',
      '**A nossa resposta:**',
      '{answer}',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Extrato de conta de {sender}: {from} – {to}',
    body: [
      'Olá, {client_name},',
      'em anexo enviamos o seu extrato de conta de {from} a {to}. O saldo final é de **{balance}**.',
      'Atenciosamente\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'a sua conta apresenta um saldo final de **{balance}** no período de {from} a {to}.',
  },
};
