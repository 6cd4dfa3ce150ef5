// The words of the client's pages in Portuguese.
import { portuguese as answers } from './answers/portuguese.ts';
import type { PageWords } from './page-words.ts';

export const portuguese: PageWords = {
  states: {
    open: 'Em aberto',
    overdue: 'Vencida',
    partly_paid: 'Paga em parte',
    paid: 'Paga',
    cancelled: 'Cancelada',
    written_off: 'Baixada como perda',
    to_accept: 'Em aberto',
    accepted: 'Aceito',
    declined: 'Recusado',
    expired: 'Expirado',
  },
  due: 'Valor em aberto',
  download: 'Baixar PDF',
  movements: 'Pagamentos e créditos',
  payment: 'Pagamento',
  credit: 'Crédito',
  more: 'Apenas os mais recentes são mostrados.',
  back: 'Voltar',
  documents: 'Documentos em aberto',
  nothingOpen: 'Não há nada em aberto no momento.',
  next: 'Próxima',
  previous: 'Anterior',
  preview: 'Pré-visualização: esta visita não é contada.',
  expired: {
    title: 'Este link expirou',
    text: 'Para sua segurança, os links são válidos por tempo limitado. Um novo link será enviado ao endereço que recebeu este.',
    button: 'Enviar-me um novo link',
  },
  done: {
    renewed: 'Um novo link está a caminho. Verifique seu e-mail em alguns minutos.',
    accepted: 'Obrigado. Aceitou o orçamento.',
    declined: 'Recusou o orçamento.',
    promised: 'Obrigado. Registámos o dia.',
    asked: 'A sua pergunta foi enviada.',
  },
  problems: {
    notOffered: 'Isto já não é possível. A página mostra o estado atual.',
    expiredForm: 'A página estava desatualizada e nada foi alterado. Tente novamente.',
    unavailable: 'Isto não é possível no momento. Tente novamente em alguns minutos.',
  },
  answers,
  questions: (email) => `Dúvidas? Escreva para ${email}.`,
};
