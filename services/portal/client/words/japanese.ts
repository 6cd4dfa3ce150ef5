// The words of the client's pages in Japanese.
import { japanese as answers } from './answers/japanese.ts';
import type { PageWords } from './page-words.ts';

export const japanese: PageWords = {
  states: {
    open: '未払い',
    overdue: '期限超過',
    partly_paid: '一部支払済み',
    paid: '支払済み',
    cancelled: '取消済み',
    written_off: '償却済み',
    to_accept: '回答待ち',
    accepted: '承諾済み',
    declined: '辞退',
    expired: '期限切れ',
  },
  due: 'お支払い残高',
  download: 'PDFをダウンロード',
  movements: 'お支払いと充当',
  payment: 'お支払い',
  credit: 'クレジット充当',
  more: '最新のもののみ表示しています。',
  back: '戻る',
  documents: '未処理の書類',
  nothingOpen: '現在、未処理の書類はありません。',
  next: '次へ',
  previous: '前へ',
  preview: 'プレビュー：この閲覧は数えられません。',
  expired: {
    title: 'このリンクは有効期限が切れています',
    text: '安全のため、リンクには有効期限があります。新しいリンクは、このリンクを受け取ったアドレスに送信されます。',
    button: '新しいリンクを送信する',
  },
  done: {
    renewed: '新しいリンクをお送りします。数分後にメールをご確認ください。',
    accepted: 'ありがとうございます。見積が承諾されました。',
    declined: '見積を辞退されました。',
    promised: 'ありがとうございます。お支払予定日を承りました。',
    asked: 'ご質問を送信しました。',
  },
  problems: {
    notOffered: 'この操作はできなくなりました。ページには現在の状態が表示されています。',
    expiredForm: 'ページが古かったため、変更は行われませんでした。もう一度お試しください。',
    unavailable: '現在この操作はできません。数分後にもう一度お試しください。',
  },
  answers,
  questions: (email) => `ご不明な点は ${email} までお問い合わせください。`,
};
