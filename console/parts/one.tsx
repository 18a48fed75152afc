import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { isMissing } from '../api/client.ts';
import { Page } from '../ui/page.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { useCurl } from './curl/use-curl.ts';
import { Failure } from './faults/failure.tsx';
import { useFailure } from './faults/use-failure.ts';

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
  const query = useQuery(options);
  const failure = useFailure(query);
  const curlOf = useCurl();
  if (isMissing(query.error)) throw query.error;
  if (query.data !== undefined) return children(query.data);
  return (
    <Page title={title}>
      {failure ? <Failure {...failure} curl={curlOf({ path })} /> : <Skeleton lines={8} />}
    </Page>
  );
}
