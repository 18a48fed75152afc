import { Type } from 'typebox';
import type { Turn } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { count, id, NULL, nullable, shownTime, shownTimeOrNull, text, time, Usage } from './common.ts';
import { shownUsage } from './usage.ts';

export const TurnShape = Type.Object(
  {
    turn_id: id('trn', 'the turn'),
    session_id: id('ses', 'its session'),
    status: Type.Enum([
      'queued',
      'in_progress',
      'blocked',
      'completed',
      'failed',
      'interrupted',
      'cancelled',
    ]),
    queued_seq: count('The seq of the message that queued it.', 2),
    attempt: count('How often it was started.'),
    usage: Usage,
    error: nullable(
      Type.Object({ code: text('A word for programs.'), message: text('A sentence for people.') }),
      NULL,
    ),
    created_at: time('When it was queued.'),
    started_at: nullable(time('When it was first started.')),
    finished_at: nullable(time('When it ended.')),
  },
  { title: 'Turn' },
);

export function shownTurn(turn: Turn | undefined) {
  return {
    turn_id: turn?.turnId,
    session_id: turn?.sessionId,
    status: turn?.status,
    queued_seq: turn?.position,
    attempt: turn?.attempt,
    usage: shownUsage(turn?.usage),
    error: JSON.parse(turn?.errorJson || 'null'),
    created_at: shownTime(turn?.createdAt),
    started_at: shownTimeOrNull(turn?.startedAt),
    finished_at: shownTimeOrNull(turn?.finishedAt),
  };
}
