// What a caller gets about projects.
import Joi from 'joi';
import type { projectView } from '#libs/models/time/project.ts';
import {
  embeddedClient,
  exampleClient,
  exampleProject,
  exampleRounding,
  exampleTime,
  id,
  orNull,
  roundingAnswer,
  timestamp,
  words,
} from '../fields/response-fields.ts';

export const projectResponse = Joi.object<ReturnType<typeof projectView>, true>({
  id: id(),
  name: words(),
  status: words().description("One of the account's own statuses, or of the defaults"),
  client: embeddedClient(),
  hourly_rate: orNull(Joi.number()),
  rounding: roundingAnswer(),
  created_at: timestamp(),
  updated_at: timestamp(),
})
  .id('Project')
  .example({
    ...exampleProject,
    status: 'In Progress',
    client: exampleClient,
    hourly_rate: 95,
    rounding: exampleRounding,
    created_at: exampleTime,
    updated_at: exampleTime,
  });
