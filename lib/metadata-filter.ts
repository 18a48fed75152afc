import { refuseField } from './errors.ts';

/** Each member of a filter is a condition of a statement. */
export const MAX_FILTER_MEMBERS = 5;

interface MetadataMember {
  key: string;
  value: string;
}

/** Returns the members of a filter (ahs.common.v1.MetadataFilter) by key. Refuses too many and repeated ones. */
export function checkMetadataFilter(filter: { members: MetadataMember[] } | undefined): MetadataMember[] {
  const members = filter?.members ?? [];
  if (members.length > MAX_FILTER_MEMBERS)
    throw refuseField('/metadata', `must have at most ${MAX_FILTER_MEMBERS} members`);
  if (new Set(members.map(({ key }) => key)).size < members.length)
    throw refuseField('/metadata', 'must name each key once');
  return members.toSorted((one, other) => (one.key < other.key ? -1 : 1));
}
