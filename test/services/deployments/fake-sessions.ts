import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import type {
  CreateSessionRequest,
  Session,
  SessionsServiceDefinition,
  Signal,
  TurnState,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'getSession' | 'sendMessage' | 'interruptSession' | 'lookUpTurns' | 'claimSignals' | 'ackSignals'
>;

/** A session that a schedule uses. */
export interface FakeScheduleSession {
  sessionId: string;
  createdBy: string;
  agentId: string;
  agentVersion: number;
  traceId: string;
  isArchived?: boolean;
  isTerminated?: boolean;
  isHeld?: boolean;
}

export interface FakeTurn extends TurnState {
  /** The message of the run. */
  text: string;
}

/** The sessions service as schedules use it. */
export class FakeSessions {
  readonly sessions = new Map<string, FakeScheduleSession>();
  readonly turns = new Map<string, FakeTurn>();
  signals: Signal[] = [];
  readonly interrupts: { turnId: string; userId: string; actor: unknown }[] = [];
  /** Every call that creates or sends, also repeated ones. */
  starts = 0;
  /** Fails all calls while it is set. */
  failure: Refusal | undefined;
  /** CreateSession and SendMessage succeed, but their answers are lost. */
  losesAnswers = false;
  /** Called before CreateSession creates a turn. */
  onCreating: (() => Promise<void>) | undefined;
  /** Called when CreateSession has created a turn, before it answers. */
  onCreated: ((runId: string) => Promise<void>) | undefined;
  /** Called when GetSession has found no session, before it answers. */
  onMissing: (() => Promise<void>) | undefined;
  /** LookUpTurns works while other calls fail. */
  allowsLookUps = false;
  /** LookUpTurns fails. */
  failLookUps = false;
  /** Whether turn states are signalled when they change. */
  isSignalling = true;

  clear(): void {
    this.sessions.clear();
    this.turns.clear();
    this.signals = [];
    this.interrupts.length = 0;
    this.starts = 0;
    this.failure = undefined;
    this.losesAnswers = false;
    this.onCreating = undefined;
    this.onCreated = undefined;
    this.onMissing = undefined;
    this.failLookUps = false;
    this.allowsLookUps = false;
    this.isSignalling = true;
  }

  /** The turn of a run. */
  turnOf(runId: string): FakeTurn {
    const turn = this.turns.get(withPrefix('trn', runId));
    if (!turn) throw new Error(`the run ${runId} has no turn`);
    return turn;
  }

  /** Moves a turn to another state, as the runner does. */
  move(turnId: string, change: Partial<TurnState>): void {
    const turn = this.turns.get(turnId);
    if (!turn) throw new Error(`there is no turn ${turnId}`);
    Object.assign(turn, change);
    this.signal({ kind: turn.finishedAt ? 'turn_ended' : 'turn_blocked', sessionId: turn.sessionId, turn });
  }

  complete(turnId: string, now: Date, type = 'end_turn'): void {
    const usageJson = JSON.stringify({
      input_tokens: 1,
      output_tokens: 2,
      steps: 1,
      tool_calls: 0,
      active_seconds: 1,
    });
    this.move(turnId, {
      status: 'completed',
      stopReasonJson: JSON.stringify({ type }),
      usageJson,
      finishedAt: now,
    });
  }

  deleteSession(sessionId: string): void {
    this.sessions.delete(sessionId);
    for (const [turnId, turn] of this.turns) if (turn.sessionId === sessionId) this.turns.delete(turnId);
    this.signal({ kind: 'session_deleted', sessionId, turn: undefined });
  }

  /** A repeated call of the same run has no further effect. */
  async create({ actor, ownerId, agentId, agentVersion, text }: CreateSessionRequest, call: Call) {
    this.starts++;
    if (this.failure) throw this.failure;
    await this.onCreating?.();
    const runId = actor?.runId ?? '';
    const sessionId = withPrefix('ses', runId);
    const turnId = withPrefix('trn', runId);
    if (!this.turns.has(turnId)) {
      const { traceId } = call.trace;
      this.sessions.set(sessionId, { sessionId, createdBy: ownerId, agentId, agentVersion, traceId });
      this.#queue(turnId, sessionId, text);
    }
    await this.onCreated?.(runId);
    this.#answer();
    return { sessionId, turnId };
  }

  readonly methods: Methods = {
    getSession: async ({ sessionId }, { caller }) => {
      if (this.failure) throw this.failure;
      if (!this.sessions.has(sessionId)) {
        await this.onMissing?.();
        throw refuse('SESSION_NOT_FOUND', 'there is no such session');
      }
      return { session: messageOf(this.#sessionOf(sessionId, caller?.userId)) };
    },
    sendMessage: async ({ sessionId, contentJson, actor }, { caller }) => {
      this.starts++;
      if (this.failure) throw this.failure;
      const session = this.#sessionOf(sessionId, caller?.userId);
      if (session.isTerminated) throw refuse('SESSION_TERMINATED', 'the session is terminated');
      if (session.isArchived) throw refuse('SESSION_ARCHIVED', 'the session is archived');
      const turnId = withPrefix('trn', actor?.runId ?? '');
      const replayed = this.turns.has(turnId);
      if (!replayed) this.#queue(turnId, sessionId, JSON.parse(contentJson)[0].text);
      this.#answer();
      return { turnId, seq: 1, replayed };
    },
    interruptSession: async ({ sessionId, turnId = '', actor }, { caller }) => {
      const session = this.#sessionOf(sessionId, caller?.userId);
      this.interrupts.push({ turnId, userId: caller?.userId ?? '', actor });
      const turn = this.turns.get(turnId);
      if (turn && !turn.finishedAt)
        this.move(turnId, {
          status: 'interrupted',
          stopReasonJson: '{"type":"interrupted"}',
          finishedAt: new Date(0),
        });
      return { session: messageOf(session) };
    },
    lookUpTurns: async ({ turnIds }) => {
      if (this.failure && !this.allowsLookUps) throw this.failure;
      if (this.failLookUps) throw refuse('DEPENDENCY_UNAVAILABLE', 'no lookups');
      return { turns: turnIds.flatMap((turnId) => this.turns.get(turnId) ?? []) };
    },
    claimSignals: async ({ limit }) => ({ signals: this.signals.slice(0, limit) }),
    ackSignals: async ({ signalIds }) => {
      this.signals = this.signals.filter(({ signalId }) => !signalIds.includes(signalId));
      return {};
    },
  };

  #answer(): void {
    if (this.losesAnswers) throw refuse('DEPENDENCY_UNAVAILABLE', 'the answer was lost');
  }

  #signals = 0;

  signal(signal: Pick<Signal, 'kind' | 'sessionId' | 'turn'>): void {
    if (!this.isSignalling) return;
    const signalId = String(++this.#signals).padStart(10, '0');
    const turn = signal.turn && { ...signal.turn };
    this.signals.push({ ...signal, turn, signalId, approvalId: '', createdAt: new Date(0) });
  }

  #queue(turnId: string, sessionId: string, text: string): void {
    const texts = { stopReasonJson: '', usageJson: '', errorJson: '' };
    this.turns.set(turnId, {
      ...{ turnId, sessionId, text, status: 'queued', ...texts },
      ...{ startedAt: undefined, finishedAt: undefined },
    });
  }

  #sessionOf(sessionId: string, userId: string | undefined): FakeScheduleSession {
    const session = this.sessions.get(sessionId);
    if (session?.createdBy !== userId) throw refuse('SESSION_NOT_FOUND', 'there is no such session');
    return session as FakeScheduleSession;
  }
}

/** The members of a session that the deployments service reads. */
function messageOf(session: FakeScheduleSession): Session {
  const { sessionId, createdBy, agentId, isArchived, isTerminated, isHeld = false } = session;
  const members: Partial<Session> = {
    ...{ sessionId, createdBy, agentId, queueHeld: isHeld },
    status: isTerminated ? 'terminated' : 'idle',
    archivedAt: isArchived ? new Date(0) : undefined,
  };
  return { ...BLANK_SESSION, ...members };
}

const BLANK_SESSION: Session = {
  sessionId: '',
  agentId: '',
  agentVersion: 1,
  deploymentId: '',
  invocationId: '',
  title: '',
  status: 'idle',
  stopReasonJson: '',
  needsAction: false,
  environmentStatus: 'none',
  currentTurnId: '',
  queuedTurns: 0,
  usage: undefined,
  lastSeq: 0,
  metadata: {},
  createdBy: '',
  createdAt: undefined,
  updatedAt: undefined,
  archivedAt: undefined,
  assistantId: '',
  sandboxId: '',
  sandboxProvider: '',
  state: '',
  queueHeld: false,
};
