import type { ReactNode } from 'react';
import { Card } from '../../ui/page.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { useCurl } from '../curl/use-curl.ts';
import { List, type PagedQueryResult, useLoadMore } from './list.tsx';
import { type Column, LongList } from './long-list.tsx';

export interface ListingProps<Item> {
  /** Plural noun in lower case: agents. */
  noun: string;
  list: { query: PagedQueryResult<Item>; items: Item[] };
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  /** Renders an item on narrow screens. */
  card: (item: Item) => ReactNode;
  /** API request that returns the list. */
  curl: CurlOptions;
  empty: ReactNode;
}

/** A table of any length that announces its item count and loads more pages while the user scrolls. */
export function Listing<Item>({ noun, list, keyOf, columns, card, curl, empty }: ListingProps<Item>) {
  const curlOf = useCurl();
  const { data, hasNextPage } = list.query;
  const onEnd = useLoadMore(list.query);
  return (
    <>
      <p role="status" className="sr-only">
        {data && countOf(list.items.length, hasNextPage, noun)}
      </p>
      <Card>
        <List list={list} curl={curlOf({ ...curl })} empty={empty}>
          {(items) => (
            <LongList
              label={noun.charAt(0).toUpperCase() + noun.slice(1)}
              items={items}
              keyOf={keyOf}
              columns={columns}
              card={card}
              more={hasNextPage}
              onEnd={onEnd}
            />
          )}
        </List>
      </Card>
    </>
  );
}

function countOf(count: number, hasMore: boolean, noun: string): string {
  if (hasMore) return `${count} or more ${noun}`;
  return `${count} ${count === 1 ? noun.replace(/(?<=x)es$|s$/, '') : noun}`;
}
