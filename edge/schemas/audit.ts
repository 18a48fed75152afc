import { Type } from 'typebox';
import { AUDIT_ACTIONS, type AuditAction } from '../../lib/audit-actions.ts';
import type { Act } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { AnyObject, count, id, NULL, nullable, optional, serializeTime, text, time } from './common.ts';

const NAMES = Object.keys(AUDIT_ACTIONS) as AuditAction[];
const action = Type.Enum(NAMES, { description: 'The action.', examples: ['environment.create'] });
const outcome = Type.Enum(['done', 'refused'], {
  description: '`done`: the action was recorded before it was performed. `refused`: it was not performed.',
});

export const ActShape = Type.Object(
  {
    seq: count('The position in the log: 1, 2, 3 … without gaps.'),
    created_at: time('The time of the entry.'),
    actor_id: nullable(id('usr', 'the acting user; null when unknown')),
    credential: nullable(
      text('The credential of the actor: the id of a token or login, `access_token`, or `local`.'),
      {
        examples: ['tok_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'],
      },
    ),
    action,
    target_id: nullable(text('The id of the affected object.'), {
      examples: ['env_01KAK3V9Q6W1X2Y3Z4A5B6C7D8'],
    }),
    outcome,
    address: nullable(text('The IP address of the client.'), { examples: ['203.0.113.7'] }),
    request_id: nullable(id('req', 'the request'), NULL),
    data: AnyObject('Details of the action. Never contains secrets.'),
    hash: text('The SHA-256 of this entry and the hash of the previous entry, in hexadecimal.', {
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
  },
  { title: 'Act', description: 'An entry of the audit log. Entries are never changed or deleted.' },
);

const idFilter = (description: string) => optional(Type.String({ maxLength: 100, description }));
const timeFilter = (description: string) =>
  optional(Type.String({ format: 'date-time', maxLength: 40, description }));

export const filters = {
  actor_id: idFilter('Only actions of this user.'),
  action: optional(Type.Enum(NAMES, { description: 'Only this action.' })),
  target_id: idFilter('Only actions on this object.'),
  outcome: optional(outcome),
  from: timeFilter('Only entries at or after this time (RFC 3339).'),
  until: timeFilter('Only entries before this time (RFC 3339).'),
};

export const VerificationShape = Type.Object({
  verified_seq: count('The last verified entry. Up to it, no entry was changed, removed or inserted.', 1_000),
  verified_hash: nullable(text('The hash of that entry.'), NULL),
  intact: Type.Boolean({ description: 'Whether all entries of this part are valid.', examples: [true] }),
  broken_seq: nullable(count('The first entry that is not valid.'), NULL),
  complete: Type.Boolean({
    description:
      'Whether the log ends with this part. If not, continue with `after_seq` set to `verified_seq`.',
    examples: [true],
  }),
});

export function serializeAct(act: Act) {
  return {
    seq: act.seq,
    created_at: serializeTime(act.createdAt),
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
