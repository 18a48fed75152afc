import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brokenInvariants } from '../support/invariants.ts';
import { countOn, rowsOn } from '../support/sql.ts';

export interface Verdict {
  /** Sessions in the database, including those whose response never arrived. */
  stored: number;
  /** Acknowledged sessions missing in the database. */
  lost: number;
  /** Turns with more than one attempt, which crashes cause. */
  resumed: number;
  /** Violated invariants by session. */
  broken: string[];
}

interface Row {
  session_id: string;
  events: number;
  seqs: number;
  lowest: number;
  highest: number;
  head: number;
  ends: number;
  last_type: string;
  input: string;
  answers: string[];
  turns: number;
  completed: number;
  attempts: number;
}

/** A single statement, because separate counts per status would miss turns that change status between them. */
const UNFINISHED = 'select count(*) from sessions.turns where finished_at is null';

/** Whether all turns have ended. */
export async function isDrained(databaseUrl: string): Promise<boolean> {
  return (await countOn(databaseUrl, UNFINISHED)) === 0;
}

/** One row per session with its journal, head and turns. */
const STATE = `
  with event as (
    select journal.session_id, (one ->> 'seq')::integer as seq, one ->> 'type' as type,
      one -> 'data' -> 'content' -> 0 ->> 'text' as text
    from sessions.journal, json_array_elements(journal.events::json) as one
  ), summary as (
    select session_id, count(*)::integer as events, count(distinct seq)::integer as seqs, min(seq) as lowest, max(seq) as highest,
      count(*) filter (where type in ('turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled'))::integer as ends,
      (array_agg(type order by seq desc))[1] as last_type,
      min(text) filter (where type = 'user.message') as input,
      coalesce(array_agg(text) filter (where type = 'agent.message'), '{}') as answers
    from event group by session_id
  ), turn_summary as (
    select session_id, count(*)::integer as turns, count(*) filter (where status = 'completed')::integer as completed,
      max(attempt) as attempts
    from sessions.turns group by session_id
  )
  select session_id, events, seqs, lowest, highest, last_seq::integer as head, ends, last_type, input, answers, turns, completed, attempts
  from sessions.sessions
    left join sessions.heads using (session_id) left join summary using (session_id) left join turn_summary using (session_id)`;

/**
 * Compares the acknowledgements of the senders with the database. Each session has one message, which the agent must answer
 * with `answerTo(message)`. When that is undefined, only the invariants of the session are checked.
 */
export async function judge(
  databaseUrl: string,
  acknowledged: readonly string[],
  answerTo: (input: string) => string | undefined,
): Promise<Verdict> {
  const rows = await rowsOn<Row>(databaseUrl, STATE);
  const stored = new Set(rows.map((row) => row.session_id));
  return {
    stored: rows.length,
    lost: acknowledged.filter((sessionId) => !stored.has(sessionId)).length,
    resumed: rows.filter((row) => row.attempts > 1).length,
    broken: [
      ...rows.flatMap((row) => {
        const answer = answerTo(row.input);
        return answer === undefined
          ? []
          : faultsOf(row, answer).map((fault) => `${row.session_id}: ${fault}`);
      }),
      ...(await brokenInvariants(databaseUrl)),
    ],
  };
}

function faultsOf(row: Row, answer: string): string[] {
  const checks: [boolean, string][] = [
    [
      row.lowest === 1 && row.events === row.highest && row.seqs === row.events && row.head === row.highest,
      'its events are not 1..n',
    ],
    [row.turns === 1 && row.completed === 1, `${row.completed} of ${row.turns} turns completed`],
    [row.ends === 1, `${row.ends} terminal events of its turn`],
    [row.last_type === 'session.status_idle', `its last event is ${row.last_type}`],
    [
      row.answers?.length === 1 && row.answers[0] === answer,
      `the agent answered ${JSON.stringify(row.answers)}`,
    ],
  ];
  return checks.filter(([holds]) => !holds).map(([, fault]) => fault);
}

/** Returns the URL of the embedded PostgreSQL of a data directory. */
export async function embeddedUrl(dataDir: string): Promise<string> {
  const cluster = join(dataDir, 'postgres/cluster');
  const password = await readFile(join(cluster, 'password'), 'utf8');
  const [, , , port] = (await readFile(join(cluster, 'data/postmaster.pid'), 'utf8')).split('\n');
  return `postgres://service:${password}@127.0.0.1:${port}/postgres`;
}
