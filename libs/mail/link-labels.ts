// The words of the link under a mail, in every language of mails.
import type { MailLanguage } from './standard-texts.ts';

export const LINK_LABELS: Readonly<Record<MailLanguage, string>> = {
  ar: 'عرض عبر الإنترنت',
  de: 'Online ansehen',
  en: 'View online',
  es: 'Ver en línea',
  fr: 'Voir en ligne',
  it: 'Visualizza online',
  ja: 'オンラインで見る',
  nl: 'Online bekijken',
  pt: 'Ver online',
};
