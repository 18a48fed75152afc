import { Refusal, refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Approval, Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../clients.ts';
import { afterAsking, afterSeq, FROM_THE_BEGINNING, type Place } from './render.ts';
import type { Answer, Ask } from './request.ts';

/** A turn to be streamed, and from where on. */
export interface Showing {
  turnId: string;
  /** The turn's events come after this seq. */
  from: number;
  place: Place;
  /** The turn was queued by an earlier request with the same key. */
  replayed?: boolean;
}

const PAGE = 100;

/** Finds the turns that a client asks for. */
export class Turns {
  readonly #sessions: Clients['sessions'];
  readonly #sessionId: string;
  readonly #call: CallOptions;

  constructor({ sessions }: Clients, sessionId: string, call: CallOptions) {
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#call = call;
  }

  /** The turn that a request makes, or makes go on. */
  async ask(ask: Ask, idempotencyKey: string): Promise<Showing> {
    if (ask.kind === 'answers') return this.#decide(ask.answers);
    const { contentJson, busyPolicy } = ask;
    const sent = { sessionId: this.#sessionId, contentJson, busyPolicy, idempotencyKey };
    const { turnId, seq, replayed } = await this.#sessions.sendMessage(sent, this.#call);
    return { turnId, from: seq, place: FROM_THE_BEGINNING, replayed };
  }

  /** The turn that is under way: the one that runs, waits for somebody, or is next. */
  async current(): Promise<Showing | undefined> {
    const asked = { sessionId: this.#sessionId, page: { limit: 1, cursor: '' }, unfinished: true };
    const { turns } = await this.#sessions.listTurns(asked, this.#call);
    const turn = turns[0];
    return turn && { turnId: turn.turnId, from: turn.position, place: FROM_THE_BEGINNING };
  }

  /** The turn that an event belongs to, from this event on. Refused with INVALID_CURSOR when it lies beyond the end. */
  async at(seq: number): Promise<Showing | undefined> {
    const asked = {
      sessionId: this.#sessionId,
      page: { limit: 1, cursor: '' },
      afterSeq: seq - 1,
      types: [],
    };
    const { events } = await this.#sessions.listEvents(asked, this.#call);
    const event = events[0];
    if (!event) throw refuse('INVALID_CURSOR', `the session has no event ${seq} yet`);
    const turnId = turnOf(event);
    if (turnId === undefined) return undefined;
    const turn = await this.#turn(turnId);
    return turn && { turnId, from: turn.position, place: afterSeq(seq) };
  }

  /** In a fork, what was copied belongs to turns of another session. */
  async #turn(turnId: string) {
    try {
      const { turn } = await this.#sessions.getTurn({ sessionId: this.#sessionId, turnId }, this.#call);
      return turn;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'TURN_NOT_FOUND') return undefined;
      throw error;
    }
  }

  async #decide(answers: readonly Answer[]): Promise<Showing> {
    const found = await this.#approvals(new Set(answers.map(({ approvalId }) => approvalId)));
    let refused: unknown;
    for (const { approvalId, approved, reason } of answers) {
      const decision = decisionOf(found.get(approvalId), approved);
      const decided = { sessionId: this.#sessionId, approvalId, decision, reason, editedInputJson: '' };
      // One answer that comes too late does not keep the others back.
      await this.#sessions.decideApproval(decided, this.#call).catch((error) => {
        refused ??= error;
      });
    }
    if (refused) throw refused;
    const turnId = found.get(answers.at(-1)?.approvalId ?? '')?.turnId ?? '';
    const turn = await this.#turn(turnId);
    return { turnId, from: turn?.position ?? 0, place: afterAsking(new Set(found.keys())) };
  }

  async #approvals(wanted: ReadonlySet<string>): Promise<Map<string, Approval>> {
    const found = new Map<string, Approval>();
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const asked = { sessionId: this.#sessionId, page: { limit: PAGE, cursor }, status: '' };
      const { approvals, page } = await this.#sessions.listApprovals(asked, this.#call);
      for (const one of approvals) if (wanted.has(one.approvalId)) found.set(one.approvalId, one);
      if (found.size === wanted.size) return found;
      cursor = page?.nextCursor || undefined;
    }
    throw refuse('APPROVAL_NOT_FOUND', 'the session has no such approval');
  }
}

/** AI SDK knows yes and no. Of a call whose outcome is unknown they say whether it is made again. */
function decisionOf(approval: Approval | undefined, approved: boolean): string {
  if (approval?.kind === 'outcome_unknown') return approved ? 'retry' : 'mark_failed';
  return approved ? 'allow' : 'deny';
}

function turnOf({ json }: Event): string | undefined {
  return (JSON.parse(json) as { turn_id?: string }).turn_id;
}
