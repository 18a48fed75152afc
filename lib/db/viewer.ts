import type pg from 'pg';

/** The user of a statement, as row-level security policies see them. */
export interface Viewer {
  /** usr_… */
  userId: string;
  /** Further names under which resources are shared with the user, such as their groups. */
  names?: readonly string[];
}

/** The current viewer of each connection. A connection whose viewer is uncertain is absent. */
const currentViewers = new WeakMap<pg.PoolClient, string>();

/** Policies read `ahs.viewer`, and `ahs.names` as an array. Without these settings they show no rows. */
const SET = {
  name: 'db.viewer',
  text: `select set_config('ahs.viewer', $1, false), set_config('ahs.names', $2::text[]::text, false)`,
};

/** Sets the viewer of a connection. Must run outside a transaction, because a rollback would undo it. */
export async function setViewer(client: pg.PoolClient, { userId, names = [] }: Viewer): Promise<void> {
  const whole = [userId, ...names];
  const mark = JSON.stringify(whole);
  if (currentViewers.get(client) === mark) return;
  currentViewers.delete(client);
  await client.query({ ...SET, values: [userId, whole] });
  currentViewers.set(client, mark);
}
