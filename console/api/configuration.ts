import { queryOptions } from '@tanstack/react-query';
import { getConfiguration } from '../gen/index.ts';
import { ask } from './client.ts';

/** The settings of the process that answers; of secrets, whether they are set. */
export const configuration = queryOptions({
  queryKey: ['configuration'],
  queryFn: ({ signal }) => ask(getConfiguration({ signal })),
});
