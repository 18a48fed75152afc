import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { FilesServiceDefinition, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { FilesHandlerContext } from './context.ts';
import { workspaceIdFor } from './locate.ts';
import { checkCount } from './messages.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'forkWorkspace' | 'deleteWorkspace'>;

/** Forks and deletions of workspaces, for the services that own the sessions and assistants. */
export function workspaceLifecycleHandlers({ forks, clock }: FilesHandlerContext): Methods {
  return {
    async forkWorkspace({ fromSessionId, version, toSessionId }, call) {
      const fork = {
        fromId: workspaceIdOfSession(fromSessionId),
        version: version === undefined ? undefined : checkCount(version, '/version'),
        toId: workspaceIdOfSession(toSessionId),
        ownerId: call.caller?.userId,
        now: clock.now(),
      };
      return { version: await forks.fork(fork, call) };
    },

    async deleteWorkspace({ place }, call) {
      await forks.delete(workspaceIdOf(place), clock.now(), call);
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
