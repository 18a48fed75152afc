import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Clients } from '../../clients.ts';
import { ANSWER_TYPES, type AnswerFold, type AnswerText } from './answer-fold.ts';
import type { StartedTurn } from './start-turn.ts';

export interface AnswerBatch {
  /** The texts that the answer gains, one for each event of the journal. */
  texts: AnswerText[];
  /** No further event has happened yet. */
  caughtUp: boolean;
}

interface ReadOptions {
  /** The runner reports at the pace of a session that no client follows. */
  passive?: boolean;
  /** Ends at the newest event, also while the turn goes on. */
  untilCaughtUp?: boolean;
  /** A turn that waits since this seq or before goes on, because it was answered or the caller waits for that. */
  answeredUpTo?: number;
}

/** Follows the session until the turn has ended or waits for a person. */
export async function* readAnswer(
  { sessions }: Pick<Clients, 'sessions'>,
  call: CallOptions,
  { sessionId, from }: StartedTurn,
  fold: AnswerFold,
  { passive = false, untilCaughtUp = false, answeredUpTo = 0 }: ReadOptions = {},
): AsyncGenerator<AnswerBatch> {
  const request = { sessionId, afterSeq: from, fromNow: false, types: ANSWER_TYPES, untilCaughtUp, passive };
  for await (const { events, caughtUp } of sessions.follow(request, call)) {
    yield { texts: events.map((event) => fold.add(event)).filter((text) => text !== undefined), caughtUp };
    if (fold.end || (caughtUp && fold.isWaiting && fold.lastSeq > answeredUpTo)) return;
  }
}
