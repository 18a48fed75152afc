import { Type } from 'typebox';
import { ACTS, type ActName } from '../../lib/acts.ts';
import type { Act } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { AnyObject, count, id, NULL, nullable, optional, shownTime, text, time } from './common.ts';

const NAMES = Object.keys(ACTS) as ActName[];
const action = Type.Enum(NAMES, { description: 'What was done.', examples: ['environment.create'] });
const outcome = Type.Enum(['done', 'refused'], {
  description: 'Written down before it was done, or refused.',
});

export const ActShape = Type.Object(
  {
    seq: count('1, 2, 3 … without a gap.'),
    created_at: time('When it was written down.'),
    actor_id: nullable(id('usr', 'who did it; null: nobody who is known')),
    credential: nullable(
      text('With what they came: the id of a token or login, `access_token`, or `local`.'),
      {
        examples: ['tok_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'],
      },
    ),
    action,
    target_id: nullable(text('What it was done to.'), { examples: ['env_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'] }),
    outcome,
    address: nullable(text('From where in the network.'), { examples: ['203.0.113.7'] }),
    request_id: nullable(id('req', 'the request'), NULL),
    data: AnyObject('What else is to be known; never a secret.'),
    hash: text('SHA-256 of this line and the hash of the one before it, in hexadecimal.', {
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { title: 'Act', description: 'A line of the audit log. None is ever changed or deleted.' },
);

const named = (description: string) => optional(Type.String({ maxLength: 100, description }));
const moment = (description: string) =>
  optional(Type.String({ format: 'date-time', maxLength: 40, description }));

export const filters = {
  actor_id: named('Acts of this user.'),
  action: optional(Type.Enum(NAMES, { description: 'Acts of this kind.' })),
  target_id: named('What was done to this.'),
  outcome: optional(outcome),
  from: moment('Acts from this time on, RFC 3339.'),
  until: moment('Acts before this time, RFC 3339.'),
};

export const VerificationShape = Type.Object({
  verified_seq: count('Up to here nothing was changed, left out or put in.', 1_000),
  verified_hash: nullable(text('The hash of that line.'), NULL),
  intact: Type.Boolean({ description: 'Nothing is wrong in this part.', examples: [true] }),
  broken_seq: nullable(count('The first line that is not as it was written.'), NULL),
  complete: Type.Boolean({
    description: 'The log ends with this part. Otherwise go on with `after_seq` set to `verified_seq`.',
    examples: [true],
  }),
});

export function shownAct(act: Act) {
  return {
    seq: act.seq,
    created_at: shownTime(act.createdAt),
    actor_id: act.actorId || null,
    credential: act.credential || null,
    action: act.action,
    target_id: act.targetId || null,
    outcome: act.outcome,
    address: act.address || null,
    request_id: act.requestId || null,
    data: JSON.parse(act.dataJson),
    hash: act.hash,
  };
}
