// The words of a client's answers in Portuguese.
import type { AnswerWords } from './answer-words.ts';

export const portuguese: AnswerWords = {
  accept: {
    title: 'Aceitar este orçamento',
    name: 'O seu nome completo',
    order: 'O seu número de encomenda (opcional)',
    draw: 'Desenhe a sua assinatura (opcional)',
    clear: 'Limpar',
    agree: (quote, total) => `Aceito ${quote} no valor de ${total} e as suas condições.`,
    button: 'Aceitar com obrigação de pagamento',
  },
  decline: {
    title: 'Recusar',
    reason: 'Motivo (opcional)',
    confirm: 'Não quero este orçamento.',
    button: 'Recusar o orçamento',
  },
  promise: { title: 'Diga-nos quando vai pagar', day: 'Vou pagar em', button: 'Confirmar este dia' },
  ask: {
    title: 'Fazer uma pergunta',
    text: 'A sua pergunta',
    line: 'Sobre',
    noLine: 'todo o documento',
    button: 'Enviar a pergunta',
  },
  askForNew: 'Este orçamento expirou. Peça um novo',
  said: {
    accepted: (name, day) => `Aceite por ${name} em ${day}.`,
    changedSince: (day) => `Uma versão anterior deste orçamento foi aceite em ${day}. Desde então, foi alterado.`,
    promised: (day) => `Indicou que vai pagar em ${day}.`,
    questions: 'As suas perguntas',
    waiting: 'Ainda sem resposta.',
    answer: 'Resposta',
  },
  problems: {
    name: 'Escreva o seu nome completo.',
    agree: 'Assinale que concorda.',
    order: 'O número de encomenda tem no máximo 200 caracteres.',
    drawn: 'Não foi possível ler a assinatura. Desenhe-a novamente ou deixe-a em branco.',
    confirm: 'Assinale que não quer o orçamento.',
    reason: 'O motivo tem no máximo 1000 caracteres.',
    changed: 'O orçamento foi alterado entretanto. Leia-o novamente antes de o aceitar.',
    expired: 'O orçamento expirou. Peça um novo.',
    day: (first, last) => `Escolha um dia entre ${first} e ${last}.`,
    promises: 'Já indicou um dia duas vezes. Escreva-nos, por favor.',
    text: 'Escreva uma pergunta com 2000 caracteres no máximo.',
    questions: 'Aguarde as respostas às suas outras perguntas.',
  },
};
