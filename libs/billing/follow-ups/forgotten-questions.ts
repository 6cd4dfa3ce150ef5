// Questions of clients that wait for an answer.
import { dayIn } from '../../day.ts';
import { Question, type QuestionRecord } from '../../models/answers/question.ts';
import { COUNTED, counted, type Forgotten, type Look } from './forgotten.ts';

export async function unansweredQuestions({ reader, account: { time_zone } }: Look): Promise<Forgotten> {
  const found = await reader.find<QuestionRecord>(
    Question,
    { status: 'open' },
    {
      projection: { created_at: 1 },
      sort: { _id: 1 },
      hint: { account_id: 1, status: 1, _id: 1 },
      ...COUNTED,
    },
  );
  return counted(found, ({ _id, created_at }) => ({ id: _id, day: dayIn(time_zone, created_at) }));
}
