import { type ListActsData, listActs, type VerifyActsResponses, verifyActs } from '../gen/index.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

export type ActFilters = Omit<NonNullable<ListActsData['query']>, 'limit' | 'cursor'>;
export type Verification = VerifyActsResponses[200]['data'];

/** Queries of the audit log, for administrators. Query keys begin with `audit`. */
export const audit = {
  list: (filters: ActFilters) => ({
    ...pagedQuery(['audit', 'list', filters], (cursor, signal) =>
      unwrapPage(listActs({ query: { ...filters, cursor }, signal })),
    ),
    // Every read of the audit log adds an entry to it.
    refetchOnWindowFocus: false,
  }),
  /** Verifies the whole log in batches, up to its end or to the first entry that fails verification. */
  async verify(): Promise<Verification> {
    let batch = await unwrapData(verifyActs({ body: {} }));
    while (batch.intact && !batch.complete)
      batch = await unwrapData(verifyActs({ body: { after_seq: batch.verified_seq } }));
    return batch;
  },
};
