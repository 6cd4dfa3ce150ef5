// Japanese.
import type { Language } from './language.ts';

export const japanese: Language = {
  invoice: {
    heading: '請求書',
    to: '請求先',
    number: '請求書番号',
    date: '発行日',
    until: 'お支払期限',
  },
  quote: {
    heading: '見積書',
    to: 'お見積先',
    number: '見積書番号',
    date: '発行日',
    until: '有効期限',
  },
  from: '発行元',
  poNumber: '注文番号',
  description: '品目',
  qty: '数量',
  rate: '単価',
  amount: '金額',
  subtotal: '小計',
  discount: '値引き',
  tax: (rate) => `消費税（${rate}）`,
  shipping: '送料',
  total: '合計',
  paid: 'お支払済み',
  amountDue: 'ご請求残額',
  // T and thirteen digits is the number of the invoice system; others are not called so.
  taxId: (id) => (/^T\d{13}$/.test(id) ? `登録番号 ${id}` : `税務番号 ${id}`),
  bankDetails: 'お振込先',
  notes: '備考',
  terms: '取引条件',
  acceptedBy: 'ご承認',
  signature: '署名',
  name: '氏名',
  signedOn: '日付',
  marks: { draft: '下書き', paid: '支払済み', cancelled: '取消済み' },
};
