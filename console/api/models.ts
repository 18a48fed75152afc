import { queryOptions } from '@tanstack/react-query';
import { listModels } from '../gen/index.ts';
import { unwrapData } from './client.ts';

/** Models change with releases and restarts, keys with restarts of runners. */
const STALE_MS = 60_000;

/** The query of models. Its key begins with `models`. */
export const models = {
  /** All models with declared limits, and an entry for the other models of each configured endpoint. */
  all: () =>
    queryOptions({
      queryKey: ['models'],
      queryFn: ({ signal }) => unwrapData(listModels({ signal })),
      staleTime: STALE_MS,
    }),
};
