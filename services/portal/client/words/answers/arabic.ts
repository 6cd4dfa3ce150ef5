// The words of a client's answers in Arabic.
import type { AnswerWords } from './answer-words.ts';

export const arabic: AnswerWords = {
  accept: {
    title: 'قبول عرض السعر',
    name: 'اسمكم الكامل',
    order: 'رقم طلبكم (اختياري)',
    draw: 'ارسموا توقيعكم (اختياري)',
    clear: 'مسح',
    agree: (quote, total) => `أقبل ${quote} بمبلغ ${total} وأوافق على شروطه.`,
    button: 'القبول مع الالتزام بالدفع',
  },
  decline: {
    title: 'رفض',
    reason: 'السبب (اختياري)',
    confirm: 'لا أرغب في عرض السعر هذا.',
    button: 'رفض عرض السعر',
  },
  promise: { title: 'أخبرونا متى ستدفعون', day: 'سأدفع يوم', button: 'تأكيد هذا اليوم' },
  ask: {
    title: 'طرح سؤال',
    text: 'سؤالكم',
    line: 'بشأن',
    noLine: 'المستند كله',
    button: 'إرسال السؤال',
  },
  askForNew: 'انتهت صلاحية عرض السعر. اطلبوا عرضًا جديدًا',
  said: {
    accepted: (name, day) => `قبله ${name} في ${day}.`,
    changedSince: (day) => `تم قبول نسخة سابقة من عرض السعر هذا في ${day}، وقد تم تعديله بعد ذلك.`,
    promised: (day) => `ذكرتم أنكم ستدفعون في ${day}.`,
    questions: 'أسئلتكم',
    waiting: 'لم تتم الإجابة بعد.',
    answer: 'الإجابة',
  },
  problems: {
    name: 'يرجى كتابة اسمكم الكامل.',
    agree: 'يرجى تحديد مربع الموافقة.',
    order: 'لا يزيد رقم الطلب على 200 حرف.',
    drawn: 'تعذرت قراءة التوقيع. يرجى رسمه مرة أخرى أو تركه فارغًا.',
    confirm: 'يرجى تحديد المربع إن كنتم لا ترغبون في العرض.',
    reason: 'لا يزيد السبب على 1000 حرف.',
    changed: 'تم تغيير عرض السعر. يرجى قراءته مرة أخرى قبل قبوله.',
    expired: 'انتهت صلاحية عرض السعر. يرجى طلب عرض جديد.',
    day: (first, last) => `يرجى اختيار يوم من ${first} إلى ${last}.`,
    promises: 'لقد حددتم يومًا مرتين. يرجى مراسلتنا.',
    text: 'يرجى كتابة سؤال لا يزيد على 2000 حرف.',
    questions: 'يرجى انتظار الإجابة عن أسئلتكم الأخرى.',
  },
};
