import { Refusal, refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Approval, Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../clients.ts';
import { afterApprovalRequests, afterEvent, FROM_THE_BEGINNING, type StreamPosition } from './render.ts';
import type { ApprovalAnswer, TurnRequest } from './request.ts';

/** A turn to stream, and the position at which the stream begins. */
export interface TurnStream {
  turnId: string;
  /** The events of the turn have a greater seq. */
  from: number;
  position: StreamPosition;
  /** The turn was queued by an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
}

const PAGE = 100;

/** Finds or starts the turns of a session that a client streams. */
export class TurnFinder {
  readonly #sessions: Clients['sessions'];
  readonly #sessionId: string;
  readonly #call: CallOptions;

  constructor({ sessions }: Clients, sessionId: string, call: CallOptions) {
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#call = call;
  }

  /** Starts a turn with a message, or continues one by deciding its approvals. */
  async start(request: TurnRequest, idempotencyKey: string): Promise<TurnStream> {
    if (request.kind === 'answers') return this.#decide(request.answers);
    const { contentJson, busyPolicy } = request;
    const message = { sessionId: this.#sessionId, contentJson, busyPolicy, idempotencyKey };
    const { turnId, seq, replayed } = await this.#sessions.sendMessage(message, this.#call);
    return { turnId, from: seq, position: FROM_THE_BEGINNING, replayed };
  }

  /** The current turn: the one that runs, waits for an approval or is next in the queue. */
  async current(): Promise<TurnStream | undefined> {
    const request = { sessionId: this.#sessionId, page: { limit: 1, cursor: '' }, unfinished: true };
    const { turns } = await this.#sessions.listTurns(request, this.#call);
    const turn = turns[0];
    return turn && { turnId: turn.turnId, from: turn.position, position: FROM_THE_BEGINNING };
  }

  /** The turn of an event, positioned after the event. Refuses with INVALID_CURSOR a seq beyond the end of the journal. */
  async at(seq: number): Promise<TurnStream | undefined> {
    const request = {
      sessionId: this.#sessionId,
      page: { limit: 1, cursor: '' },
      afterSeq: seq - 1,
      types: [],
    };
    const { events } = await this.#sessions.listEvents(request, this.#call);
    const event = events[0];
    if (!event) throw refuse('INVALID_CURSOR', `The session has no event with seq ${seq}.`);
    const turnId = turnOf(event);
    if (turnId === undefined) return undefined;
    const turn = await this.#turn(turnId);
    return turn && { turnId, from: turn.position, position: afterEvent(seq) };
  }

  /** Undefined for events that a fork copied: they belong to turns of another session. */
  async #turn(turnId: string) {
    try {
      const { turn } = await this.#sessions.getTurn({ sessionId: this.#sessionId, turnId }, this.#call);
      return turn;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'TURN_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async #decide(answers: readonly ApprovalAnswer[]): Promise<TurnStream> {
    const found = await this.#approvals(new Set(answers.map(({ approvalId }) => approvalId)));
    let failure: unknown;
    for (const { approvalId, approved, reason } of answers) {
      const decision = decisionOf(found.get(approvalId), approved);
      const request = { sessionId: this.#sessionId, approvalId, decision, reason, editedInputJson: '' };
      // A decision that fails because it is late does not prevent the others.
      await this.#sessions.decideApproval(request, this.#call).catch((error) => {
        failure ??= error;
      });
    }
    if (failure) throw failure;
    const turnId = found.get(answers.at(-1)?.approvalId ?? '')?.turnId ?? '';
    const turn = await this.#turn(turnId);
    return { turnId, from: turn?.position ?? 0, position: afterApprovalRequests(new Set(found.keys())) };
  }

  async #approvals(ids: ReadonlySet<string>): Promise<Map<string, Approval>> {
    const found = new Map<string, Approval>();
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const request = { sessionId: this.#sessionId, page: { limit: PAGE, cursor }, status: '' };
      const { approvals, page } = await this.#sessions.listApprovals(request, this.#call);
      for (const approval of approvals)
        if (ids.has(approval.approvalId)) found.set(approval.approvalId, approval);
      if (found.size === ids.size) return found;
      cursor = page?.nextCursor || undefined;
    }
    throw refuse('APPROVAL_NOT_FOUND', 'The session has no such approval.');
  }
}

/** AI SDK answers with approved or not. For a call with an unknown outcome, `approved` means that the call is repeated. */
function decisionOf(approval: Approval | undefined, approved: boolean): string {
  if (approval?.kind === 'outcome_unknown') return approved ? 'retry' : 'mark_failed';
  return approved ? 'allow' : 'deny';
}

function turnOf({ json }: Event): string | undefined {
  return (JSON.parse(json) as { turn_id?: string }).turn_id;
}
