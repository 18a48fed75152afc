import { queryOptions } from '@tanstack/react-query';
import { getConfiguration } from '../gen/index.ts';
import { unwrapData } from './client.ts';

/** The settings of the process that serves the request. Secrets are reported only as set or not set. */
export const configuration = queryOptions({
  queryKey: ['configuration'],
  queryFn: ({ signal }) => unwrapData(getConfiguration({ signal })),
});
