import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Page } from '../../ui/page.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { pathWithQuery } from '../curl/curl.ts';
import { Listing, type ListingProps } from './listing.tsx';
import { SearchField } from './search-field.tsx';

export interface CatalogueProps<Item> extends Omit<ListingProps<Item>, 'curl' | 'empty'> {
  title: string;
  lead: string;
  /** Search text from the URL. */
  q: string | undefined;
  onSearch: (q: string | undefined) => void;
  /** API path of the list, below /api/v1. */
  path: string;
  /** Link to create a resource. */
  create: ReactNode;
  /** Link that clears the search. */
  all: ReactNode;
  /** Shown in place of an empty list without a search. */
  none: ReactNode;
}

/** Page with all resources of a kind and a search field. */
export function Catalogue<Item>(props: CatalogueProps<Item>) {
  const { title, lead, q, onSearch, path, create, all, none, ...listing } = props;
  const curl = { path: pathWithQuery(path, { q }) };
  const actions = (
    <>
      <CopyCurl {...curl} />
      {create}
    </>
  );
  const noneFound = (
    <EmptyState icon={<SearchX />} action={all}>
      No matching {listing.noun}.
    </EmptyState>
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
