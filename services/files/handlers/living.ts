import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { FilesServiceDefinition, Place } from '../../../proto/gen/ahs/files/v1/files.ts';
import type { HandlerContext } from './context.ts';
import { workspaceOf } from './places.ts';
import { countShape } from './shapes.ts';

type Methods = Pick<Handlers<FilesServiceDefinition>, 'forkWorkspace' | 'deleteWorkspace'>;

/** How workspaces come and go. The services ask for it that know whose they are. */
export function livingHandlers({ forks, clock }: HandlerContext): Methods {
  return {
    async forkWorkspace({ fromSessionId, version, toSessionId }, call) {
      const fork = {
        fromId: ofSession(fromSessionId),
        version: version === undefined ? undefined : countShape(version, '/version'),
        toId: ofSession(toSessionId),
        ownerId: call.caller?.userId,
        now: clock.now(),
      };
      return { version: await forks.fork(fork, call) };
    },

    async deleteWorkspace({ place }, call) {
      await forks.delete(placeOf(place), clock.now(), call);
      return {};
    },
  };
}

function placeOf(place: Place | undefined): string {
  const { of } = place ?? {};
  if (of?.$case === 'sessionId') return ofSession(of.value);
  if (of?.$case === 'assistantId' && isId('ast', of.value)) return workspaceOf(of.value);
  throw refuse('INVALID_REQUEST', 'the request says of no workspace');
}

function ofSession(sessionId: string): string {
  if (!isId('ses', sessionId)) throw refuse('SESSION_NOT_FOUND', 'there is no such session');
  return workspaceOf(sessionId);
}
