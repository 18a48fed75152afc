/** In the order in which a compaction reaches them; the request for the summary is between the second and the third. */
export const COMPACTION_POINTS = [
  'before the files are written',
  'after the files are moved',
  'before the event',
  'after the event',
] as const;
export type CompactionPoint = (typeof COMPACTION_POINTS)[number];
