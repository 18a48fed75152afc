import { brokenInvariants } from '../../support/invariants.ts';
import { rowsOn } from '../../support/sql.ts';
import type { CountedCall } from './counter.ts';

export interface ToolRunVerdict {
  sessions: number;
  /** Tool runs, and how many of them repeat an earlier run of the same call. */
  calls: number;
  again: number;
  /** Repeated runs of a `once` tool without a decision of a user. */
  silentSecondRuns: number;
  /** Runs without a dispatch in the journal. */
  unknownRuns: number;
  /** Successful results without a run of the tool. */
  inventedResults: number;
  /** Violated invariants by session. */
  broken: string[];
}

interface JournalEvent {
  type: string;
  data: {
    content?: { text?: string }[];
    tool_use_id?: string;
    approval_id?: string;
    name?: string;
    attempt?: number;
    decision?: string;
    kind?: string;
    is_error?: boolean;
  };
}

/** Compares the counted tool runs of each session with its journal. */
export async function checkToolRuns(
  databaseUrl: string,
  counted: readonly CountedCall[],
): Promise<ToolRunVerdict> {
  const rows = await rowsOn<{ session_id: string; events: string }>(
    databaseUrl,
    'select session_id, events from sessions.journal order by session_id, last_seq',
  );
  const byKey = Map.groupBy(counted, ({ key }) => key);
  const verdict: ToolRunVerdict = {
    sessions: 0,
    calls: counted.length,
    again: 0,
    silentSecondRuns: 0,
    unknownRuns: 0,
    inventedResults: 0,
    broken: await brokenInvariants(databaseUrl),
  };
  for (const [sessionId, ofSession] of Map.groupBy(rows, (row) => row.session_id)) {
    const events = ofSession.flatMap(({ events }) => JSON.parse(events) as JournalEvent[]);
    checkSession(sessionId, events, byKey, verdict);
  }
  return verdict;
}

function checkSession(
  sessionId: string,
  events: JournalEvent[],
  byKey: ReadonlyMap<string, CountedCall[]>,
  verdict: ToolRunVerdict,
): void {
  verdict.sessions++;
  const of = (type: string) => events.filter((event) => event.type === type).map(({ data }) => data);
  const key = of('user.message')[0]?.content?.[0]?.text ?? '';
  const lastMessage = of('agent.message')
    .at(-1)
    ?.content?.map(({ text }) => text)
    .join('');
  if (lastMessage !== `done ${key}`) verdict.broken.push(`${sessionId}: its last message is ${lastMessage}`);
  const ends = events.filter(({ type }) => /^turn\.(completed|failed|interrupted|cancelled)$/.test(type));
  if (ends.length !== 1 || ends[0]?.type !== 'turn.completed') {
    verdict.broken.push(`${sessionId}: it ended with ${ends.map(({ type }) => type)}`);
  }
  const approvals = new Map(of('approval.requested').map((data) => [data.approval_id, data]));
  for (const { tool_use_id: id, name } of of('agent.tool_use')) {
    const runs = (byKey.get(key) ?? []).filter(({ toolUseId }) => toolUseId === id);
    const attempts = new Set(runs.map(({ attempt }) => attempt));
    const dispatched = new Set(
      of('agent.tool_dispatched')
        .filter((data) => data.tool_use_id === id)
        .map(({ attempt }) => attempt),
    );
    const retries = of('approval.decided').filter(
      ({ approval_id, decision }) => decision === 'retry' && isOutcomeUnknown(approvals.get(approval_id), id),
    ).length;
    verdict.again += Math.max(0, runs.length - 1);
    verdict.unknownRuns += [...attempts].filter((attempt) => !dispatched.has(attempt)).length;
    // Each dispatch permits one run.
    verdict.silentSecondRuns += runs.length - attempts.size;
    if (name !== 'count_again') verdict.silentSecondRuns += Math.max(0, attempts.size - 1 - retries);
    const [result] = of('agent.tool_result').filter((data) => data.tool_use_id === id);
    const marked = of('approval.decided').some(
      ({ approval_id, decision }) =>
        decision === 'mark_done' && approvals.get(approval_id)?.tool_use_id === id,
    );
    if (result?.is_error === false && runs.length === 0 && !marked) verdict.inventedResults++;
  }
}

/** A decision about another kind of approval permits no second run. */
function isOutcomeUnknown(
  approval: JournalEvent['data'] | undefined,
  toolUseId: string | undefined,
): boolean {
  return approval?.kind === 'outcome_unknown' && approval.tool_use_id === toolUseId;
}
