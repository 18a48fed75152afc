import type { AnswerFold, AnswerText } from '../answer-fold.ts';
import { messageIdOf } from './response-id.ts';
import { finalStatus, messageItem, type ResponseHead, responseObject, textPart } from './response-object.ts';

/* The events of a stream. Their numbers follow from the journal, so that a stream resumes exactly at any replica. */

export interface StreamEvent {
  type: string;
  sequence_number: number;
  [member: string]: unknown;
}

/** An event of the journal becomes fewer events of the stream than this. */
const EVENTS_PER_SEQ = 16;

/** The events before the first text. They have the numbers 0 to 3. */
export function firstEvents(head: ResponseHead, fold: AnswerFold): StreamEvent[] {
  const response = responseObject(head, { status: 'in_progress', text: '', fold });
  const place = placeOf(head);
  return [
    { type: 'response.created', response: { ...response, status: 'queued' } },
    { type: 'response.in_progress', response },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: messageItem(head.turnId, '', 'in_progress'),
    },
    { type: 'response.content_part.added', ...place, part: textPart('') },
  ].map(numbered(0));
}

/** The events of a text. */
export function textEvents(head: ResponseHead, { seq, text }: AnswerText): StreamEvent[] {
  const delta = { type: 'response.output_text.delta', ...placeOf(head), delta: text, logprobs: [] };
  return [delta].map(numbered(seq * EVENTS_PER_SEQ));
}

/**
 * The events of a turn that has ended or waits. `sentence` follows the text of a turn that waits. They come behind a text
 * of the same journal event.
 */
export function lastEvents(head: ResponseHead, fold: AnswerFold, sentence: string): StreamEvent[] {
  const status = finalStatus(fold);
  const text = fold.text + sentence;
  const place = placeOf(head);
  const item = messageItem(head.turnId, text, status === 'completed' ? 'completed' : 'incomplete');
  const response = responseObject(head, { status, text, fold });
  const type = status === 'cancelled' ? 'incomplete' : status;
  return [
    ...(sentence === ''
      ? []
      : [{ type: 'response.output_text.delta', ...place, delta: sentence, logprobs: [] }]),
    { type: 'response.output_text.done', ...place, text, logprobs: [] },
    { type: 'response.content_part.done', ...place, part: textPart(text) },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: `response.${type}`, response },
  ].map(numbered(fold.lastSeq * EVENTS_PER_SEQ + 1));
}

function placeOf({ turnId }: ResponseHead) {
  return { item_id: messageIdOf(turnId), output_index: 0, content_index: 0 };
}

function numbered(first: number) {
  return <Event extends { type: string }>(event: Event, index: number): StreamEvent => ({
    ...event,
    sequence_number: first + index,
  });
}
