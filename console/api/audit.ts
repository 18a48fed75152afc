import { type ListActsData, listActs, type VerifyActsResponses, verifyActs } from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

export type ActFilters = Omit<NonNullable<ListActsData['query']>, 'limit' | 'cursor'>;
export type Verification = VerifyActsResponses[200]['data'];

/** What administrators can see of the audit log. Keys begin with `audit`. */
export const audit = {
  list: (filters: ActFilters) => ({
    ...pagesOf(['audit', 'list', filters], (cursor, signal) =>
      askPage(listActs({ query: { ...filters, cursor }, signal })),
    ),
    // Each reading is a line of the log.
    refetchOnWindowFocus: false,
  }),
  /** Verifies all of the log, part after part, up to its end or to the first line that is wrong. */
  async verify(): Promise<Verification> {
    let part = await ask(verifyActs({ body: {} }));
    while (part.intact && !part.complete)
      part = await ask(verifyActs({ body: { after_seq: part.verified_seq } }));
    return part;
  },
};
