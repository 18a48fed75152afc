import type { Bus } from '../../../lib/bus/bus.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { PlaceMove } from '../domain/channels/moved-places.ts';
import type { MovedPlacesStore } from '../store/moved-places.ts';

export type MovePlaces = ReturnType<typeof createMovePlaces>;

/** Returns the function that stores that places have got other ids, so that their conversations go on. */
export function createMovePlaces(store: MovedPlacesStore, bus: Bus) {
  return async (
    deploymentId: string,
    moves: readonly PlaceMove[],
    { trace }: Pick<Call, 'trace'>,
  ): Promise<void> => {
    if (moves.length === 0 || !(await store.move(deploymentId, moves, { trace }))) return;
    bus.publish('channels.changed', deploymentId);
  };
}
