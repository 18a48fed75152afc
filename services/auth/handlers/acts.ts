import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { checkAct, checkFilters, checkPart } from '../domain/act.ts';
import { checkPage } from '../domain/page.ts';
import { actOf } from '../recorder.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<Handlers<AuthServiceDefinition>, 'recordActs' | 'listActs' | 'verifyActs'>;

/** The audit log. There is no call that changes or removes a line of it. */
export function actHandlers({ acts, record, clock }: HandlerContext): Methods {
  return {
    async recordActs({ acts: given }, call) {
      const now = clock.now();
      const added = given.map((act) => actOf(act, call, now));
      added.forEach(checkAct);
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
      checkPart(limit);
      return acts.verify(Math.max(0, afterSeq), limit, call);
    },
  };
}
