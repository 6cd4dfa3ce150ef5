// Input of timers.

import Joi from 'joi';
import { moment, name, text, uuid } from '#libs/input/kinds.ts';
import { withStatuses } from '#libs/models/status-filter.ts';
import type { Id } from '#libs/models/tenant.ts';
import {
  ownerKey,
  TIMER_STATUSES,
  Timer,
  type TimerRecord,
  type TimerStatus,
  timerListing,
} from '#libs/models/time/timer.ts';
import { exampleId } from '#libs/responses/example-ids.ts';
import { memberInput } from '../fields/billing-input.ts';
import { byMember } from '../fields/time-input.ts';
import { type Asked, byId, type Condition, listOf, oneByOne } from '../http/list.ts';

const OWNER_LONGEST = 200;

export interface TimerBody {
  project_id: Id;
  task_id?: Id | null;
  description?: string | null;
  member?: string | null;
  owner?: string;
  started_at?: Date;
  on_running: 'stop' | 'refuse';
}

export interface TimerChangesBody {
  project_id?: Id;
  task_id?: Id | null;
  description?: string | null;
  member?: string | null;
  started_at?: Date | null;
}

export interface TimerStop {
  ended_at?: Date;
}

const description = () => text().allow(null, '').description('Of the time entry that it becomes');
const startedAt = () => moment().description('When the timer is created unless given, and not later');

const member = () =>
  memberInput().allow(null).description('Who does the work: `member` of the time entry that it becomes');

export const newTimer = Joi.object<TimerBody, true>({
  project_id: uuid().required(),
  task_id: uuid().allow(null).description('A task of the project'),
  description: description(),
  member: member(),
  owner: name()
    .max(OWNER_LONGEST)
    .description(
      'Whose time it is, in any form: each owner has one running timer; case, width and invisible characters do not count. The id of the key unless given, or of the first of those that it was rotated from',
    ),
  started_at: startedAt(),
  on_running: Joi.string()
    .valid('stop', 'refuse')
    .default('stop')
    .description(
      'What becomes of a timer of the owner that runs already: it becomes a time entry, or the start is 409',
    ),
}).example({
  project_id: exampleId.projects,
  task_id: exampleId.tasks,
  description: 'Mill, first sheet',
  owner: 'ada',
});

export const timerChanges = Joi.object<TimerChangesBody, true>({
  project_id: uuid(),
  task_id: uuid().allow(null).description('A task of the project; required with another project, unless it has none'),
  description: description(),
  member: member(),
  started_at: startedAt(),
}).example({ description: 'Mill, second sheet' });

export const timerStop = Joi.object<TimerStop, true>({
  ended_at: moment().description(
    'Now unless given, and not later. Required after more hours than a time entry may have (`max_entry_hours`, 24)',
  ),
}).example({});

interface TimerQuery {
  status?: TimerStatus;
  owner?: string;
  project_id?: Id;
}

// Few timers run, and many have stopped: only the former are worth an index of their own beside another filter.
const unlessRunning =
  <Value>(condition: (value: Value) => Condition<TimerRecord>) =>
  (value: Value, { query }: Asked<TimerQuery>) =>
    query.status === 'running' ? oneByOne<TimerRecord>(condition(value)) : condition(value);
const byProject = byId('project_id');

export const timerList = listOf<TimerRecord>(
  Timer,
  timerListing,
  {
    status: {
      input: Joi.string()
        .valid(...TIMER_STATUSES)
        .description('Only timers in this state'),
      where: (status: TimerStatus, { query: { owner, project_id } }: Asked<TimerQuery>) =>
        status === 'stopped' && (owner ?? project_id) !== undefined ? oneByOne({ status }) : withStatuses([status]),
    },
    owner: {
      input: name().max(OWNER_LONGEST).description('Only timers of this owner'),
      where: unlessRunning((owner: string) => ({ owner_key: ownerKey(owner) })),
    },
    member: byMember,
    project_id: { ...byProject, where: unlessRunning(byProject.where) },
  },
  ['status', 'owner', 'project_id'],
);
