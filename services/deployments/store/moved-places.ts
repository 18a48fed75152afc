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

export type MovedPlacesStore = ReturnType<typeof createMovedPlacesStore>;

export function createMovedPlacesStore(db: Database) {
  return {
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
