import { openConnection } from './sql.ts';

/*
 * Checks that the rows of every session, turn, approval and client call agree with its journal. The journal is replayed event by event
 * from the documented meaning of events alone, and the resulting state is compared with the rows.
 */

interface JournalEvent {
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
    kind?: string;
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
  queue_held: boolean;
  outcome: string | null;
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
  calls: CallOfTurn[] | null;
}

interface CallOfTurn {
  toolUseId: string;
  dispatches: number;
  approval: { decision: string | null } | null;
  client?: { eventId: string; isAwaited: boolean };
}

interface ClientCallRow {
  session_id: string;
  event_id: string;
  turn_id: string;
  status: string;
}

interface ApprovalRow {
  session_id: string;
  approval_id: string;
  turn_id: string;
  status: string;
}

const SESSIONS = `
  select s.session_id, s.deleted_at is not null as deleted, h.last_seq::integer, h.status, h.stop_reason,
    h.current_turn_id, h.queued_turns, h.queue_held, h.fence::integer, o.outcome
  from sessions.sessions s join sessions.heads h using (session_id)
    left join sessions.session_outcomes o using (session_id)`;
const JOURNAL = `
  select session_id, first_seq::integer, last_seq::integer, events from sessions.journal
  order by session_id, last_seq`;
const TURNS = `
  select session_id, turn_id, status, attempt, fence::integer, ready, wake_at is not null as asleep,
    lease_until is not null as leased, finished_at is not null as ended, calls
  from sessions.turns order by session_id, position`;
const CLIENT_CALLS = 'select session_id, event_id, turn_id, status from sessions.client_calls';
const APPROVALS = 'select session_id, approval_id, turn_id, status from sessions.approvals';

interface JournalRow {
  session_id: string;
  first_seq: number;
  last_seq: number;
  events: string;
}

/** Returns one line per violated invariant. Reads one snapshot, because the service may change sessions during the check. */
export async function brokenInvariants(databaseUrl: string): Promise<string[]> {
  await using connection = await openConnection(databaseUrl);
  await connection.query('begin isolation level repeatable read, read only');
  const { rows: sessions } = await connection.query<SessionRow>(SESSIONS);
  const { rows: journal } = await connection.query<JournalRow>(JOURNAL);
  const { rows: turns } = await connection.query<TurnRow>(TURNS);
  const { rows: approvals } = await connection.query<ApprovalRow>(APPROVALS);
  const { rows: clientCalls } = await connection.query<ClientCallRow>(CLIENT_CALLS);
  const journals = Map.groupBy(journal, (row) => row.session_id);
  const turnsOf = Map.groupBy(turns, (row) => row.session_id);
  const approvalsOf = Map.groupBy(approvals, (row) => row.session_id);
  const clientCallsOf = Map.groupBy(clientCalls, (row) => row.session_id);
  return sessions.flatMap((session) => {
    const id = session.session_id;
    const journaled = (journals.get(id) ?? []).flatMap((row) => JSON.parse(row.events) as JournalEvent[]);
    const found = [
      ...numbering(session, journaled),
      ...turnFaults(session, journaled, turnsOf.get(id) ?? []),
      ...messageFaults(journaled),
      ...toolFaults(journaled, turnsOf.get(id) ?? []),
      ...approvalFaults(journaled, turnsOf.get(id) ?? [], approvalsOf.get(id) ?? []),
      ...clientCallFaults(turnsOf.get(id) ?? [], clientCallsOf.get(id) ?? []),
    ];
    return found.map((fault) => `${id}: ${fault}`);
  });
}

function numbering(session: SessionRow, events: JournalEvent[]): string[] {
  const faults: string[] = [];
  if (events.some(({ seq }, index) => seq !== index + 1)) faults.push('its events are not 1..n');
  if (events.length !== session.last_seq)
    faults.push(`last_seq ${session.last_seq} of ${events.length} events`);
  return faults;
}

const STATUS = /^session\.status_(pending|running|idle|rescheduled|terminated)$/;
const ENDS: Record<string, string> = {
  'turn.completed': 'completed',
  'turn.failed': 'failed',
  'turn.interrupted': 'interrupted',
  'turn.cancelled': 'cancelled',
};

const OUTCOMES: Record<string, string> = {
  end_turn: 'completed',
  interrupted: 'stopped',
  failed: 'failed',
  retries_exhausted: 'failed',
  refused: 'failed',
  budget_reached: 'limit_reached',
  max_steps_reached: 'limit_reached',
};

function turnFaults(session: SessionRow, events: JournalEvent[], rows: TurnRow[]): string[] {
  const faults: string[] = [];
  const state = new Map<string, { status: string; attempt: number; fence: number }>();
  let status = 'idle';
  let stopReason: string | undefined;
  let fence = 0;
  const waits = new TurnWaits();
  for (const event of events) {
    const { seq, type, data } = event;
    const named = STATUS.exec(type)?.[1];
    if (named) status = named === 'rescheduled' ? 'rescheduling' : named;
    if (type === 'session.status_idle') stopReason = data.stop_reason?.type;
    const id = data.turn_id ?? '';
    const turn = state.get(id);
    if (type === 'turn.queued') state.set(id, { status: 'queued', attempt: 0, fence: 0 });
    if (type === 'turn.started') {
      if (turn?.status !== 'queued') faults.push(`${seq}: a turn with status ${turn?.status} starts`);
      if ((data.fence ?? 0) <= fence) faults.push(`${seq}: fence ${data.fence} after ${fence}`);
      if (data.attempt !== (turn?.attempt ?? 0) + 1) faults.push(`${seq}: attempt ${data.attempt}`);
      fence = data.fence ?? 0;
      state.set(id, { status: 'in_progress', attempt: data.attempt ?? 0, fence });
    }
    if (type === 'session.status_rescheduled' && turn) turn.status = 'queued';
    if (type === 'turn.blocked' && turn) turn.status = 'blocked';
    // A blocked turn returns to the queue when its last approval is decided and its last client call is answered.
    if (waits.endsWith(event)) {
      const waiting = state.get(event.turn_id ?? '');
      if (waiting?.status === 'blocked') waiting.status = 'queued';
    }
    const end = ENDS[type];
    if (!end) continue;
    if (!turn || Object.values(ENDS).includes(turn.status))
      faults.push(`${seq}: ${type} of a turn with status ${turn?.status}`);
    state.set(id, { attempt: turn?.attempt ?? 0, fence: turn?.fence ?? 0, status: end });
  }
  for (const row of rows) {
    const replayed = state.get(row.turn_id);
    if (replayed?.status !== row.status) {
      faults.push(`turn ${row.turn_id} is ${row.status}, expected by its journal: ${replayed?.status}`);
    }
    if (replayed && replayed.attempt !== row.attempt)
      faults.push(`attempt ${row.attempt} of ${replayed.attempt}`);
    if (row.ended !== Object.values(ENDS).includes(row.status))
      faults.push(`${row.turn_id}: an end without a time`);
    if (row.leased !== (row.status === 'in_progress'))
      faults.push(`${row.turn_id}: a lease while ${row.status}`);
    if (row.ready && row.status !== 'queued') faults.push(`${row.turn_id}: ready while ${row.status}`);
  }
  if (session.deleted) return faults;
  const current = rows.find((row) => row.status === 'in_progress' || row.status === 'blocked');
  const queued = rows.filter((row) => row.status === 'queued');
  if (session.status !== status) faults.push(`status ${session.status}, expected by its journal: ${status}`);
  if ((current?.turn_id ?? null) !== session.current_turn_id)
    faults.push(`current turn ${session.current_turn_id}`);
  if (queued.length !== session.queued_turns)
    faults.push(`${session.queued_turns} queued turns of ${queued.length}`);
  if ((session.status === 'running') !== (current?.status === 'in_progress'))
    faults.push(`${session.status} with a turn ${current?.status}`);
  if (session.status === 'idle' && queued.length > 0 && !session.queue_held) faults.push('idle with a queue');
  if (session.queue_held && (session.status !== 'idle' || current || queued.length === 0))
    faults.push(`${session.status} with a held queue of ${queued.length} turns`);
  if (session.queue_held && queued.some(({ ready }) => ready)) faults.push('a held turn is ready');
  const outcome = OUTCOMES[session.stop_reason?.type ?? ''];
  if (session.status === 'idle' && outcome && outcome !== session.outcome)
    faults.push(`listed as ${session.outcome}, expected by its stop reason: ${outcome}`);
  if ((session.status === 'pending' || session.status === 'rescheduling') && queued.length === 0)
    faults.push(`${session.status} without a queue`);
  if (session.status === 'idle' && current && session.stop_reason?.type !== 'requires_action')
    faults.push('waits for an approval without stop reason requires_action');
  if (session.status === 'idle' && stopReason !== session.stop_reason?.type)
    faults.push(`stopped by ${session.stop_reason?.type}, expected by its journal: ${stopReason}`);
  const [first] = queued;
  if (first && !current && !first.ready && !first.asleep && !session.queue_held)
    faults.push(`turn ${first.turn_id} is stuck in the queue`);
  return faults;
}

/** The approvals and client calls that each turn waits for. */
class TurnWaits {
  /** The tool calls of pending approvals, by approval id. */
  readonly #approvals = new Map<string, { turn: string; toolUseId: string }>();
  readonly #calls = new Map<string, { turn: string; isAwaited: boolean }>();

  /** Adds the next event. Returns whether its turn waits no longer because of it. */
  endsWith({ type, turn_id: turn = '', data }: JournalEvent): boolean {
    const { approval_id: approvalId = '', tool_use_id: toolUseId = '' } = data;
    if (type === 'approval.requested') this.#approvals.set(approvalId, { turn, toolUseId });
    if (type === 'agent.tool_use' && data.kind) this.#calls.set(toolUseId, { turn, isAwaited: false });
    if (type === 'turn.blocked') this.#block(turn);
    const isClosed =
      (type === 'approval.decided' && this.#approvals.delete(approvalId)) ||
      (type === 'agent.tool_result' && this.#calls.delete(toolUseId));
    return isClosed && !this.#isWaiting(turn);
  }

  #block(turn: string): void {
    const approving = [...this.#approvals.values()].map(({ toolUseId }) => toolUseId);
    for (const [toolUseId, call] of this.#calls)
      if (call.turn === turn) call.isAwaited = !approving.includes(toolUseId);
  }

  #isWaiting(turn: string): boolean {
    const approves = [...this.#approvals.values()].some((one) => one.turn === turn);
    return approves || [...this.#calls.values()].some((one) => one.turn === turn && one.isAwaited);
  }
}

/** Deltas are a prefix of their message. A message without an end is marked as discarded. */
function messageFaults(events: JournalEvent[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, { text: string; next: number; turn: string }>();
  for (const { seq, type, turn_id: turn = '', data } of events) {
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
        faults.push(`${seq}: a message that does not begin with its deltas`);
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

/** Each tool use has one result, and each dispatch follows its tool use. */
function toolFaults(events: JournalEvent[], rows: TurnRow[]): string[] {
  const faults: string[] = [];
  const open = new Map<string, { dispatches: number; turn: string }>();
  for (const { seq, type, turn_id: turn = '', data } of events) {
    const id = data.tool_use_id ?? '';
    const call = open.get(id);
    if (type === 'agent.tool_use') {
      if (call) faults.push(`${seq}: tool use ${id} again`);
      open.set(id, { dispatches: 0, turn });
    }
    if (type === 'agent.tool_dispatched') {
      if (!call) faults.push(`${seq}: dispatch without a tool use`);
      else if (data.attempt !== ++call.dispatches) faults.push(`${seq}: dispatch ${data.attempt}`);
    }
    // A fork contains tool results without the earlier events of their calls.
    if (type === 'agent.tool_result' && !open.delete(id) && events[1]?.type !== 'session.forked') {
      faults.push(`${seq}: a result without a tool use`);
    }
    if (type in ENDS)
      for (const [one, { turn: of }] of open) if (of === data.turn_id) faults.push(`${one} has no result`);
  }
  for (const row of rows) {
    // The approval of the turn itself is an entry without an id.
    const calls = (row.calls ?? []).filter(({ toolUseId }) => toolUseId !== '');
    const actual = calls.map(({ toolUseId, dispatches }) => `${toolUseId} ${dispatches}`).sort();
    const ofTurn = [...open].filter(([, { turn }]) => turn === row.turn_id);
    const expected = ofTurn.map(([id, { dispatches }]) => `${id} ${dispatches}`).sort();
    if (actual.join() !== expected.join())
      faults.push(`open calls ${actual}, expected by its journal: ${expected}`);
  }
  return faults;
}

/** An approval is pending in journal, turn row and approval row alike. */
function approvalFaults(events: JournalEvent[], turns: TurnRow[], rows: ApprovalRow[]): string[] {
  const open = new Set<string>();
  for (const { type, data } of events) {
    if (type === 'approval.requested') open.add(data.approval_id ?? '');
    if (type === 'approval.decided') open.delete(data.approval_id ?? '');
  }
  const faults: string[] = [];
  for (const { approval_id: id, status, turn_id: turnId } of rows) {
    if ((status === 'pending') !== open.has(id))
      faults.push(`approval ${id} is ${status}, not as in its journal`);
    const turn = turns.find((one) => one.turn_id === turnId);
    if (status === 'pending' && turn?.status !== 'blocked')
      faults.push(`approval ${id} waits for a turn that is ${turn?.status}`);
  }
  for (const turn of turns.filter((one) => one.status === 'blocked')) {
    const waits = (turn.calls ?? []).some(
      ({ approval, client }) => approval?.decision === null || client?.isAwaited,
    );
    if (!waits) faults.push(`turn ${turn.turn_id} is blocked without a pending approval or client call`);
  }
  return faults;
}

/** A client call is pending exactly while its blocked turn waits for it. */
function clientCallFaults(turns: TurnRow[], rows: ClientCallRow[]): string[] {
  const awaited = turns.flatMap(({ status, calls }) =>
    (calls ?? []).flatMap(({ client }) =>
      client?.isAwaited && status === 'blocked' ? [client.eventId] : [],
    ),
  );
  const pending = rows.flatMap(({ event_id: id, status }) => (status === 'pending' ? [id] : []));
  if (awaited.sort().join() === pending.sort().join()) return [];
  return [`client calls ${pending} are pending, but its turns wait for ${awaited}`];
}
