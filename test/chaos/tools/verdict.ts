import { brokenInvariants } from '../../support/invariants.ts';
import { rowsOn } from '../../support/sql.ts';
import type { Counted } from './counter.ts';

export interface Verdict {
  sessions: number;
  /** Calls that reached the tools, and how many of them are of a call that had reached its tool before. */
  calls: number;
  again: number;
  /** Runs of a `once` tool beyond the first that nobody has asked for. */
  silentSecondRuns: number;
  /** Runs that the journal does not know of. */
  unknownRuns: number;
  /** Results that say a tool has run which has not. */
  inventedResults: number;
  /** Sessions that broke a promise, with what is wrong. */
  broken: string[];
}

interface Told {
  type: string;
  data: {
    content?: { text?: string }[];
    tool_use_id?: string;
    approval_id?: string;
    name?: string;
    attempt?: number;
    decision?: string;
    is_error?: boolean;
  };
}

/** Compares, session by session, what the tools have counted with what the journal says. */
export async function judge(databaseUrl: string, counted: readonly Counted[]): Promise<Verdict> {
  const rows = await rowsOn<{ session_id: string; events: string }>(
    databaseUrl,
    'select session_id, events from sessions.journal order by session_id, last_seq',
  );
  const byKey = Map.groupBy(counted, ({ key }) => key);
  const verdict: Verdict = {
    sessions: 0,
    calls: counted.length,
    again: 0,
    silentSecondRuns: 0,
    unknownRuns: 0,
    inventedResults: 0,
    broken: await brokenInvariants(databaseUrl),
  };
  for (const [sessionId, ofSession] of Map.groupBy(rows, (row) => row.session_id)) {
    const told = ofSession.flatMap(({ events }) => JSON.parse(events) as Told[]);
    judgeSession(sessionId, told, byKey, verdict);
  }
  return verdict;
}

function judgeSession(
  sessionId: string,
  told: Told[],
  byKey: ReadonlyMap<string, Counted[]>,
  verdict: Verdict,
): void {
  verdict.sessions++;
  const of = (type: string) => told.filter((event) => event.type === type).map(({ data }) => data);
  const key = of('user.message')[0]?.content?.[0]?.text ?? '';
  const said = of('agent.message')
    .at(-1)
    ?.content?.map(({ text }) => text)
    .join('');
  if (said !== `done ${key}`) verdict.broken.push(`${sessionId}: its last message is ${said}`);
  const ends = told.filter(({ type }) => /^turn\.(completed|failed|interrupted|cancelled)$/.test(type));
  if (ends.length !== 1 || ends[0]?.type !== 'turn.completed') {
    verdict.broken.push(`${sessionId}: it ended with ${ends.map(({ type }) => type)}`);
  }
  const questions = new Map(of('approval.requested').map((data) => [data.approval_id, data]));
  for (const { tool_use_id: id, name } of of('agent.tool_use')) {
    const runs = (byKey.get(key) ?? []).filter(({ toolUseId }) => toolUseId === id);
    const attempts = new Set(runs.map(({ attempt }) => attempt));
    const dispatched = new Set(
      of('agent.tool_dispatched')
        .filter((data) => data.tool_use_id === id)
        .map(({ attempt }) => attempt),
    );
    const retries = of('approval.decided').filter(
      ({ approval_id, decision }) => decision === 'retry' && questions.get(approval_id)?.tool_use_id === id,
    ).length;
    verdict.again += Math.max(0, runs.length - 1);
    verdict.unknownRuns += [...attempts].filter((attempt) => !dispatched.has(attempt)).length;
    // One dispatch is one run, whatever the tool's effect.
    verdict.silentSecondRuns += runs.length - attempts.size;
    if (name !== 'count_again') verdict.silentSecondRuns += Math.max(0, attempts.size - 1 - retries);
    const [result] = of('agent.tool_result').filter((data) => data.tool_use_id === id);
    const marked = of('approval.decided').some(
      ({ approval_id, decision }) =>
        decision === 'mark_done' && questions.get(approval_id)?.tool_use_id === id,
    );
    if (result?.is_error === false && runs.length === 0 && !marked) verdict.inventedResults++;
  }
}
