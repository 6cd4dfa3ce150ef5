// The words of a client's answers in Spanish.
import type { AnswerWords } from './answer-words.ts';

export const spanish: AnswerWords = {
  accept: {
    title: 'Aceptar este presupuesto',
    name: 'Su nombre completo',
    order: 'Su número de pedido (opcional)',
    draw: 'Dibuje su firma (opcional)',
    clear: 'Borrar',
    agree: (quote, total) => `Acepto ${quote} por ${total} y sus condiciones.`,
    button: 'Aceptar con obligación de pago',
  },
  decline: {
    title: 'Rechazar',
    reason: 'Motivo (opcional)',
    confirm: 'No quiero este presupuesto.',
    button: 'Rechazar el presupuesto',
  },
  promise: { title: 'Díganos cuándo pagará', day: 'Pagaré el', button: 'Confirmar este día' },
  ask: {
    title: 'Hacer una pregunta',
    text: 'Su pregunta',
    line: 'Sobre',
    noLine: 'todo el documento',
    button: 'Enviar la pregunta',
  },
  askForNew: 'Este presupuesto ha caducado. Pida uno nuevo',
  said: {
    accepted: (name, day) => `Aceptado por ${name} el ${day}.`,
    changedSince: (day) =>
      `Una versión anterior de este presupuesto se aceptó el ${day}. Desde entonces se ha modificado.`,
    promised: (day) => `Usted anunció que pagará el ${day}.`,
    questions: 'Sus preguntas',
    waiting: 'Todavía sin respuesta.',
    answer: 'Respuesta',
  },
  problems: {
    name: 'Escriba su nombre completo.',
    agree: 'Marque que está de acuerdo.',
    order: 'El número de pedido tiene como máximo 200 caracteres.',
    drawn: 'No se pudo leer la firma dibujada. Dibújela de nuevo o déjela en blanco.',
    confirm: 'Marque que no quiere el presupuesto.',
    reason: 'El motivo tiene como máximo 1000 caracteres.',
    changed: 'El presupuesto se ha modificado entretanto. Léalo de nuevo antes de aceptarlo.',
    expired: 'El presupuesto ha caducado. Pida uno nuevo.',
    day: (first, last) => `Elija un día entre el ${first} y el ${last}.`,
    promises: 'Ya ha indicado un día dos veces. Escríbanos, por favor.',
    text: 'Escriba una pregunta de 2000 caracteres como máximo.',
    questions: 'Espere las respuestas a sus otras preguntas.',
  },
};
