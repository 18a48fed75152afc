import type { ReactNode } from 'react';
import { Card } from '../../ui/page.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { useCurl } from '../curl/use-curl.ts';
import { List, type Pages, useNextPage } from './list.tsx';
import { type Column, LongList } from './long-list.tsx';

export interface ListingProps<Item> {
  /** What is listed, in lower case: agents. */
  noun: string;
  list: { query: Pages<Item>; items: Item[] };
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  /** One of them where there is no room for columns. */
  card: (item: Item) => ReactNode;
  /** How it is read without the console. */
  curl: CurlOptions;
  empty: ReactNode;
}

/** A list of any length in each of its states, which says how much there is and reads on by itself. */
export function Listing<Item>({ noun, list, keyOf, columns, card, curl, empty }: ListingProps<Item>) {
  const curlOf = useCurl();
  const { data, hasNextPage } = list.query;
  const onEnd = useNextPage(list.query);
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
