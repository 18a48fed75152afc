import { type RawSearch, textParam } from '../../parts/navigation/search-params.ts';

/** Query parameters of the page of connections. */
export interface ConnectionsSearch {
  /** The error code of a connection that was refused when the browser came back. */
  refused?: string | undefined;
}

export const readConnectionsSearch = (search: RawSearch): ConnectionsSearch => ({
  refused: textParam(search, 'refused'),
});
