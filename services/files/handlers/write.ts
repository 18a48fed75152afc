import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import {
  ChangeWorkspaceRequest,
  ChangeWorkspaceResponse,
  type ContentsPlace,
  type FilesServiceDefinition,
  type WriteContentsRequest,
} from '../../../proto/gen/ahs/files/v1/files.ts';
import { ContentReceiver } from '../content-receiver.ts';
import type { AppliedChange } from '../store/workspace-changes.ts';
import { withUploadDeadline } from '../upload-deadline.ts';
import { incomingContents } from '../upload-messages.ts';
import type { FilesHandlerContext } from './context.ts';
import { deliverSoon } from './deliver-soon.ts';
import { locateToChange } from './locate.ts';
import { checkCount, treeEntryMessage, workspaceMessage } from './messages.ts';
import { checkChanges, requestPart } from './request-parts.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'writeContents' | 'changeWorkspace'>;

const MAX_CHANGES = 100_000;

/** Changing a workspace takes two calls: WriteContents stores the bytes, and ChangeWorkspace names them. */
export function writeHandlers(context: FilesHandlerContext): Methods {
  const { clock, locate, workspaceChanges, deliverer, limits, receiving } = context;

  return {
    async writeContents(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const { place, lease } = await firstOf(messages);
      const { ownerId } = await locateToChange(locate, place, lease, call);
      const contents = await withUploadDeadline(receiving, call.signal, (signal) =>
        new ContentReceiver(receiving, ownerId, signal).receive(incomingContents(messages, signal)),
      );
      return { contents };
    },

    async changeWorkspace(request, call) {
      const { place, lease, changes, idempotencyKey } = request;
      const baseVersion =
        request.baseVersion === undefined ? undefined : checkCount(request.baseVersion, '/base_version');
      checkChanges(changes, MAX_CHANGES);
      const located = await locateToChange(locate, place, lease, call);
      const now = clock.now();
      const userId = lease ? '' : (call.caller?.userId ?? '');
      const changeRequest = {
        located,
        lease,
        baseVersion,
        parts: [requestPart(() => changes, now)],
        userId,
        upload: userId !== '' && request.upload === true,
        limits,
        now,
        signal: call.signal,
      };
      const key = {
        caller: userId || located.workspaceId,
        key: idempotencyKey,
        method: 'changeWorkspace',
        // A runner that repeats the request may hold another lease by then.
        request: ChangeWorkspaceRequest.encode({ ...request, lease: undefined, idempotencyKey: '' }),
        now,
      };
      let hasChanges = false;
      const encodeAnswer = (applied: AppliedChange) => {
        hasChanges = applied.hasChanges;
        return ChangeWorkspaceResponse.encode({
          workspace: workspaceMessage(located.workspaceId, applied.workspace, limits),
          entries: applied.entries.map(treeEntryMessage),
          conflicts: applied.conflicts,
          replayed: false,
        }).finish();
      };
      const { answer, replayed } = await workspaceChanges.change(changeRequest, key, encodeAnswer, call);
      if (hasChanges && !replayed) await deliverSoon(deliverer, located);
      return { ...ChangeWorkspaceResponse.decode(answer), replayed };
    },
  };
}

async function firstOf(messages: AsyncIterator<WriteContentsRequest>): Promise<ContentsPlace> {
  const { done, value } = await messages.next();
  if (done || value.kind?.$case !== 'place')
    throw refuse('INVALID_REQUEST', 'The first message of an upload must be `place`.');
  return value.kind.value;
}
