import { Refusal, refuse } from '../../lib/errors.ts';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { Event, Turn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Clients } from '../clients.ts';
import type { Answers } from './answers.ts';
import { afterEvent, afterRequests, FROM_THE_BEGINNING, type StreamPosition } from './render.ts';
import { type TurnRequest, textOf } from './request.ts';
import { submitAnswers } from './submit-answers.ts';

/** A turn to stream, and the position at which the stream begins. */
export interface TurnStream {
  turnId: string;
  /** The events of the turn have a greater seq. */
  from: number;
  position: StreamPosition;
  /** The turn was queued by an earlier request with the same Idempotency-Key. */
  replayed?: boolean;
}

/** Events of one read. */
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

  /** Starts a turn with a message, or continues one by answering its requests. */
  async start(request: TurnRequest, idempotencyKey: string): Promise<TurnStream> {
    if (request.kind === 'answers') return this.#continue(request.answers);
    if (request.kind === 'regeneration') return this.#regenerate(request, idempotencyKey);
    const { kind: _, ...content } = request;
    const message = { sessionId: this.#sessionId, ...content, idempotencyKey };
    const { turnId, seq, replayed } = await this.#sessions.sendMessage(message, this.#call);
    return { turnId, from: seq, position: FROM_THE_BEGINNING, replayed };
  }

  /** The current turn: the one that runs, waits for an answer or is next in the queue. */
  async current(): Promise<TurnStream | undefined> {
    const request = { sessionId: this.#sessionId, page: { limit: 2, cursor: '' }, unfinished: true };
    const { turns } = await this.#sessions.listTurns(request, this.#call);
    // A compaction is queued in an idle session only, so at most one is before the first message.
    const turn = turns.find(isAnswering);
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
    return turn && isAnswering(turn) ? { turnId, from: turn.position, position: afterEvent(seq) } : undefined;
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

  async #regenerate(
    { turnId: replacedId, question, overrides }: Extract<TurnRequest, { kind: 'regeneration' }>,
    idempotencyKey: string,
  ): Promise<TurnStream> {
    if (question !== undefined && (await this.#lastQuestion()) !== question) throw notLast(this.#sessionId);
    const regeneration = { sessionId: this.#sessionId, turnId: replacedId, overrides, idempotencyKey };
    const { turnId, seq, replayed } = await this.#sessions.regenerateAnswer(regeneration, this.#call);
    return { turnId, from: seq, position: FROM_THE_BEGINNING, replayed };
  }

  /** The text of the last message of a user that was not removed. Undefined without one. */
  async #lastQuestion(): Promise<string | undefined> {
    const removed = new Set<string>();
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { events, page } = await this.#sessions.listEvents(
        {
          sessionId: this.#sessionId,
          page: { limit: PAGE, cursor },
          afterSeq: 0,
          types: ['user.message', 'turn.cancelled'],
          newestFirst: true,
        },
        this.#call,
      );
      for (const { type, json } of events) {
        const { turn_id, data } = JSON.parse(json);
        if (type === 'turn.cancelled' && data.reason === 'removed') removed.add(turn_id);
        else if (type === 'user.message' && !removed.has(turn_id)) return textOf({ parts: data.content });
      }
      cursor = page?.nextCursor || undefined;
    }
    return undefined;
  }

  async #continue(answers: Answers): Promise<TurnStream> {
    const turnId = await submitAnswers(this.#sessions, this.#sessionId, answers, this.#call);
    const turn = await this.#turn(turnId);
    const position = afterRequests(
      new Set(answers.approvals.map(({ approvalId }) => approvalId)),
      new Set(answers.results.map(({ toolUseId }) => toolUseId)),
    );
    return { turnId, from: turn?.position ?? 0, position };
  }
}

/** A compaction has no message to stream. */
function isAnswering({ kind }: Turn): boolean {
  return kind === undefined;
}

function notLast(sessionId: string): Refusal {
  return refuse(
    'TURN_NOT_LAST',
    'Only the answer to the last message of the session can be regenerated. To continue from an earlier message, fork the ' +
      `session with POST /sessions/${sessionId}/fork and send the message there.`,
  );
}

function turnOf({ json }: Event): string | undefined {
  return (JSON.parse(json) as { turn_id?: string }).turn_id;
}
