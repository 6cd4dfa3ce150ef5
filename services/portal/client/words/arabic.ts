// The words of the client's pages in Arabic.
import { arabic as answers } from './answers/arabic.ts';
import type { PageWords } from './page-words.ts';

export const arabic: PageWords = {
  states: {
    open: 'مستحقة',
    overdue: 'متأخرة',
    partly_paid: 'مدفوعة جزئيًا',
    paid: 'مدفوعة',
    cancelled: 'ملغاة',
    written_off: 'مشطوبة',
    to_accept: 'بانتظار الرد',
    accepted: 'مقبول',
    declined: 'مرفوض',
    expired: 'منتهي الصلاحية',
  },
  due: 'المبلغ المستحق',
  download: 'تنزيل ملف PDF',
  movements: 'المدفوعات والأرصدة الدائنة',
  payment: 'دفعة',
  credit: 'رصيد دائن',
  more: 'تظهر الأحدث فقط.',
  back: 'رجوع',
  documents: 'المستندات المفتوحة',
  nothingOpen: 'لا يوجد شيء مفتوح حاليًا.',
  next: 'التالي',
  previous: 'السابق',
  preview: 'معاينة: لا تُحتسب هذه الزيارة.',
  expired: {
    title: 'انتهت صلاحية هذا الرابط',
    text: 'حفاظًا على أمانكم، تسري الروابط لمدة محدودة. سيُرسل رابط جديد إلى العنوان الذي استلم هذا الرابط.',
    button: 'أرسلوا لي رابطًا جديدًا',
  },
  done: {
    renewed: 'الرابط الجديد في طريقه إليكم. يُرجى مراجعة بريدكم بعد بضع دقائق.',
    accepted: 'شكرًا لكم. لقد قبلتم عرض السعر.',
    declined: 'لقد رفضتم عرض السعر.',
    promised: 'شكرًا لكم. سجلنا اليوم.',
    asked: 'تم إرسال سؤالكم.',
  },
  problems: {
    notOffered: 'لم يعد ذلك ممكنًا. تعرض الصفحة الحالة الحالية.',
    expiredForm: 'كانت الصفحة قديمة ولم يتغير شيء. يُرجى المحاولة مرة أخرى.',
    unavailable: 'هذا غير ممكن حاليًا. يُرجى المحاولة بعد بضع دقائق.',
  },
  answers,
  questions: (email) => `لديكم أسئلة؟ راسلونا على ${email}.`,
};
