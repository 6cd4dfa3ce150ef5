// The words about paying on a page of Stripe, in each language.

interface PayWords {
  title: string;
  /** Beside the box that a person ticks, so that no program that checks links makes a page. */
  tick: string;
  button: string;
  /** The box was not ticked. */
  notTicked: string;
  /** The former page was paid, and its money is not booked yet. */
  paying: string;
}

const WORDS: Readonly<Record<string, PayWords>> = {
  ar: {
    title: 'الدفع عبر الإنترنت',
    tick: 'أريد الدفع الآن عبر Stripe.',
    button: 'المتابعة إلى الدفع',
    notTicked: 'يرجى وضع علامة في المربع أولاً.',
    paying: 'دفعتك قيد المعالجة. يرجى إعادة تحميل الصفحة بعد بضع دقائق.',
  },
  de: {
    title: 'Online bezahlen',
    tick: 'Ich möchte jetzt über Stripe bezahlen.',
    button: 'Weiter zur Zahlung',
    notTicked: 'Bitte setzen Sie zuerst das Häkchen.',
    paying: 'Ihre Zahlung wird verarbeitet. Bitte laden Sie die Seite in einigen Minuten neu.',
  },
  en: {
    title: 'Pay online',
    tick: 'I want to pay now with Stripe.',
    button: 'Continue to payment',
    notTicked: 'Please tick the box first.',
    paying: 'Your payment is being processed. Please reload the page in a few minutes.',
  },
  es: {
    title: 'Pagar en línea',
    tick: 'Quiero pagar ahora con Stripe.',
    button: 'Continuar al pago',
    notTicked: 'Marque primero la casilla.',
    paying: 'Su pago se está procesando. Vuelva a cargar la página en unos minutos.',
  },
  fr: {
    title: 'Payer en ligne',
    tick: 'Je souhaite payer maintenant avec Stripe.',
    button: 'Continuer vers le paiement',
    notTicked: 'Veuillez d’abord cocher la case.',
    paying: 'Votre paiement est en cours de traitement. Veuillez recharger la page dans quelques minutes.',
  },
  it: {
    title: 'Paga online',
    tick: 'Desidero pagare ora con Stripe.',
    button: 'Continua al pagamento',
    notTicked: 'Selezioni prima la casella.',
    paying: 'Il pagamento è in elaborazione. Ricarichi la pagina tra qualche minuto.',
  },
  ja: {
    title: 'オンラインで支払う',
    tick: 'Stripe で今すぐ支払います。',
    button: '支払いへ進む',
    notTicked: '先にチェックを入れてください。',
    paying: 'お支払いを処理しています。数分後にページを再読み込みしてください。',
  },
  nl: {
    title: 'Online betalen',
    tick: 'Ik wil nu via Stripe betalen.',
    button: 'Verder naar de betaling',
    notTicked: 'Vink eerst het vakje aan.',
    paying: 'Uw betaling wordt verwerkt. Laad de pagina over enkele minuten opnieuw.',
  },
  pt: {
    title: 'Pagar online',
    tick: 'Quero pagar agora com a Stripe.',
    button: 'Continuar para o pagamento',
    notTicked: 'Marque primeiro a caixa.',
    paying: 'O seu pagamento está a ser processado. Recarregue a página dentro de alguns minutos.',
  },
};

/** @param language of ISO 639-1, one of those of the pages. */
export function payWords(language: string): PayWords {
  return WORDS[language] ?? (WORDS['en'] as PayWords);
}
