import { Type } from 'typebox';
import { list } from '../../envelope.ts';
import { route } from '../../route.ts';
import { closed, optional, time } from '../../schemas/common.ts';
import {
  dateOf,
  jitterSeconds,
  newTiming,
  serializeUpcomingTime,
  timingOf,
  UpcomingTimeShape,
} from '../../schemas/deployments/timing.ts';
import { deploymentRef, ONE } from './address.ts';

const LAST_PAGE = { nextCursor: '' };
const DEFAULT_COUNT = 10;

const from = optional(time('Times after this one. Default: now.'));
const count = Type.Integer({
  minimum: 1,
  maximum: 100,
  default: DEFAULT_COUNT,
  description: 'The number of times.',
  examples: [DEFAULT_COUNT],
});

const PreviewBody = closed(
  { ...newTiming, jitter_seconds: optional(jitterSeconds), from, count: optional(count) },
  { title: 'SchedulePreview', description: 'Exactly one of `cron`, `every_seconds` and `at` is required.' },
);

export const scheduleRoutes = [
  route({
    method: 'GET',
    path: `${ONE}/upcoming`,
    access: 'read',
    operationId: 'listUpcomingTimes',
    tag: 'Deployments',
    summary: 'List the next times of a schedule',
    description:
      'Returns the next times, also of a disabled schedule. Fails with NOT_A_SCHEDULE for another type.',
    query: closed({ count: optional(count), from }),
    success: { status: 200, description: 'The next times.', data: UpcomingTimeShape, list: true },
    errors: ['DEPLOYMENT_NOT_FOUND', 'NOT_A_SCHEDULE'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const { times } = await clients.deployments.listUpcoming(
        {
          ...deploymentRef(exchange),
          count: query.count ?? DEFAULT_COUNT,
          from: dateOf(query.from),
        },
        call,
      );
      return list(times.map(serializeUpcomingTime), LAST_PAGE);
    },
  }),

  route({
    method: 'POST',
    path: '/admin/deployments/preview-schedule',
    access: 'read',
    operationId: 'previewSchedule',
    tag: 'Deployments',
    summary: 'Preview a schedule',
    description: 'Returns the next times of a schedule that does not exist. Nothing is created.',
    body: PreviewBody,
    example: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', count: 3 },
    success: { status: 200, description: 'The next times.', data: UpcomingTimeShape, list: true },
    errors: ['INVALID_SCHEDULE'],
    async answer({ body, clients, call }) {
      const { times } = await clients.deployments.previewSchedule(
        {
          timing: timingOf(body),
          jitterSeconds: body.jitter_seconds ?? 0,
          count: body.count ?? DEFAULT_COUNT,
          from: dateOf(body.from),
        },
        call,
      );
      return list(times.map(serializeUpcomingTime), LAST_PAGE);
    },
  }),
];
