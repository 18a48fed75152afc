import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { type MovedPlaces, type PlaceMove, withMoves } from '../domain/channels/moved-places.ts';

const LOCK = statement(
  'moved-places.lock',
  'select moved_places as "movedPlaces" from channels where deployment_id = $1 for no key update',
);

const WRITE = statement(
  'moved-places.write',
  'update channels set moved_places = $2 where deployment_id = $1',
);

/** Conversations keep their names. */
const MOVE_CONVERSATIONS = statement(
  'moved-places.conversations',
  `update conversations set place = (place::jsonb || jsonb_build_object('place', $3::text))::text
   where deployment_id = $1 and place::jsonb ->> 'place' = $2`,
);

const LEAVE_THREAD = statement(
  'moved-places.leave_thread',
  `update conversations set place = $3, place_reason = $4
   where deployment_id = $1 and conversation = $2 and place_reason is null`,
);

export type MovedPlacesStore = ReturnType<typeof createMovedPlacesStore>;

export function createMovedPlacesStore(db: Database) {
  return {
    /** The conversation keeps this place. */
    async leaveThread(
      { deploymentId, conversation }: { deploymentId: string; conversation: string },
      place: string,
      reason: string,
      { trace }: WriteOptions = {},
    ): Promise<void> {
      await db.change(LEAVE_THREAD, [deploymentId, conversation, place, reason], { trace });
    },

    /** Returns whether a move was not known before. */
    move: (
      deploymentId: string,
      moves: readonly PlaceMove[],
      { trace }: WriteOptions = {},
    ): Promise<boolean> =>
      db.transaction(
        async (tx) => {
          const [row] = await tx.rows<{ movedPlaces: string }>(LOCK, [deploymentId]);
          if (!row) return false;
          const before: MovedPlaces = JSON.parse(row.movedPlaces);
          const after = JSON.stringify(withMoves(before, moves));
          if (after === JSON.stringify(before)) return false;
          await tx.change(WRITE, [deploymentId, after]);
          for (const { from, to } of moves) await tx.change(MOVE_CONVERSATIONS, [deploymentId, from, to]);
          return true;
        },
        { trace },
      ),
  };
}
