import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { FilesServiceDefinition, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesHandlerContext } from './context.ts';
import { workspaceIdFor } from './locate.ts';
import { checkCount } from './messages.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'forkWorkspace' | 'deleteWorkspace'>;

/** Forks and deletions of workspaces, for the services that own the sessions and assistants. */
export function workspaceLifecycleHandlers({ forks, clock, receiving }: FilesHandlerContext): Methods {
  return {
    async forkWorkspace({ fromSessionId, version, toSessionId, partsOnly }, call) {
      const now = clock.now();
      const fork = {
        fromId: workspaceIdOfSession(fromSessionId),
        version: version === undefined ? undefined : checkCount(version, '/version'),
        toId: workspaceIdOfSession(toSessionId),
        sessions: { fromId: fromSessionId, toId: toSessionId },
        checkAt: new Date(now.getTime() + receiving.graceMs),
        ownerId: call.caller?.userId,
        now,
      };
      if (partsOnly) {
        await forks.shareParts(fork, call);
        return { version: 0 };
      }
      return { version: await forks.fork(fork, call) };
    },

    async deleteWorkspace({ place }, call) {
      const sessionId = place?.of?.$case === 'sessionId' ? place.of.value : undefined;
      await forks.delete({ workspaceId: workspaceIdOf(place), sessionId }, clock.now(), call);
      return {};
    },
  };
}

function workspaceIdOf(place: Place | undefined): string {
  const { of } = place ?? {};
  if (of?.$case === 'sessionId') return workspaceIdOfSession(of.value);
  if (of?.$case === 'assistantId' && isId('ast', of.value)) return workspaceIdFor(of.value);
  throw refuse('INVALID_REQUEST', 'The request must name a session or an assistant.');
}

function workspaceIdOfSession(sessionId: string): string {
  if (!isId('ses', sessionId)) throw refuse('SESSION_NOT_FOUND', `Unknown session \`${sessionId}\`.`);
  return workspaceIdFor(sessionId);
}
