import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  ChangePart,
  CommitBegin,
  type CommitChangesRequest,
  CommitChangesResponse,
  type FilesServiceDefinition,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import type { AppliedChange } from '../store/workspace-changes.ts';
import type { FilesHandlerContext } from './context.ts';
import { deliverSoon } from './deliver-soon.ts';
import { locateToChange } from './locate.ts';
import { checkCount, workspaceMessage } from './messages.ts';
import { requestPart } from './request-parts.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'commitChanges'>;

const MAX_CONFLICTS = 1_000;

/** Changes a workspace by more changes than fit into one message. */
export function commitHandlers(context: FilesHandlerContext): Methods {
  const { clock, locate, workspaceChanges, partReceiver, deliverer, limits } = context;

  return {
    async commitChanges(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const begin = await firstOf(messages);
      const { place, lease, idempotencyKey } = begin;
      if (!lease) throw refuse('INVALID_REQUEST', 'The request must name the lease of a turn.');
      const baseVersion =
        begin.baseVersion === undefined ? undefined : checkCount(begin.baseVersion, '/base_version');
      const located = await locateToChange(locate, place, lease, call);
      return partReceiver.receive(messages, begin.parts, call.signal, async ({ parts, digest }) => {
        const now = clock.now();
        const changeRequest = {
          ...{ located, lease, baseVersion, limits, now, userId: '', upload: false, signal: call.signal },
          parts: parts.map((part) => requestPart(() => ChangePart.decode(part).changes, now)),
        };
        const key = {
          caller: located.workspaceId,
          key: idempotencyKey,
          method: 'commitChanges',
          // A runner that repeats the request may hold another lease by then.
          request: CommitBegin.encode({ ...begin, lease: undefined, idempotencyKey: '' }).raw(digest),
          now,
        };
        let hasChanges = false;
        const encodeAnswer = ({ workspace, conflicts, ...applied }: AppliedChange) => {
          hasChanges = applied.hasChanges;
          return CommitChangesResponse.encode({
            workspace: workspaceMessage(located.workspaceId, workspace, limits),
            conflicts: conflicts.slice(0, MAX_CONFLICTS),
            conflictCount: conflicts.length,
            replayed: false,
          }).finish();
        };
        const { answer, replayed } = await workspaceChanges.change(changeRequest, key, encodeAnswer, call);
        if (hasChanges && !replayed) await deliverSoon(deliverer, located);
        return { ...CommitChangesResponse.decode(answer), replayed };
      });
    },
  };
}

async function firstOf(messages: AsyncIterator<CommitChangesRequest>): Promise<CommitBegin> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'begin')
    throw refuse('INVALID_REQUEST', 'The first message of a commit must be `begin`.');
  return value.kind.value;
}
