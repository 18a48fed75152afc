import { GitCompareArrows } from 'lucide-react';
import { useEffect } from 'react';
import type { pagesOf } from '../../api/pages.ts';
import { Empty } from '../../ui/empty.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { useCurl } from '../curl/use-curl.ts';
import { List, useList, useNextPage } from '../lists/list.tsx';
import { Compare, type CompareProps, type Version } from './compare.tsx';

export interface VersionsProps<One extends Version> extends Omit<CompareProps<One>, 'versions'> {
  lead: string;
  pages: ReturnType<typeof pagesOf<One>>;
  /** Below /api/v1: where they are read. */
  path: string;
}

/** All versions of something, and what has changed in between. */
export function Versions<One extends Version>({ lead, pages, path, ...compare }: VersionsProps<One>) {
  const curlOf = useCurl();
  const list = useList(pages);
  const readOn = useNextPage(list.query);
  // A link may name versions that are further back than what has been read.
  const isLacking = [compare.from, compare.to].some(
    (wanted) => wanted !== undefined && !list.items.some(({ version }) => version === wanted),
  );
  useEffect(() => {
    if (isLacking) readOn();
  }, [isLacking, readOn]);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">{lead}</p>
        <CopyCurl path={path} about="its versions" />
      </div>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={<Empty icon={<GitCompareArrows />}>There are no versions.</Empty>}
      >
        {(versions) => <Compare versions={versions} {...compare} />}
      </List>
    </>
  );
}
