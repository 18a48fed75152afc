/** The ids of places with which their conversations began, by the current ids. */
export type MovedPlaces = Readonly<Record<string, string>>;

/** A product has replaced the id of a place. */
export interface PlaceMove {
  from: string;
  to: string;
}

/** The id that names the conversations of a place. */
export function originalPlace(places: MovedPlaces, place: string): string {
  return (Object.hasOwn(places, place) ? places[place] : undefined) ?? place;
}

/** The id of a place at the product now. */
export function currentPlace(places: MovedPlaces, place: string): string {
  return Object.entries(places).find(([, original]) => original === place)?.[0] ?? place;
}

/** Returns the places after moves. A repeated move changes nothing. */
export function withMoves(places: MovedPlaces, moves: readonly PlaceMove[]): MovedPlaces {
  const moved: Record<string, string> = { ...places };
  for (const { from, to } of moves) if (from !== to) moved[to] = originalPlace(moved, from);
  return moved;
}
