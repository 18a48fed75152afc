import { createdAt, SESSIONS_PER_ORDER } from '../../fixtures/fill-metadata.ts';

interface MetadataList {
  /** Varies with the request, so that not every request reads the same rows. */
  queryOf(time: number, sessions: number): string;
  /** Whether no session passes the filter. */
  isEmpty?: boolean;
}

const member = (key: string, value: string | number) => `&metadata[${key}]=${value}`;
const production = member('env', 'production');
const customer = (time: number) => member('customer', (time * 7) % 1_000);
const order = (time: number, sessions: number) =>
  member('order', Math.floor((time * 7_919) % (sessions / SESSIONS_PER_ORDER)));
/** A thirtieth of the sessions, about four days. */
const period = (time: number, sessions: number) => {
  const from = Math.floor((time % 29) * (sessions / 30));
  return `&created_after=${createdAt(from)}&created_before=${createdAt(from + Math.floor(sessions / 30))}`;
};

/** Filters of one and two members, with states and times. */
export const METADATA_LISTS: Readonly<Record<string, MetadataList>> = {
  'rare value': { queryOf: order },
  'medium value': { queryOf: customer },
  'frequent value': { queryOf: () => production },
  'rare and frequent': { queryOf: (time, sessions) => order(time, sessions) + production },
  'medium and frequent': { queryOf: (time) => customer(time) + production },
  'two frequent values': { queryOf: (time) => production + member('team', 1 + (time % 3)) },
  'two values never together': { queryOf: () => member('env', 'staging') + member('team', 0), isEmpty: true },
  'medium, four days': { queryOf: (time, sessions) => customer(time) + period(time, sessions) },
  'frequent, four days': { queryOf: (time, sessions) => production + period(time, sessions) },
  'medium, failed': { queryOf: (time) => `${customer(time)}&state=failed` },
  'frequent, failed': { queryOf: () => `${production}&state=failed` },
  'frequent, completed': { queryOf: () => `${production}&state=completed` },
};
