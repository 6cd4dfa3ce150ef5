// The words of the client's pages in Spanish.
import { spanish as answers } from './answers/spanish.ts';
import type { PageWords } from './page-words.ts';

export const spanish: PageWords = {
  states: {
    open: 'Pendiente',
    overdue: 'Vencida',
    partly_paid: 'Pagada en parte',
    paid: 'Pagada',
    cancelled: 'Anulada',
    written_off: 'Dada de baja',
    to_accept: 'Pendiente',
    accepted: 'Aceptado',
    declined: 'Rechazado',
    expired: 'Caducado',
  },
  due: 'Importe pendiente',
  download: 'Descargar PDF',
  movements: 'Pagos y abonos',
  payment: 'Pago',
  credit: 'Abono',
  more: 'Solo se muestran los más recientes.',
  back: 'Volver',
  documents: 'Documentos pendientes',
  nothingOpen: 'No hay nada pendiente en este momento.',
  next: 'Siguiente',
  previous: 'Anterior',
  preview: 'Vista previa: esta visita no se cuenta.',
  expired: {
    title: 'Este enlace ha caducado',
    text: 'Por su seguridad, los enlaces son válidos por un tiempo limitado. Se enviará uno nuevo a la dirección que recibió este.',
    button: 'Enviarme un nuevo enlace',
  },
  done: {
    renewed: 'Un nuevo enlace está en camino. Consulte su correo en unos minutos.',
    accepted: 'Gracias. Ha aceptado el presupuesto.',
    declined: 'Ha rechazado el presupuesto.',
    promised: 'Gracias. Hemos anotado el día.',
    asked: 'Su pregunta se ha enviado.',
  },
  problems: {
    notOffered: 'Esto ya no es posible. La página muestra el estado actual.',
    expiredForm: 'La página no estaba al día y no se ha cambiado nada. Inténtelo de nuevo.',
    unavailable: 'Esto no es posible en este momento. Inténtelo de nuevo en unos minutos.',
  },
  answers,
  questions: (email) => `¿Preguntas? Escriba a ${email}.`,
};
