import { rowsOn } from './sql.ts';

/*
 * Whether every session is what its journal says. The journal is read as a stranger would read it, event by event,
 * and what follows from it is compared with the rows that the service keeps beside it.
 */

interface Told {
  seq: number;
  type: string;
  turn_id?: string;
  data: {
    turn_id?: string;
    attempt?: number;
    fence?: number;
    message_id?: string;
    index?: number;
    delta?: string;
    content?: { type: string; text?: string; toolCallId?: string }[];
    tool_use_id?: string;
    approval_id?: string;
    stop_reason?: { type: string };
  };
}

interface SessionRow {
  session_id: string;
  deleted: boolean;
  last_seq: number;
  status: string;
  stop_reason: { type: string } | null;
  current_turn_id: string | null;
  queued_turns: number;
  fence: number;
}

interface TurnRow {
  session_id: string;
  turn_id: string;
  status: string;
  attempt: number;
  fence: number;
  ready: boolean;
  asleep: boolean;
  leased: boolean;
  ended: boolean;
  calls: { toolUseId: string; dispatches: number; approval: { decision: string | null } | null }[] | null;
}

interface ApprovalRow {
  session_id: string;
  approval_id: string;
  turn_id: string;
  status: string;
}

const SESSIONS = `
  select s.session_id, s.deleted_at is not null as deleted, h.last_seq::integer, h.status, h.stop_reason,
    h.current_turn_id, h.queued_turns, h.fence::integer
  from sessions.sessions s join sessions.heads h using (session_id)`;
const JOURNAL = `
  select session_id, first_seq::integer, last_seq::integer, events from sessions.journal
  order by session_id, last_seq`;
const TURNS = `
  select session_id, turn_id, status, attempt, fence::integer, ready, wake_at is not null as asleep,
    lease_until is not null as leased, finished_at is not null as ended, calls
  from sessions.turns order by session_id, position`;
const APPROVALS = 'select session_id, approval_id, turn_id, status from sessions.approvals';

/** One line for each promise that a session breaks; none when all is well. The service should stand still meanwhile. */
export async function brokenInvariants(databaseUrl: string): Promise<string[]> {
  const [sessions, journal, turns, approvals] = await Promise.all([
    rowsOn<SessionRow>(databaseUrl, SESSIONS),
    rowsOn<{ session_id: string; first_seq: number; last_seq: number; events: string }>(databaseUrl, JOURNAL),
    rowsOn<TurnRow>(databaseUrl, TURNS),
    rowsOn<ApprovalRow>(databaseUrl, APPROVALS),
  ]);
  const events = Map.groupBy(journal, (row) => row.session_id);
  const turnsOf = Map.groupBy(turns, (row) => row.session_id);
  const approvalsOf = Map.groupBy(approvals, (row) => row.session_id);
  return sessions.flatMap((session) => {
    const id = session.session_id;
    const told = (events.get(id) ?? []).flatMap((row) => JSON.parse(row.events) as Told[]);
    const found = [
      ...numbering(session, told),
      ...turnFaults(session, told, turnsOf.get(id) ?? []),
      ...messageFaults(told),
      ...toolFaults(told, turnsOf.get(id) ?? []),
      ...approvalFaults(told, turnsOf.get(id) ?? [], approvalsOf.get(id) ?? []),
    ];
    return found.map((fault) => `${id}: ${fault}`);
  });
}

function numbering(session: SessionRow, told: Told[]): string[] {
  const faults: string[] = [];
  if (told.some(({ seq }, index) => seq !== index + 1)) faults.push('its events are not 1..n');
  if (told.length !== session.last_seq) faults.push(`last_seq ${session.last_seq} of ${told.length} events`);
  return faults;
}

const STATUS = /^session\.status_(pending|running|idle|rescheduled|terminated)$/;
const ENDS: Record<string, string> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.interrupted': 'interrupted',
  'turn.cancelled': 'cancelled',
};

function turnFaults(session: SessionRow, told: Told[], rows: TurnRow[]): string[] {
  const faults: string[] = [];
  const state = new Map<string, { status: string; attempt: number; fence: number }>();
  let status = 'idle';
  let stopReason: string | undefined;
  let fence = 0;
  const questions = new Map<string, Set<string>>();
  for (const event of told) {
    const { seq, type, data } = event;
    const named = STATUS.exec(type)?.[1];
    if (named) status = named === 'rescheduled' ? 'rescheduling' : named;
    if (type === 'session.status_idle') stopReason = data.stop_reason?.type;
    const id = data.turn_id ?? '';
    const turn = state.get(id);
    if (type === 'turn.queued') state.set(id, { status: 'queued', attempt: 0, fence: 0 });
    if (type === 'turn.started') {
      if (turn?.status !== 'queued') faults.push(`${seq}: a turn starts that is ${turn?.status}`);
      if ((data.fence ?? 0) <= fence) faults.push(`${seq}: fence ${data.fence} after ${fence}`);
      if (data.attempt !== (turn?.attempt ?? 0) + 1) faults.push(`${seq}: attempt ${data.attempt}`);
      fence = data.fence ?? 0;
      state.set(id, { status: 'in_progress', attempt: data.attempt ?? 0, fence });
    }
    if (type === 'session.status_rescheduled' && turn) turn.status = 'queued';
    if (type === 'turn.blocked' && turn) turn.status = 'blocked';
    const asked = questions.get(event.turn_id ?? '') ?? new Set<string>();
    if (type === 'approval.requested') questions.set(event.turn_id ?? '', asked.add(data.approval_id ?? ''));
    // A turn that waited is in the queue again as soon as nothing is left to decide.
    if (type === 'approval.decided' && asked.delete(data.approval_id ?? '') && asked.size === 0) {
      const waiting = state.get(event.turn_id ?? '');
      if (waiting?.status === 'blocked') waiting.status = 'queued';
    }
    const end = ENDS[type];
    if (!end) continue;
    if (!turn || Object.values(ENDS).includes(turn.status))
      faults.push(`${seq}: ${type} of a turn that is ${turn?.status}`);
    state.set(id, { attempt: turn?.attempt ?? 0, fence: turn?.fence ?? 0, status: end });
  }
  for (const row of rows) {
    const said = state.get(row.turn_id);
    if (said?.status !== row.status) {
      faults.push(`turn ${row.turn_id} is ${row.status}, its journal says ${said?.status}`);
    }
    if (said && said.attempt !== row.attempt) faults.push(`attempt ${row.attempt} of ${said.attempt}`);
    if (row.ended !== Object.values(ENDS).includes(row.status))
      faults.push(`${row.turn_id}: an end without a time`);
    if (row.leased !== (row.status === 'in_progress'))
      faults.push(`${row.turn_id}: a lease while ${row.status}`);
    if (row.ready && row.status !== 'queued') faults.push(`${row.turn_id}: ready while ${row.status}`);
  }
  if (session.deleted) return faults;
  const current = rows.find((row) => row.status === 'in_progress' || row.status === 'blocked');
  const queued = rows.filter((row) => row.status === 'queued');
  if (session.status !== status) faults.push(`status ${session.status}, its journal says ${status}`);
  if ((current?.turn_id ?? null) !== session.current_turn_id)
    faults.push(`current turn ${session.current_turn_id}`);
  if (queued.length !== session.queued_turns)
    faults.push(`${session.queued_turns} queued turns of ${queued.length}`);
  if ((session.status === 'running') !== (current?.status === 'in_progress'))
    faults.push(`${session.status} with a turn ${current?.status}`);
  if (session.status === 'idle' && queued.length > 0) faults.push('idle with a queue');
  if ((session.status === 'pending' || session.status === 'rescheduling') && queued.length === 0)
    faults.push(`${session.status} without a queue`);
  if (session.status === 'idle' && current && session.stop_reason?.type !== 'requires_action')
    faults.push('waits without saying so');
  if (session.status === 'idle' && stopReason !== session.stop_reason?.type)
    faults.push(`stopped by ${session.stop_reason?.type}, its journal says ${stopReason}`);
  const [first] = queued;
  if (first && !current && !first.ready && !first.asleep)
    faults.push(`turn ${first.turn_id} is stuck in the queue`);
  return faults;
}

/** Deltas are a beginning of their message; of a message that has none, its end says that it is discarded. */
function messageFaults(told: Told[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, { text: string; next: number; turn: string }>();
  for (const { seq, type, turn_id: turn = '', data } of told) {
    const id = data.message_id ?? '';
    if (type === 'agent.message_delta') {
      const message = open.get(id) ?? { text: '', next: 0, turn };
      if (data.index !== message.next) faults.push(`${seq}: delta ${data.index} instead of ${message.next}`);
      open.set(id, { text: message.text + data.delta, next: message.next + 1, turn });
    }
    if (type === 'agent.thinking' && !open.has(id)) open.set(id, { text: '', next: 0, turn });
    if (type === 'agent.message') {
      const text = (data.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
      if (!text.startsWith(open.get(id)?.text ?? ''))
        faults.push(`${seq}: a message that its deltas did not say`);
      open.delete(id);
    }
    if (type === 'agent.message_discarded') {
      if (!open.delete(id)) faults.push(`${seq}: nothing to discard`);
    }
    if (type in ENDS) {
      for (const [message, { turn: of }] of open)
        if (of === data.turn_id) faults.push(`${message} was left open`);
    }
  }
  return faults;
}

/** Each use has one result, and nothing is sent to a tool that was not journalled first. */
function toolFaults(told: Told[], rows: TurnRow[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, { dispatches: number; turn: string }>();
  for (const { seq, type, turn_id: turn = '', data } of told) {
    const id = data.tool_use_id ?? '';
    const call = open.get(id);
    if (type === 'agent.tool_use') {
      if (call) faults.push(`${seq}: tool use ${id} again`);
      open.set(id, { dispatches: 0, turn });
    }
    if (type === 'agent.tool_dispatched') {
      if (!call) faults.push(`${seq}: dispatched, but not used`);
      else if (data.attempt !== ++call.dispatches) faults.push(`${seq}: dispatch ${data.attempt}`);
    }
    // A fork has the results of calls without the events that led to them.
    if (type === 'agent.tool_result' && !open.delete(id) && told[1]?.type !== 'session.forked') {
      faults.push(`${seq}: a result of nothing`);
    }
    if (type in ENDS)
      for (const [one, { turn: of }] of open) if (of === data.turn_id) faults.push(`${one} has no result`);
  }
  for (const row of rows) {
    const kept = (row.calls ?? []).map(({ toolUseId, dispatches }) => `${toolUseId} ${dispatches}`).sort();
    const said = [...open].filter(([, { turn }]) => turn === row.turn_id);
    const expected = said.map(([id, { dispatches }]) => `${id} ${dispatches}`).sort();
    if (kept.join() !== expected.join()) faults.push(`open calls ${kept}, its journal says ${expected}`);
  }
  return faults;
}

/** A question is open in all three places, or in none. */
function approvalFaults(told: Told[], turns: TurnRow[], rows: ApprovalRow[]): string[] {
  const open = new Set<string>();
  for (const { type, data } of told) {
    if (type === 'approval.requested') open.add(data.approval_id ?? '');
    if (type === 'approval.decided') open.delete(data.approval_id ?? '');
  }
  const faults: string[] = [];
  for (const { approval_id: id, status, turn_id: turnId } of rows) {
    if ((status === 'pending') !== open.has(id))
      faults.push(`approval ${id} is ${status}, its journal says otherwise`);
    const turn = turns.find((one) => one.turn_id === turnId);
    if (status === 'pending' && turn?.status !== 'blocked')
      faults.push(`approval ${id} waits for a turn that is ${turn?.status}`);
  }
  for (const turn of turns.filter((one) => one.status === 'blocked')) {
    const waits = (turn.calls ?? []).some(({ approval }) => approval && approval.decision === null);
    if (!waits) faults.push(`turn ${turn.turn_id} waits for nothing`);
  }
  return faults;
}
