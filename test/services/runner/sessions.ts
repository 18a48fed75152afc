import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { guard } from '../../../lib/grpc/guard.ts';
import type { Endpoint } from '../../../lib/grpc/transport.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import {
  type Ask,
  type CallDecision,
  type ClaimedTurn,
  type ClaimTurnsRequest,
  type Event,
  type OpenCall,
  type Outcome,
  type RenewLeasesRequest,
  type ReportSandboxesRequest,
  type ReportTurnsRequest,
  SessionsServiceDefinition,
  type TakeSandboxRequest,
  type TurnReport,
  type Usage,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { decided, followCall } from './calls.ts';

/** What the contract says of turns, kept in memory: a queue, leases with fences, numbered reports. */
export interface TurnBook {
  endpoint: Endpoint;
  /** Queues a turn with its session's messages. */
  queue(turn: QueuedTurn): void;
  /**
   * Queues a turn again, with all that was reported of it: its messages and open calls, and what became of its
   * questions, by tool_use_id.
   */
  again(turnId: string, decisions?: Record<string, Partial<CallDecision>>): void;
  /** Everything reported of a turn under any fence. */
  of(turnId: string): Journal;
  /** The lease goes elsewhere: reports under it are refused from here on. */
  takeAway(turnId: string): void;
  /** Called before each call is carried out; may fail it, or hold it up. */
  before: { [K in 'claim' | 'renew' | 'report' | 'take']?: (request: Requests[K]) => void | Promise<void> };
  /** Called after each call was carried out; may still lose its answer. */
  after: { [K in 'claim' | 'report']?: (request: Requests[K]) => void | Promise<void> };
  claims: ClaimTurnsRequest[];
  renewals: RenewLeasesRequest[];
  reports: ReportTurnsRequest[];
  /** What was taken, and what was said of sandboxes. */
  taken: TakeSandboxRequest[];
  sandboxReports: ReportSandboxesRequest[];
  /** Of each sandbox, what was said last. */
  readonly sandboxes: Record<string, string>;
  /** These are to end; they are not granted any more. */
  readonly ending: Set<string>;
  holds(turnId: string, fence: number): boolean;
  /** Turns that are claimed and not ended. */
  readonly running: number;
  readonly mostRunning: number;
}

interface Requests {
  claim: ClaimTurnsRequest;
  renew: RenewLeasesRequest;
  take: TakeSandboxRequest;
  report: ReportTurnsRequest;
}

export interface QueuedTurn {
  turnId: string;
  messages: Event[];
  agentVersion?: number;
  /** Of another session than its own one. */
  sessionId?: string;
  agentId?: string;
  ownerId?: string;
  attempt?: number;
  usage?: Usage;
  failures?: number;
  openCalls?: OpenCall[];
  /** Read with ListMessages, this many a page. */
  page?: number;
}

export interface Journal {
  events: { type: string; data: Record<string, unknown> }[];
  outcomes: Outcome[];
  /** Tool calls that have no result. */
  openCalls: OpenCall[];
  /** Worth another try, since the turn last got on. */
  failures: number;
  usage: Usage;
  openMessageId: string;
  /** How many reports were appended, and how many were known already. */
  appended: number;
  repeated: number;
}

export const NO_USAGE: Usage = { inputTokens: 0, outputTokens: 0, steps: 0, toolCalls: 0, activeMs: 0 };

const peers = {
  ...Object.fromEntries(Object.keys(SessionsServiceDefinition.methods).map((name) => [name, []])),
  claimTurns: ['runner'],
  renewLeases: ['runner'],
  reportTurns: ['runner'],
  takeSandbox: ['runner'],
  reportSandboxes: ['runner'],
  listMessages: ['runner'],
};

export function createTurnBook(context: ServiceContext, leaseMs = 15_000): TurnBook {
  const queue: QueuedTurn[] = [];
  const journals = new Map<string, Journal>();
  const leases = new Map<string, { fence: number; reportSeq: number }>();
  const newest = new Map<string, QueuedTurn>();
  const begun = new Map<string, Event[]>();
  const asked = new Map<string, Ask>();
  const pages = new Map<string, { events: Event[]; size: number }>();
  let fence = 0;
  let mostRunning = 0;

  function journalOf(turnId: string): Journal {
    const known = journals.get(turnId);
    if (known) return known;
    const fresh: Journal = {
      events: [],
      outcomes: [],
      openCalls: [],
      failures: 0,
      usage: { ...NO_USAGE },
      openMessageId: '',
      appended: 0,
      repeated: 0,
    };
    journals.set(turnId, fresh);
    return fresh;
  }

  function claimed(turn: QueuedTurn): ClaimedTurn {
    const sessionId = turn.sessionId ?? sessionOf(turn.turnId);
    leases.set(turn.turnId, { fence: ++fence, reportSeq: 0 });
    mostRunning = Math.max(mostRunning, leases.size);
    newest.set(turn.turnId, turn);
    if (turn.page) pages.set(sessionId, { events: turn.messages, size: turn.page });
    return {
      turnId: turn.turnId,
      sessionId,
      agentId: turn.agentId ?? 'agt_1',
      agentVersion: turn.agentVersion ?? 1,
      attempt: turn.attempt ?? 1,
      fence,
      ownerId: turn.ownerId ?? 'usr_1',
      traceparent: '',
      usage: turn.usage ?? NO_USAGE,
      messages: turn.page ? turn.messages.slice(0, 1) : turn.messages,
      messagesIncomplete: turn.page !== undefined,
      failures: turn.failures ?? 0,
      openCalls: turn.openCalls ?? [],
    };
  }

  function append(report: TurnReport) {
    const lease = leases.get(report.turnId);
    if (lease?.fence !== report.fence) return { errorCode: 'LEASE_LOST', errorMessage: '' };
    const journal = journalOf(report.turnId);
    if (report.reportSeq <= lease.reportSeq) {
      journal.repeated++;
      return { errorCode: '', errorMessage: '' };
    }
    if (report.reportSeq !== lease.reportSeq + 1)
      throw new Error(`report ${report.reportSeq} came out of order`);
    lease.reportSeq = report.reportSeq;
    journal.appended++;
    for (const { type, dataJson } of report.events) {
      const data = JSON.parse(dataJson);
      journal.events.push({ type, data });
      followCall(journal, report.fence, type, data);
    }
    for (const name of Object.keys(NO_USAGE) as (keyof Usage)[]) {
      journal.usage[name] += report.usage?.[name] ?? 0;
    }
    journal.openMessageId = report.openMessageId;
    if (report.events.some(gotOn)) journal.failures = 0;
    if (report.outcome?.kind?.$case === 'retry') journal.failures++;
    if (report.outcome) {
      journal.outcomes.push(report.outcome);
      if (report.outcome.kind?.$case === 'blocked')
        askAll(journal, report.turnId, report.outcome.kind.value.asks);
      leases.delete(report.turnId);
    }
    return { errorCode: '', errorMessage: '' };
  }

  function askAll(journal: Journal, turnId: string, asks: Ask[]): void {
    if (asks.length === 0) throw new Error('a blocked turn asks nothing');
    for (const ask of asks) {
      const isOpen = journal.openCalls.some(({ toolUseId }) => toolUseId === ask.toolUseId);
      if (!isOpen) throw new Error(`${ask.toolUseId} is asked about and is not open`);
      asked.set(`${turnId} ${ask.toolUseId}`, ask);
    }
  }

  function gotOn({ type }: { type: string }): boolean {
    return type === 'agent.message' || type === 'agent.tool_result';
  }

  function again(turnId: string, decisions: Record<string, Partial<CallDecision>> = {}): void {
    const turn = newest.get(turnId);
    if (!turn) throw new Error(`${turnId} was never claimed`);
    const journal = journalOf(turnId);
    journal.openCalls = journal.openCalls.map((call) =>
      decided(call, asked.get(`${turnId} ${call.toolUseId}`), decisions[call.toolUseId]),
    );
    const told = journal.events.filter(gotOn).map(({ type, data }, index) => {
      const seq = 1_000 + index;
      return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
    });
    queue.push({
      ...turn,
      messages: [...(begun.get(turnId) ?? []), ...told],
      attempt: (turn.attempt ?? 1) + 1,
      usage: { ...journal.usage },
      failures: journal.failures,
      openCalls: structuredClone(journal.openCalls),
    });
  }

  const handlers: Partial<Handlers<SessionsServiceDefinition>> = {
    async claimTurns(request) {
      book.claims.push(request);
      await book.before.claim?.(request);
      const turns = queue.splice(0, request.slots).map(claimed);
      await book.after.claim?.(request);
      return { turns, leaseMs };
    },
    async renewLeases(request) {
      book.renewals.push(request);
      await book.before.renew?.(request);
      const lost = request.leases.filter((lease) => leases.get(lease.turnId)?.fence !== lease.fence);
      return { lostTurnIds: lost.map((lease) => lease.turnId) };
    },
    async reportTurns(request) {
      book.reports.push(request);
      await book.before.report?.(request);
      const results = request.reports.map(append);
      await book.after.report?.(request);
      return { results };
    },
    async takeSandbox(request) {
      await book.before.take?.(request);
      const { lease, sandboxId } = request;
      if (leases.get(lease?.turnId ?? '')?.fence !== lease?.fence) throw refuse('LEASE_LOST', 'it is lost');
      book.taken.push(request);
      return { granted: !book.ending.has(sandboxId) };
    },
    async reportSandboxes(request) {
      book.sandboxReports.push(request);
      for (const { sandboxId, status } of request.sandboxes) book.sandboxes[sandboxId] = status;
      const isThere = ({ status }: { status: string }) => status === 'ready' || status === 'suspended';
      const ids = request.sandboxes.filter(isThere).map(({ sandboxId }) => sandboxId);
      const isKnown = (id: string) => book.taken.some(({ sandboxId }) => sandboxId === id);
      return { endSandboxIds: ids.filter((id) => book.ending.has(id) || !isKnown(id)) };
    },
    async listMessages({ sessionId, page }) {
      const kept = pages.get(sessionId);
      if (!kept) throw refuse('SESSION_NOT_FOUND', 'no such session');
      const begin = Number(page?.cursor || 0);
      const end = begin + kept.size;
      const nextCursor = end < kept.events.length ? String(end) : '';
      return { events: kept.events.slice(begin, end), page: { nextCursor } };
    },
  };

  const book: TurnBook = {
    endpoint: guard({
      contract: SessionsServiceDefinition,
      handlers: handlers as Handlers<SessionsServiceDefinition>,
      peers: peers as Record<keyof typeof SessionsServiceDefinition.methods, string[]>,
      secret: context.serviceSecret,
      clock: context.clock,
      observe: context.observe,
    }),
    queue(turn) {
      begun.set(turn.turnId, turn.messages);
      journalOf(turn.turnId).openCalls.push(...structuredClone(turn.openCalls ?? []));
      queue.push(turn);
    },
    again,
    of: journalOf,
    takeAway: (turnId) => void leases.delete(turnId),
    before: {},
    after: {},
    claims: [],
    renewals: [],
    reports: [],
    taken: [],
    sandboxReports: [],
    sandboxes: {},
    ending: new Set(),
    holds: (turnId, fence) => leases.get(turnId)?.fence === fence,
    get running() {
      return leases.size;
    },
    get mostRunning() {
      return mostRunning;
    },
  };
  return book;
}

/** The session of a turn that names none. */
export function sessionOf(turnId: string): string {
  return `ses_${turnId}`;
}

/** An event of a session's messages, as sessions hands it out. */
export function message(
  turnId: string,
  seq: number,
  type: 'user.message' | 'agent.message',
  said: string | object[],
): Event {
  const content = typeof said === 'string' ? [{ type: 'text', text: said }] : said;
  const data =
    type === 'user.message'
      ? { content }
      : { content, message_id: 'msg_0', model: 'm', finish_reason: 'stop' };
  return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
}

export function asked(turnId: string, text: string): QueuedTurn {
  return { turnId, messages: [message(turnId, 1, 'user.message', text)] };
}
