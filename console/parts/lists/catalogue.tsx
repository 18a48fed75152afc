import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { pathWith } from '../curl/curl.ts';
import { Listing, type ListingProps } from './listing.tsx';
import { SearchField } from './search-field.tsx';

export interface CatalogueProps<Item> extends Omit<ListingProps<Item>, 'curl' | 'empty'> {
  title: string;
  lead: string;
  /** The words that are searched for, from the URL. */
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
  /** Below /api/v1: where they are listed. */
  path: string;
  /** The way to a new one. */
  create: ReactNode;
  /** The way to all of them. */
  all: ReactNode;
  /** Instead of the list when there are none at all. */
  none: ReactNode;
}

/** A page about all things of a kind, to be searched by name. */
export function Catalogue<Item>(props: CatalogueProps<Item>) {
  const { title, lead, q, onSearch, path, create, all, none, ...listing } = props;
  const curl = { path: pathWith(path, { q }) };
  const actions = (
    <>
      <CopyCurl {...curl} />
      {create}
    </>
  );
  const noneFound = (
    <Empty icon={<SearchX />} action={all}>
      None of the {listing.noun} has that in its name.
    </Empty>
  );
  return (
    <Page title={title} lead={lead} wide actions={actions}>
      <search className="mb-3 flex">
        <SearchField label={`Search ${listing.noun}`} value={q} onChange={onSearch} />
      </search>
      <Listing {...listing} curl={curl} empty={q ? noneFound : none} />
    </Page>
  );
}
