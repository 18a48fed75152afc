import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { auditEntryOf } from '../audit-recorder.ts';
import { checkEntry, checkFilters, checkVerifyLimit } from '../domain/audit-entry.ts';
import { checkPage } from '../domain/page.ts';
import type { AuthHandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'recordActs' | 'listActs' | 'verifyActs'>;

/** The audit log. No RPC changes or removes an entry. */
export function auditHandlers({ audit: acts, record, clock }: AuthHandlerContext): Methods {
  return {
    async recordActs({ acts: reported }, call) {
      const now = clock.now();
      const added = reported.map((act) => auditEntryOf(act, call, now));
      added.forEach(checkEntry);
      await acts.add(added, call);
      return {};
    },

    async listActs({ page, from, until, ...filter }, call) {
      const { userId } = administratorOf(call);
      checkFilters(filter);
      await record({ action: 'audit.list', targetId: '' }, call);
      const { rows, nextCursor } = await acts.list(userId, { ...filter, from, until }, checkPage(page), call);
      return { acts: rows, page: { nextCursor } };
    },

    async verifyActs({ afterSeq, limit }, call) {
      administratorOf(call);
      checkVerifyLimit(limit);
      return acts.verify(Math.max(0, afterSeq), limit, call);
    },
  };
}
