// The words of a client's answers in Japanese.
import type { AnswerWords } from './answer-words.ts';

export const japanese: AnswerWords = {
  accept: {
    title: 'この見積を承諾する',
    name: 'お名前（フルネーム）',
    order: '貴社注文番号（任意）',
    draw: '署名を描く（任意）',
    clear: '消去',
    agree: (quote, total) => `${quote}（${total}）とその条件を承諾します。`,
    button: '支払義務を伴い承諾する',
  },
  decline: {
    title: '辞退する',
    reason: '理由（任意）',
    confirm: 'この見積を希望しません。',
    button: '見積を辞退する',
  },
  promise: { title: 'お支払予定日をお知らせください', day: 'お支払予定日', button: 'この日で確定する' },
  ask: {
    title: '質問する',
    text: 'ご質問',
    line: '対象',
    noLine: '文書全体',
    button: '質問を送信する',
  },
  askForNew: 'この見積は有効期限が切れています。新しい見積をご依頼ください',
  said: {
    accepted: (name, day) => `${day}に${name}様が承諾されました。`,
    changedSince: (day) => `${day}に承諾されたのは、この見積の変更前の内容です。その後、見積は変更されています。`,
    promised: (day) => `${day}にお支払いの予定と承っています。`,
    questions: 'ご質問',
    waiting: 'まだ回答がありません。',
    answer: '回答',
  },
  problems: {
    name: 'お名前をフルネームで入力してください。',
    agree: '同意の欄にチェックを入れてください。',
    order: '注文番号は200文字以内で入力してください。',
    drawn: '署名を読み取れませんでした。もう一度描くか、空欄にしてください。',
    confirm: '見積を希望しない旨の欄にチェックを入れてください。',
    reason: '理由は1,000文字以内で入力してください。',
    changed: '見積の内容が変更されました。もう一度ご確認のうえ承諾してください。',
    expired: '見積の有効期限が切れています。新しい見積をご依頼ください。',
    day: (first, last) => `${first}から${last}までの日を選んでください。`,
    promises: 'お支払予定日はすでに2回承っています。直接ご連絡ください。',
    text: 'ご質問は2,000文字以内で入力してください。',
    questions: 'ほかのご質問への回答をお待ちください。',
  },
};
