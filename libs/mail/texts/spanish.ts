// The words of mails in Spanish.
import type { MailTexts } from './mail-texts.ts';

export const spanish: MailTexts = {
  invoice: {
    subject: 'Factura {number} de {sender}',
    body: [
      'Hola, {client_name}:',
      'adjuntamos la factura **{number}** del {date} por **{total}**. El importe pendiente de {amount_due} vence el {due_date}.',
      'Gracias y un cordial saludo\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'hemos emitido la factura **{number}** del {date} por **{total}**. El importe pendiente de {amount_due} vence el {due_date}.',
  },
  quote: {
    subject: 'Presupuesto {number} de {sender}',
    body: [
      'Hola, {client_name}:',
      'adjuntamos nuestro presupuesto **{number}** por **{total}**. Es válido hasta el {valid_until}.',
      'Quedamos a la espera de su respuesta. Un cordial saludo\n{sender}',
    ].join('\n\n'),
    withoutFiles:
      'hemos preparado para usted el presupuesto **{number}** por **{total}**. Es válido hasta el {valid_until}.',
  },
  reminder_1: {
    subject: 'Recordatorio: factura {number}',
    body: [
      'Hola, {client_name}:',
      'le recordamos amablemente la factura **{number}** del {date}: **{amount_due}** vencen el {due_date}.',
      'Si ya ha realizado el pago, no tenga en cuenta este mensaje. Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  reminder_2: {
    subject: 'La factura {number} ha vencido',
    body: [
      'Hola, {client_name}:',
      'la factura **{number}** del {date} venció el {due_date} y quedan **{amount_due}** por pagar. Le rogamos que realice el pago en los próximos días.',
      'Si ya ha realizado el pago, no tenga en cuenta este mensaje. Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  reminder_3: {
    subject: 'Segundo recordatorio: factura {number}',
    body: [
      'Hola, {client_name}:',
      'aún no hemos recibido **{amount_due}** de la factura **{number}**, que venció el {due_date}. Le rogamos que la pague ahora o que nos diga si algo no está claro.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  reminder_4: {
    subject: 'Tercer recordatorio: factura {number}',
    body: [
      'Hola, {client_name}:',
      'a pesar de nuestros recordatorios, siguen pendientes **{amount_due}** de la factura **{number}**, que venció el {due_date}. Le rogamos que realice el pago en un plazo de siete días.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  reminder_5: {
    subject: 'Último recordatorio: factura {number}',
    body: [
      'Hola, {client_name}:',
      'este es nuestro último recordatorio de la factura **{number}**, que venció el {due_date}. Siguen pendientes **{amount_due}**. Le rogamos que los pague ahora, para que no sean necesarias otras medidas.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  receipt: {
    subject: 'Gracias por su pago, {number}',
    body: [
      'Hola, {client_name}:',
      'gracias por su pago de **{total}** del {date}. Adjuntamos el recibo **{number}**.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'gracias por su pago de **{total}** del {date}. El recibo tiene el número **{number}**.',
  },
  credit_note: {
    subject: 'Factura rectificativa {number} de {sender}',
    body: [
      'Hola, {client_name}:',
      'adjuntamos la factura rectificativa **{number}** por **{total}** de la factura {invoice_number}.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'hemos emitido la factura rectificativa **{number}** por **{total}** de la factura {invoice_number}.',
  },
  link: {
    subject: 'Su enlace a {number}',
    body: ['Hola, {client_name}:', 'este es su enlace a {number}:', '{link}', 'Un cordial saludo\n{sender}'].join(
      '\n\n',
    ),
  },
  answer: {
    subject: 'Respuesta a su pregunta sobre {number}',
    body: [
      'Hola, {client_name}:',
      'usted preguntó sobre {number}:',
      '{question}',
      '**Nuestra respuesta:**',
      '{answer}',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
  },
  statement: {
    subject: 'Estado de cuenta de {sender}: {from} – {to}',
    body: [
      'Hola, {client_name}:',
      'adjuntamos su estado de cuenta del {from} al {to}. El saldo final es de **{balance}**.',
      'Un cordial saludo\n{sender}',
    ].join('\n\n'),
    withoutFiles: 'su cuenta presenta un saldo final de **{balance}** en el periodo del {from} al {to}.',
  },
};
