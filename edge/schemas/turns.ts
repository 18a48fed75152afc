import { Type } from 'typebox';
import type { GetTurnResponse, Turn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import {
  AnyObject,
  count,
  id,
  NULL,
  nullable,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
  UsageShape,
} from './common.ts';
import { MessageShape, serializeMessage } from './messages.ts';
import { serializeUsage } from './usage.ts';

export const TurnShape = Type.Object(
  {
    turn_id: id('trn', 'the turn'),
    session_id: id('ses', 'the session'),
    kind: Type.Enum(['answer', 'compaction'], {
      description:
        '`answer`: the turn answers a message. `compaction`: it shortens the history for the model, without a message and an ' +
        'answer.',
    }),
    status: Type.Enum([
      'queued',
      'in_progress',
      'blocked',
      'completed',
      'failed',
      'interrupted',
      'cancelled',
    ]),
    queued_seq: count(
      'The seq of the event that queued the turn: its message, or its `turn.queued` if it replaces an answer or compacts.',
      2,
    ),
    attempt: count('The number of times the turn was started.'),
    usage: UsageShape,
    replaces_turn_id: nullable(id('trn', 'the turn whose answer this one replaces')),
    delivered_to_turn_id: nullable(
      id('trn', 'the running turn that the message of this one was delivered into (`busy_policy: steer`)'),
      NULL,
    ),
    output: Type.Unknown({
      description: 'The structured output; null without one.',
      examples: [null],
    }),
    overrides: nullable(
      AnyObject('The overrides in force: those of the conversation and of the message.'),
      NULL,
    ),
    error: nullable(
      Type.Object({ code: text('A code for programs.'), message: text('A readable message.') }),
      NULL,
    ),
    created_at: time('The time at which it was queued.'),
    started_at: nullable(time('The time at which it was first started.')),
    finished_at: nullable(time('The time at which it ended.')),
  },
  { title: 'Turn' },
);

export const TurnResultShape = Type.Intersect(
  [TurnShape, Type.Object({ last_message: nullable(MessageShape, NULL) })],
  { title: 'TurnResult', description: 'A turn with the last message of the agent.' },
);

export function serializeTurnResult({ turn, lastMessage }: GetTurnResponse) {
  return {
    ...serializeTurn(turn),
    last_message: lastMessage ? serializeMessage(lastMessage.json) : null,
  };
}

export function serializeTurn(turn: Turn | undefined) {
  return {
    turn_id: turn?.turnId,
    session_id: turn?.sessionId,
    kind: turn?.kind ?? 'answer',
    status: turn?.status,
    queued_seq: turn?.position,
    attempt: turn?.attempt,
    usage: serializeUsage(turn?.usage),
    replaces_turn_id: turn?.replacesTurnId ?? null,
    delivered_to_turn_id: turn?.deliveredToTurnId ?? null,
    output: JSON.parse(turn?.outputJson ?? 'null'),
    overrides: JSON.parse(turn?.overridesJson ?? 'null'),
    error: JSON.parse(turn?.errorJson || 'null'),
    created_at: serializeTime(turn?.createdAt),
    started_at: serializeTimeOrNull(turn?.startedAt),
    finished_at: serializeTimeOrNull(turn?.finishedAt),
  };
}
