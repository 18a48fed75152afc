import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isMissing } from '../api/client.ts';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useCurl } from './curl/use-curl.ts';
import { Failure } from './faults/failure.tsx';

export interface OneProps<Data, Key extends QueryKey> {
  options: UseQueryOptions<Data, Error, Data, Key>;
  /** Of the page, until what it shows is there. */
  title: string;
  /** Below /api/v1: where it is read. */
  path: string;
  children: (data: Data) => ReactNode;
}

/** A page about one thing: on its way, failed, or there. One that there is not is left to the router. */
export function One<Data, Key extends QueryKey>({ options, title, path, children }: OneProps<Data, Key>) {
  const { data, error, refetch } = useQuery(options);
  const curlOf = useCurl();
  if (isMissing(error)) throw error;
  if (data !== undefined) return children(data);
  return (
    <Page title={title}>
      {error ? (
        <Failure error={error} onRetry={() => void refetch()} curl={curlOf({ path })} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}
