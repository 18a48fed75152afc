import { queryOptions } from '@tanstack/react-query';
import {
  type CreateEnvironmentData,
  createEnvironment,
  deleteEnvironment,
  getEnvironment,
  listEnvironments,
  listEnvironmentVersions,
  type UpdateEnvironmentData,
  updateEnvironment,
} from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

const at = (environmentId: string) => ({ path: { environment_id: environmentId } });

/** What administrators can see of environments, and do with them. Keys begin with `environments`. */
export const environments = {
  list: (q?: string) =>
    pagesOf(['environments', 'list', q], (cursor, signal) =>
      askPage(listEnvironments({ query: { q, cursor }, signal })),
    ),
  one: (environmentId: string) =>
    queryOptions({
      queryKey: ['environments', environmentId],
      queryFn: ({ signal }) => ask(getEnvironment({ ...at(environmentId), signal })),
    }),
  versions: (environmentId: string) =>
    pagesOf(['environments', environmentId, 'versions'], (cursor, signal) =>
      askPage(listEnvironmentVersions({ ...at(environmentId), query: { cursor }, signal })),
    ),
  create: (body: CreateEnvironmentData['body'], key: string) =>
    ask(createEnvironment({ body, headers: { 'Idempotency-Key': key } })),
  /** Refused with VERSION_CONFLICT when it is of another version by now. */
  update: (environmentId: string, version: number, body: UpdateEnvironmentData['body']) =>
    ask(updateEnvironment({ ...at(environmentId), body, headers: { 'If-Match': `"${version}"` } })),
  remove: (environmentId: string) => ask(deleteEnvironment(at(environmentId))),
};
