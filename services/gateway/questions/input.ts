// Input of questions: the filters of their list, and an answer.
import Joi from 'joi';
import { paragraphs, uuid } from '#libs/input/kinds.ts';
import {
  QUESTION_LONGEST,
  QUESTION_STATUSES,
  Question,
  type QuestionRecord,
  questionListing,
} from '#libs/models/answers/question.ts';
import { storedId } from '#libs/models/tenant.ts';
import { byId, listOf } from '../http/list.ts';

export const questionList = listOf<QuestionRecord>(Question, questionListing, {
  status: {
    input: Joi.string()
      .valid(...QUESTION_STATUSES)
      .description('Only questions with this status'),
    where: (status: string) => ({ status }),
  },
  client_id: byId('client_id', 'Only questions of this client'),
  document_id: {
    input: uuid().description('Only questions about this document'),
    where: (id: string) => ({ 'document.id': storedId(id) }),
  },
});

export interface AnswerBody {
  answer: string;
}

export const answerBody = Joi.object<AnswerBody>({
  answer: paragraphs().max(QUESTION_LONGEST).required().description('Plain text; shown on the page, and mailed'),
}).example({ answer: 'Yes, the delivery is part of the price.' });
