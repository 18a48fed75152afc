import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isNotFound } from '../../api/client.ts';
import { Page } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { ErrorState } from '../errors/error-state.tsx';
import { useQueryFailure } from '../errors/use-query-failure.ts';

export interface ResourcePageProps<Data, Key extends QueryKey> {
  options: UseQueryOptions<Data, Error, Data, Key>;
  /** Page title while the resource loads. */
  title: string;
  /** API path of the resource, below /api/v1. */
  path: string;
  children: (data: Data) => ReactNode;
}

/** Page of one resource with its loading and error states. A 404 is thrown to the router. */
export function ResourcePage<Data, Key extends QueryKey>({
  options,
  title,
  path,
  children,
}: ResourcePageProps<Data, Key>) {
  const query = useQuery(options);
  const failure = useQueryFailure(query);
  const curlOf = useCurl();
  if (isNotFound(query.error)) throw query.error;
  if (query.data !== undefined) return children(query.data);
  return (
    <Page title={title}>
      {failure ? <ErrorState {...failure} curl={curlOf({ path })} /> : <Skeleton lines={8} />}
    </Page>
  );
}
