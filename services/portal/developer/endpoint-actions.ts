// The forms about endpoints: create, change, enable, disable, ping, rotate the secret, delete.
import type Joi from 'joi';
import { AppError, validationFailed } from '#libs/errors.ts';
import { problemOfJoi } from '#libs/input/joi-problems.ts';
import { validation } from '#libs/input/kinds.ts';
import { PageError } from '#libs/pages/page-error.ts';
import { changeEndpoint, vetEndpointChanges } from '#libs/webhooks/change-endpoint.ts';
import { deleteEndpoint } from '#libs/webhooks/delete-endpoint.ts';
import { newWebhook, type WebhookChanges, webhookChanges } from '#libs/webhooks/endpoint-input.ts';
import { vetEndpointUrl } from '#libs/webhooks/endpoint-url.ts';
import { requireEndpoint } from '#libs/webhooks/own-endpoint.ts';
import { pingEndpoint } from '#libs/webhooks/ping-endpoint.ts';
import { reconcileChange } from '#libs/webhooks/reconcile-change.ts';
import { createEndpoint, latestEndpointId } from '#libs/webhooks/register-endpoint.ts';
import { rotateSecret } from '#libs/webhooks/rotate-secret.ts';
import { ENDPOINTS } from './layout.ts';
import type { Done, Message } from './outcome.ts';
import { endpointPage } from './pages/endpoint.ts';
import type { EndpointFields, FormAgain } from './pages/endpoint-form.ts';
import { endpointsPage } from './pages/endpoints.ts';
import { secretPage } from './pages/secret.ts';
import { problemText } from './problem.ts';
import { change, fieldsOf, idOf, noSuchEndpoint, type Visit } from './visit.ts';

const pathOf = (id: string) => `${ENDPOINTS}/endpoints/${id}`;

export async function createOne(visit: Visit): Promise<Done> {
  const fields = endpointFieldsOf(visit);
  const { seen } = fieldsOf(visit.request);
  return orFormAgain(
    async () => {
      const input = read(newWebhook, inputOf(fields));
      const url = await vetEndpointUrl(input.url, visit.outbound);
      const { endpoint, secret } = await change(visit, 'webhooks:write', async (unit) => {
        // A page that is reloaded sends its form again, which must not add the endpoint again.
        if (seen !== undefined && (await latestEndpointId(unit)) !== seen) throw addedMeanwhile();
        return createEndpoint(unit, { ...input, url }, visit.box);
      });
      return { page: secretPage({ endpointId: String(endpoint._id), url, secret, isNew: true }) };
    },
    (again) => endpointsPage(visit, { fields, ...again }),
  );
}

export async function changeFields(visit: Visit): Promise<Done> {
  const fields = endpointFieldsOf(visit);
  return orFormAgain(
    async () => {
      const changes = await vetEndpointChanges(read(webhookChanges, inputOf(fields)), visit.outbound);
      return changeTo(visit, changes, 'changed');
    },
    (again) => endpointPage(visit, { fields, ...again }),
  );
}

export function enable(visit: Visit): Promise<Done> {
  return changeTo(visit, { enabled: true }, 'enabled');
}

export function disable(visit: Visit): Promise<Done> {
  return changeTo(visit, { enabled: false }, 'disabled');
}

async function changeTo(visit: Visit, changes: WebhookChanges, message: Message): Promise<Done> {
  const id = idOf(visit.request);
  await change(visit, 'webhooks:write', (unit) => changeEndpoint(unit, { id, missing: noSuchEndpoint }, changes));
  if (changes.enabled !== undefined) await reconcileChange(visit.visitor.accountId, id, visit);
  return { to: pathOf(id), message };
}

export async function ping(visit: Visit): Promise<Done> {
  const id = idOf(visit.request);
  await change(visit, 'webhooks:write', (unit) => pingEndpoint(unit, { id, missing: noSuchEndpoint }));
  return { to: pathOf(id), message: 'pinged' };
}

export async function rotate(visit: Visit): Promise<Done> {
  const id = idOf(visit.request);
  const { seen } = fieldsOf(visit.request);
  const { endpoint, secret } = await change(visit, 'webhooks:write', async (unit) => {
    const { updated_at } = await requireEndpoint(unit, { id, missing: noSuchEndpoint });
    // A page that is reloaded sends its form again, which must not replace the secret that it shows.
    if (updated_at.toISOString() !== seen) throw changedMeanwhile();
    return rotateSecret(unit, { id, missing: noSuchEndpoint }, visit.box);
  });
  return { page: secretPage({ endpointId: id, url: endpoint.url, secret, isNew: false }) };
}

export async function deleteOne(visit: Visit): Promise<Done> {
  const id = idOf(visit.request);
  await change(visit, 'webhooks:write', (unit) => deleteEndpoint(unit, { id, missing: noSuchEndpoint }));
  await reconcileChange(visit.visitor.accountId, id, visit);
  return { to: ENDPOINTS, message: 'deleted' };
}

const addedMeanwhile = () =>
  new PageError(
    409,
    'An endpoint was added or deleted since the page was shown, and nothing was done. Look at the list, and send the form again if you need one more.',
  );

const changedMeanwhile = () =>
  new PageError(409, 'The endpoint has changed since the page was shown, and nothing was done. Open it again.');

function endpointFieldsOf({ request }: Visit): EndpointFields {
  const { url = '', events = '', description = '' } = fieldsOf(request);
  return { url, events, description };
}

/** Returns the form in the shape of the API's input. */
function inputOf({ url, events, description }: EndpointFields): object {
  const types = events.split(/[\s,]+/).filter(Boolean);
  return { url: url.trim(), events: types, description: description.trim() };
}

/** @throws AppError 400 with all problems. */
function read<Input>(shape: Joi.ObjectSchema<Input>, given: object): Input {
  const { error, value } = shape.prefs(validation).validate(given);
  if (error) throw validationFailed(error.details.map(problemOfJoi));
  return value as Input;
}

/** Shows the form again with what was typed and what is wrong with it. */
async function orFormAgain(
  work: () => Promise<Done>,
  again: (problem: Omit<FormAgain, 'fields'>) => Promise<Awaited<ReturnType<typeof endpointsPage>>>,
): Promise<Done> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError || error instanceof PageError) || ![400, 409].includes(error.status)) throw error;
    const wrong = error instanceof AppError ? error.problems.map(({ path: [field] }) => String(field)) : [];
    return { page: { ...(await again({ problem: problemText(error), wrong })), status: error.status } };
  }
}
