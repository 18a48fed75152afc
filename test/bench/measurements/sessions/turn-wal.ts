import { type Api, createApi } from '../../../support/api.ts';
import { until } from '../../../support/wait.ts';
import { type Bench, percentile, within } from '../../bench.ts';
import { eventsPath } from '../../clients/event-socket.ts';
import { follow } from '../../clients/follower.ts';
import type { BenchDatabase } from '../../subjects/postgres.ts';
import { startSingleProcess } from '../../subjects/subjects.ts';

/** Medians per turn. */
export interface TurnWal {
  unfollowed: TurnCost;
  followed: TurnCost;
}

interface TurnCost {
  walKib: number;
  /** Rows of the journal; each holds the events of one append. */
  rows: number;
}

const TURNS = 8;
const TURN_LIMIT_MS = 60_000;
/** Two messages of 550 characters at 600 characters per second, and one tool call between them. */
const TEXT = { text: 'and then the '.repeat(43).slice(0, 550), chunk_chars: 6, delay_ms: 10 };
const STEPS = [TEXT, { tool: 'calculator', input: { expression: '6 * 7' } }, TEXT];

/** q: what a streamed turn writes, without a follower and with one. */
export async function measureTurnWal(bench: Bench): Promise<TurnWal> {
  await using database = await bench.postgres.createDatabase();
  await using subject = await startSingleProcess(database.url);
  const api = createApi(subject.origin);
  const agent = await api.createAgent({ model: 'rehearsal/script', model_options: { steps: STEPS } });
  const turns = Math.max(1, Math.round(TURNS * bench.scale));
  const measure = async (isFollowed: boolean): Promise<TurnCost> => {
    const costs: TurnCost[] = [];
    // The first turn is a warm-up.
    for (let index = 0; index <= turns; index++) {
      const running = within('a streamed turn', runTurn(api, database, agent, isFollowed), TURN_LIMIT_MS);
      const cost = await Promise.race([subject.failed, running]);
      if (index > 0) costs.push(cost);
    }
    const walKib = percentile(
      costs.map((one) => one.walKib),
      0.5,
    );
    const rows = percentile(
      costs.map((one) => one.rows),
      0.5,
    );
    bench.print('q', `${isFollowed ? 'followed' : 'not followed'}: ${walKib.toFixed(1)} KiB, ${rows} rows`);
    return { walKib, rows };
  };
  return { unfollowed: await measure(false), followed: await measure(true) };
}

/** Runs one turn of a new session. The session is created before the measurement begins. */
async function runTurn(
  api: Api,
  database: BenchDatabase,
  agent: string,
  isFollowed: boolean,
): Promise<TurnCost> {
  const { body } = await api.post(`/agents/${agent}/conversations`);
  const session = String(body.data.session_id);
  const follower = isFollowed ? follow(api.origin + eventsPath(session)) : undefined;
  await follower?.waitFor('event: stream.caught_up');
  const before = await position(database, session);
  await api.post(`/sessions/${session}/messages`, { content: 'tell' });
  await until('the turn has ended', async () => {
    const [ended] = await database.queryRow(
      `select count(*) from sessions.turns where session_id = '${session}' and status = 'completed'`,
    );
    return ended === 1;
  });
  const after = await position(database, session);
  follower?.leave();
  return { walKib: (after.bytes - before.bytes) / 1_024, rows: after.rows - before.rows };
}

/** Returns the position in the WAL, in bytes, and the number of rows in the journal of the session. */
async function position(database: BenchDatabase, session: string): Promise<{ bytes: number; rows: number }> {
  const [bytes = Number.NaN, rows = Number.NaN] = await database.queryRow(
    `select pg_current_wal_insert_lsn() - '0/0', count(*) from sessions.journal where session_id = '${session}'`,
  );
  return { bytes, rows };
}
