import { GitCompareArrows } from 'lucide-react';
import { useEffect } from 'react';
import type { pagedQuery } from '../../api/pages.ts';
import { EmptyState } from '../../ui/empty-state.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { List, useList, useLoadMore } from '../resources/list.tsx';
import { Compare, type CompareProps, type Version } from './compare.tsx';

export interface VersionHistoryProps<One extends Version> extends Omit<CompareProps<One>, 'versions'> {
  lead: string;
  pages: ReturnType<typeof pagedQuery<One>>;
  /** API path of the versions, below /api/v1. */
  path: string;
}

/** All versions of a resource and the changes between them. */
export function VersionHistory<One extends Version>({
  lead,
  pages,
  path,
  ...compare
}: VersionHistoryProps<One>) {
  const curlOf = useCurl();
  const list = useList(pages);
  const loadMore = useLoadMore(list.query);
  // A link may refer to versions that are not loaded yet.
  const isMissing = [compare.from, compare.to].some(
    (requested) => requested !== undefined && !list.items.some(({ version }) => version === requested),
  );
  useEffect(() => {
    if (isMissing) loadMore();
  }, [isMissing, loadMore]);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">{lead}</p>
        <CopyCurl path={path} about="versions" />
      </div>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={<EmptyState icon={<GitCompareArrows />}>There are no versions.</EmptyState>}
      >
        {(versions) => <Compare versions={versions} {...compare} />}
      </List>
    </>
  );
}
