import { wait } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
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
  type DeliverMessagesRequest,
  type Event,
  type OpenCall,
  type OpenModelRequest,
  type Outcome,
  type RenewLeasesRequest,
  type ReportSandboxesRequest,
  type ReportTurnsRequest,
  SessionsServiceDefinition,
  type TakeSandboxRequest,
  type TurnReport,
  type Usage,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { addUsage, NO_USAGE } from '../../../services/runner/queue/usage.ts';
import { applyCallEvent, withDecision } from './fake-open-calls.ts';

/** The sessions service in memory: a queue of turns, leases with fences and numbered reports. */
export interface FakeSessions {
  endpoint: Endpoint;
  /** Queues a turn with its session's messages. */
  queue(turn: QueuedTurn): void;
  /**
   * Queues a turn again with its reported messages and open calls, and with decisions about its calls by
   * tool_use_id.
   */
  requeue(turnId: string, decisions?: Record<string, Partial<CallDecision>>): void;
  /** Returns the history of the session of a turn: its messages and what was reported of it, in the order of their seqs. */
  historyOf(turnId: string): Event[];
  /** Returns everything that was reported for a turn, under any fence. */
  journalOf(turnId: string): Journal;
  /** Ends the lease of a turn. Later reports under it are rejected with LEASE_LOST. */
  revokeLease(turnId: string): void;
  /** Lets a message wait for a turn. The runner learns of it from the claim and the answers to its reports and renewals. */
  steer(turnId: string, text: string): void;
  /** Called before each request is handled. May throw or delay it. */
  before: {
    [K in 'claim' | 'renew' | 'report' | 'take' | 'deliver']?: (request: Requests[K]) => void | Promise<void>;
  };
  /** Called after each request was handled. May throw or delay its response. */
  after: { [K in 'claim' | 'report' | 'deliver']?: (request: Requests[K]) => void | Promise<void> };
  claims: ClaimTurnsRequest[];
  /** Claims wait for turns. By default they are answered at once, as by a service of an older release. */
  waits: boolean;
  renewals: RenewLeasesRequest[];
  /** Turns whose sessions have no follower, according to the answers. */
  unfollowed: Set<string>;
  /** Turns whose leases a renewal does not extend. */
  unextended: Set<string>;
  reports: ReportTurnsRequest[];
  deliveries: DeliverMessagesRequest[];
  /** The TakeSandbox requests that held their lease. */
  takeRequests: TakeSandboxRequest[];
  sandboxReports: ReportSandboxesRequest[];
  /** The status of each sandbox in the last report about it, by sandbox id. */
  readonly sandboxes: Record<string, string>;
  /** Ids of sandboxes that must end. TakeSandbox does not grant them. */
  readonly ending: Set<string>;
  /** Returns whether the lease of the turn has this fence. */
  holds(turnId: string, fence: number): boolean;
  /** Number of leased turns. */
  readonly running: number;
  readonly mostRunning: number;
}

interface Requests {
  claim: ClaimTurnsRequest;
  renew: RenewLeasesRequest;
  take: TakeSandboxRequest;
  report: ReportTurnsRequest;
  deliver: DeliverMessagesRequest;
}

export interface QueuedTurn {
  turnId: string;
  messages: Event[];
  agentVersion?: number;
  /** By default, each turn has its own session. */
  sessionId?: string;
  agentId?: string;
  ownerId?: string;
  attempt?: number;
  usage?: Usage;
  failures?: number;
  openCalls?: OpenCall[];
  overridesJson?: string;
  fallbackModel?: string;
  maxFailures?: number;
  compactsUpToSeq?: number;
  /** The page size of ListMessages. When set, the claim contains only the first message. */
  page?: number;
}

export interface Journal {
  events: { type: string; data: Record<string, unknown> }[];
  outcomes: Outcome[];
  /** Tool calls that have no result. */
  openCalls: OpenCall[];
  /** Number of retries since the turn last made progress. */
  failures: number;
  usage: Usage;
  /** The unfinished model request of the newest report. */
  openModelRequest: OpenModelRequest | undefined;
  openMessageId: string;
  /** Number of reports that were appended, and number of repetitions of appended reports. */
  appended: number;
  repeated: number;
}

export { NO_USAGE };

const peers = {
  ...Object.fromEntries(Object.keys(SessionsServiceDefinition.methods).map((name) => [name, []])),
  claimTurns: ['runner'],
  renewLeases: ['runner'],
  reportTurns: ['runner'],
  deliverMessages: ['runner'],
  takeSandbox: ['runner'],
  reportSandboxes: ['runner'],
  listMessages: ['runner'],
};

export function createFakeSessions(context: ServiceContext, leaseMs = 15_000): FakeSessions {
  const queue: QueuedTurn[] = [];
  const journals = new Map<string, Journal>();
  const leases = new Map<string, { fence: number; reportSeq: number }>();
  const latestTurns = new Map<string, QueuedTurn>();
  const initialMessages = new Map<string, Event[]>();
  const requestedAsks = new Map<string, Ask>();
  /** The texts of the messages that wait for each turn. */
  const steering = new Map<string, string[]>();
  /** Digests of the newest `agent.tools_offered` events, by session. */
  const toolsOffered = new Map<string, string>();
  const pages = new Map<string, { events: Event[]; size: number }>();
  /** The turn that was claimed last, by session. */
  const turnOfSession = new Map<string, string>();
  let fence = 0;
  let mostRunning = 0;
  let endWait = () => {};

  function journalOf(turnId: string): Journal {
    const existing = journals.get(turnId);
    if (existing) return existing;
    const created: Journal = {
      events: [],
      outcomes: [],
      openCalls: [],
      failures: 0,
      usage: { ...NO_USAGE },
      openModelRequest: undefined,
      openMessageId: '',
      appended: 0,
      repeated: 0,
    };
    journals.set(turnId, created);
    return created;
  }

  function claim(turn: QueuedTurn): ClaimedTurn {
    const sessionId = turn.sessionId ?? sessionOf(turn.turnId);
    leases.set(turn.turnId, { fence: ++fence, reportSeq: 0 });
    mostRunning = Math.max(mostRunning, leases.size);
    latestTurns.set(turn.turnId, turn);
    turnOfSession.set(sessionId, turn.turnId);
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
      overridesJson: turn.overridesJson,
      fallbackModel: turn.fallbackModel,
      maxFailures: turn.maxFailures,
      compactsUpToSeq: turn.compactsUpToSeq,
      toolsOfferedSha256: toolsOffered.get(sessionId),
      followed: !fake.unfollowed.has(turn.turnId),
      steered: steering.has(turn.turnId),
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
      throw new Error(`report ${report.reportSeq} arrived out of order`);
    lease.reportSeq = report.reportSeq;
    journal.appended++;
    for (const { type, dataJson } of report.events) {
      const data = JSON.parse(dataJson);
      journal.events.push({ type, data });
      if (type === 'agent.tools_offered') toolsOffered.set(report.sessionId, sha256(dataJson));
      applyCallEvent(journal, report.fence, type, data);
    }
    journal.usage = addUsage(journal.usage, report.usage ?? NO_USAGE);
    journal.openModelRequest = report.openModelRequest;
    journal.openMessageId = report.openMessageId;
    if (report.events.some(isProgress)) journal.failures = 0;
    if (report.outcome?.kind?.$case === 'retry') journal.failures++;
    if (report.outcome) {
      journal.outcomes.push(report.outcome);
      if (report.outcome.kind?.$case === 'blocked')
        recordAsks(journal, report.turnId, report.outcome.kind.value.asks);
      leases.delete(report.turnId);
    }
    return { errorCode: '', errorMessage: '' };
  }

  function recordAsks(journal: Journal, turnId: string, asks: Ask[]): void {
    if (asks.length === 0) throw new Error('a blocked turn requests no decision');
    for (const ask of asks) {
      const isOpen = journal.openCalls.some(({ toolUseId }) => toolUseId === ask.toolUseId);
      if (!isOpen) throw new Error(`${ask.toolUseId} is not open, but the turn requests a decision about it`);
      requestedAsks.set(`${turnId} ${ask.toolUseId}`, ask);
    }
  }

  /** Waits until a turn is queued, the claim is ended or the time has passed. Returns the milliseconds. */
  async function waitForTurns(waitMs: number, signal: AbortSignal): Promise<number> {
    const { clock } = context;
    const startedAt = clock.now().getTime();
    const ended = new AbortController();
    endWait = () => ended.abort();
    await wait(clock, waitMs, AbortSignal.any([signal, ended.signal]));
    if (signal.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
    return clock.now().getTime() - startedAt;
  }

  function isProgress({ type }: { type: string }): boolean {
    return type === 'agent.message' || type === 'agent.tool_result';
  }

  function historyOf(turnId: string): Event[] {
    const initial = initialMessages.get(turnId) ?? [];
    const last = initial.reduce((newest, { seq }) => Math.max(newest, seq), 0);
    const isHistory = (event: { type: string }) =>
      isProgress(event) || event.type === 'agent.context_compacted' || event.type === 'user.message';
    const journaled = journalOf(turnId).events.filter(isHistory);
    return [
      ...initial,
      ...journaled.map(({ type, data }, index) => {
        const seq = last + 1 + index;
        return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
      }),
    ];
  }

  function requeue(turnId: string, decisions: Record<string, Partial<CallDecision>> = {}): void {
    const turn = latestTurns.get(turnId);
    if (!turn) throw new Error(`${turnId} was never claimed`);
    const journal = journalOf(turnId);
    journal.openCalls = journal.openCalls.map((call) =>
      withDecision(call, requestedAsks.get(`${turnId} ${call.toolUseId}`), decisions[call.toolUseId]),
    );
    queue.push({
      ...turn,
      messages: historyOf(turnId),
      attempt: (turn.attempt ?? 1) + 1,
      usage: { ...journal.usage },
      failures: journal.failures,
      openCalls: structuredClone(journal.openCalls),
    });
  }

  const handlers: Partial<Handlers<SessionsServiceDefinition>> = {
    async claimTurns(request, call) {
      if (request.slots === 0) {
        if (!fake.waits) throw refuse('INVALID_REQUEST', 'slots is 0; it must be between 1 and 1000.');
        endWait();
        return { turns: [], leaseMs, waitedMs: 0 };
      }
      fake.claims.push(request);
      await fake.before.claim?.(request);
      const mayWait = fake.waits && queue.length === 0 && request.waitMs > 0;
      const waitedMs = mayWait ? await waitForTurns(request.waitMs, call.signal) : 0;
      const turns = queue.splice(0, request.slots).map(claim);
      await fake.after.claim?.(request);
      return { turns, leaseMs, waitedMs };
    },
    async renewLeases(request) {
      fake.renewals.push(request);
      await fake.before.renew?.(request);
      const lost = request.leases.filter((lease) => leases.get(lease.turnId)?.fence !== lease.fence);
      return {
        lostTurnIds: lost.map((lease) => lease.turnId),
        unextendedTurnIds: [...fake.unextended],
        steeredTurnIds: [...steering.keys()],
      };
    },
    async reportTurns(request) {
      fake.reports.push(request);
      await fake.before.report?.(request);
      const results = request.reports.map((report) => {
        const followed = !fake.unfollowed.has(report.turnId);
        return { ...append(report), followed, steered: steering.has(report.turnId) };
      });
      await fake.after.report?.(request);
      return { results };
    },
    async deliverMessages(request) {
      fake.deliveries.push(request);
      await fake.before.deliver?.(request);
      const { lease, step, afterSeq } = request;
      const { turnId = '' } = lease ?? {};
      if (leases.get(turnId)?.fence !== lease?.fence)
        throw refuse('LEASE_LOST', 'The lease of the turn is lost.');
      const { events } = journalOf(turnId);
      for (const text of steering.get(turnId) ?? []) {
        events.push({ type: 'user.message_delivered', data: { step } });
        events.push({ type: 'user.message', data: { content: [{ type: 'text', text }] } });
      }
      steering.delete(turnId);
      await fake.after.deliver?.(request);
      const messages = historyOf(turnId).filter(({ seq, type }) => seq > afterSeq && type === 'user.message');
      // One message in each response.
      return { messages: messages.slice(0, 1), hasMore: messages.length > 1 };
    },
    async takeSandbox(request) {
      await fake.before.take?.(request);
      const { lease, sandboxId } = request;
      if (leases.get(lease?.turnId ?? '')?.fence !== lease?.fence)
        throw refuse('LEASE_LOST', 'The lease of the turn is lost.');
      fake.takeRequests.push(request);
      return { granted: !fake.ending.has(sandboxId) };
    },
    async reportSandboxes(request) {
      fake.sandboxReports.push(request);
      for (const { sandboxId, status } of request.sandboxes) fake.sandboxes[sandboxId] = status;
      const isAlive = ({ status }: { status: string }) => status === 'ready' || status === 'suspended';
      const ids = request.sandboxes.filter(isAlive).map(({ sandboxId }) => sandboxId);
      const isKnown = (id: string) => fake.takeRequests.some(({ sandboxId }) => sandboxId === id);
      return { endSandboxIds: ids.filter((id) => fake.ending.has(id) || !isKnown(id)) };
    },
    async listMessages({ sessionId, page }) {
      const turnId = turnOfSession.get(sessionId);
      const history = pages.get(sessionId) ?? (turnId && { events: historyOf(turnId), size: 100 });
      if (!history) throw refuse('SESSION_NOT_FOUND', 'Unknown session.');
      const begin = Number(page?.cursor || 0);
      const end = begin + history.size;
      const nextCursor = end < history.events.length ? String(end) : '';
      return { events: history.events.slice(begin, end), page: { nextCursor } };
    },
  };

  const fake: FakeSessions = {
    endpoint: guard({
      contract: SessionsServiceDefinition,
      handlers: handlers as Handlers<SessionsServiceDefinition>,
      peers: peers as Record<keyof typeof SessionsServiceDefinition.methods, string[]>,
      secret: context.serviceSecret,
      clock: context.clock,
      observe: context.observe,
    }),
    queue(turn) {
      setImmediate(() => endWait());
      initialMessages.set(turn.turnId, turn.messages);
      journalOf(turn.turnId).openCalls.push(...structuredClone(turn.openCalls ?? []));
      queue.push(turn);
    },
    requeue,
    historyOf,
    journalOf,
    steer: (turnId, text) => void steering.set(turnId, [...(steering.get(turnId) ?? []), text]),
    revokeLease: (turnId) => void leases.delete(turnId),
    before: {},
    after: {},
    claims: [],
    waits: false,
    renewals: [],
    unfollowed: new Set(),
    unextended: new Set(),
    reports: [],
    deliveries: [],
    takeRequests: [],
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
  return fake;
}

/** Returns the session id of a turn that is queued without one. */
export function sessionOf(turnId: string): string {
  return `ses_${turnId}`;
}

/** A message event in the form in which the sessions service returns it. */
export function message(
  turnId: string,
  seq: number,
  type: 'user.message' | 'agent.message',
  textOrContent: string | object[],
): Event {
  const content = typeof textOrContent === 'string' ? [{ type: 'text', text: textOrContent }] : textOrContent;
  const data =
    type === 'user.message'
      ? { content }
      : { content, message_id: 'msg_0', model: 'm', finish_reason: 'stop' };
  return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
}

export function queuedTurn(turnId: string, text: string): QueuedTurn {
  return { turnId, messages: [message(turnId, 1, 'user.message', text)] };
}
