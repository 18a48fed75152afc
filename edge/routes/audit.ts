import { Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { ActShape, filters, serializeAct, VerificationShape } from '../schemas/audit.ts';
import { closed, optional, pageRequest, paging } from '../schemas/common.ts';

const MAX_PART = 100_000;

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/admin/audit',
    operationId: 'listActs',
    tag: 'Audit',
    summary: 'List the audit log',
    description:
      'Requires an administrator. Returns entries, newest first. Each entry names the actor, the credential, the address and ' +
      'the action: logins, tokens, users, access, environments, sandboxes, deployments, reads by administrators and refused ' +
      'requests. Reading the log is recorded as well.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of entries.', data: ActShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = {
        page: pageRequest(query),
        actorId: query.actor_id ?? '',
        action: query.action ?? '',
        targetId: query.target_id ?? '',
        outcome: query.outcome ?? '',
        from: timeOf('/from', query.from),
        until: timeOf('/until', query.until),
      };
      const { acts, page } = await clients.auth.listActs(request, call);
      return list(acts.map(serializeAct), page);
    },
  }),

  route({
    method: 'POST',
    path: '/admin/audit/verify',
    operationId: 'verifyActs',
    tag: 'Audit',
    summary: 'Verify the audit log',
    description:
      'Requires an administrator. Recomputes the hash chain of at most 100,000 entries. If you store the last `verified_hash` ' +
      'elsewhere, you can later prove that no earlier entry was changed.',
    bodyOptional: true,
    body: closed({
      after_seq: optional(
        Type.Integer({
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'The `verified_seq` of the previous part. Default: 0.',
        }),
      ),
    }),
    example: { after_seq: 0 },
    success: { status: 200, description: 'The result of the verification.', data: VerificationShape },
    errors: ['FORBIDDEN'],
    async answer({ clients, call, body }) {
      const request = { afterSeq: body.after_seq ?? 0, limit: MAX_PART };
      const { verifiedSeq, verifiedHash, brokenSeq, complete } = await clients.auth.verifyActs(request, call);
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
    throw refuseField(pointer, 'must be an RFC 3339 time');
  return time;
}
