import { Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { ActShape, filters, shownAct, VerificationShape } from '../schemas/audit.ts';
import { closed, optional, pageRequest, paging } from '../schemas/common.ts';

const MAX_PART = 100_000;

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/admin/audit',
    operationId: 'listActs',
    tag: 'Audit',
    summary: 'Read the audit log',
    description:
      'For administrators. Newest first. Who did what, from where and with what: logins, tokens, users, access, ' +
      'environments, sandboxes, deployments, what administrators looked at, and what was refused. Reading it is written ' +
      'down, too.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of acts.', data: ActShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const asked = {
        page: pageRequest(query),
        actorId: query.actor_id ?? '',
        action: query.action ?? '',
        targetId: query.target_id ?? '',
        outcome: query.outcome ?? '',
        from: timeOf('/from', query.from),
        until: timeOf('/until', query.until),
      };
      const { acts, page } = await clients.auth.listActs(asked, call);
      return list(acts.map(shownAct), page);
    },
  }),

  route({
    method: 'POST',
    path: '/admin/audit/verify',
    operationId: 'verifyActs',
    tag: 'Audit',
    summary: 'Verify the audit log',
    description:
      'For administrators. Computes the chain of hashes anew, at most 100,000 lines at a time. Whoever writes down the last ' +
      '`verified_hash` elsewhere can later tell that nothing before it was changed.',
    bodyOptional: true,
    body: closed({
      after_seq: optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Where the last part ended.',
        }),
      ),
    }),
    example: { after_seq: 0 },
    success: { status: 200, description: 'Whether it is as it was written.', data: VerificationShape },
    errors: ['FORBIDDEN'],
    async answer({ clients, call, body }) {
      const asked = { afterSeq: body.after_seq ?? 0, limit: MAX_PART };
      const { verifiedSeq, verifiedHash, brokenSeq, complete } = await clients.auth.verifyActs(asked, call);
      return ok({
        verified_seq: verifiedSeq,
        verified_hash: verifiedHash || null,
        intact: brokenSeq === undefined,
        broken_seq: brokenSeq ?? null,
        complete,
      });
    },
  }),
];

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

function timeOf(pointer: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  if (!TIME.test(text) || Number.isNaN(time.getTime()))
    throw refuseField(pointer, 'must be a time of RFC 3339');
  return time;
}
