import type pg from 'pg';

/** Somebody whom a service works for, as policies of row-level security know them. */
export interface Viewer {
  /** usr_… */
  userId: string;
  /** What else others may have named them by: what stands for their groups. */
  names?: readonly string[];
}

/** Whom a connection carries. One of which that is not sure is not in here. */
const carried = new WeakMap<pg.PoolClient, string>();

/** Policies read `ahs.viewer`, and `ahs.names` as an array. Without them they show nothing. */
const SET = {
  name: 'db.viewer',
  text: `select set_config('ahs.viewer', $1, false), set_config('ahs.names', $2::text[]::text, false)`,
};

/** Makes a connection the viewer's, outside of any transaction: what undoes one would undo this as well. */
export async function carry(client: pg.PoolClient, { userId, names = [] }: Viewer): Promise<void> {
  const whole = [userId, ...names];
  const mark = JSON.stringify(whole);
  if (carried.get(client) === mark) return;
  carried.delete(client);
  await client.query({ ...SET, values: [userId, whole] });
  carried.set(client, mark);
}
