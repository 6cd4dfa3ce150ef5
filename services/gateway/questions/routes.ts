// Questions of clients over HTTP.
import { answerQuestion, closeQuestion } from '#libs/billing/answers/ask-question.ts';
import { appError } from '#libs/errors.ts';
import { clientsOf } from '#libs/models/accounts/client.ts';
import { Question, questionView } from '#libs/models/answers/question.ts';
import { findOwn } from '#libs/models/records.ts';
import { questionResponse } from '#libs/responses/question.ts';
import type { ListQuery } from '../http/list.ts';
import { updated } from '../http/response.ts';
import { type Context, type Reading, type Route, route, singleRead } from '../http/route.ts';
import { type AnswerBody, answerBody, questionList } from './input.ts';

const path = '/api/v1/questions';
const missing = 'Question not found or access denied';

export const questionRoutes: readonly Route[] = [
  route({
    method: 'get',
    path,
    operation: 'listQuestions',
    scope: 'messages:read',
    query: questionList.query,
    docs: {
      title: 'List questions',
      summary: 'List what clients asked about documents, newest first',
      response: questionResponse,
    },
    handler: listQuestions,
  }),
  singleRead({
    path: `${path}/{id}`,
    operation: 'getQuestion',
    scope: 'messages:read',
    missing: 'Question not found',
    docs: { summary: 'Get a question', response: questionResponse },
    read: readQuestion,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/answer`,
    operation: 'answerQuestion',
    scope: 'messages:write',
    body: answerBody,
    missing,
    rechecksKey: true,
    docs: {
      title: 'Answer a question',
      summary: 'Answer a question: the client reads it on its page, and by mail',
      description:
        'The mail has the words of the mail template `answer`. It goes to those who got the link of the question by mail, else to the ' +
        'client. Without an address, or without mail, the answer is on the page alone, and `message_id` is null. Reminders of the invoice ' +
        'go on.',
      response: questionResponse,
      status: 200,
      conflict: appError('question_not_open', { status: 'answered' }),
    },
    handler: postAnswer,
  }),
  route({
    method: 'post',
    path: `${path}/{id}/close`,
    operation: 'closeQuestion',
    scope: 'messages:write',
    missing,
    docs: {
      title: 'Close a question',
      summary: 'Close a question without an answer: reminders of the invoice go on',
      response: questionResponse,
      status: 200,
      conflict: appError('question_not_open', { status: 'closed' }),
    },
    handler: postClose,
  }),
];

async function listQuestions({ caller, query }: Context<unknown, ListQuery>) {
  return questionList.respond({ caller, query }, async (questions) => {
    const clients = await clientsOf(
      caller.accountId,
      questions.map(({ client_id }) => client_id),
    );
    return questions.map((question) => questionView(question, clients.get(String(question.client_id))));
  });
}

async function readQuestion({ caller, id, session }: Reading) {
  const question = await findOwn(Question, caller.accountId, id, session);
  if (!question) return null;
  const clients = await clientsOf(caller.accountId, [question.client_id], session);
  return questionView(question, clients.get(String(question.client_id)));
}

async function postAnswer({ body, commit, requestId, requireRecord }: Context<AnswerBody>) {
  return commit(async (unit) => {
    const question = await requireRecord(Question, unit.session);
    return updated(await answerQuestion(unit, question, { answer: body.answer, requestId }));
  });
}

async function postClose({ commit, requireRecord }: Context) {
  return commit(async (unit) => updated(await closeQuestion(unit, await requireRecord(Question, unit.session))));
}
