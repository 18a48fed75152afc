import type { ErrorCode } from '../../lib/errors.ts';
import type { Place } from '../../proto/gen/ahs/files/v1/files.ts';

/** How a call to the service names a place. Only runners have leases. */
export interface Located {
  place: Place;
  lease: undefined;
}

/** Where files can be: each has the same routes. */
export interface FilePlace {
  /** The path of what owns the workspace, with its id in braces. */
  path: string;
  /** The name of the id in the path. */
  parameter: string;
  missing: ErrorCode;
  /** What stands in the ids of its operations. */
  noun: string;
  /** For sentences. */
  owner: string;
  of(id: string): Located;
  /** Refusals of changes alone. */
  frozen: readonly ErrorCode[];
}

const located = (of: Place['of']): Located => ({ place: { of }, lease: undefined });

export const FILE_PLACES: readonly FilePlace[] = [
  {
    path: '/sessions/{session_id}',
    parameter: 'session_id',
    missing: 'SESSION_NOT_FOUND',
    noun: 'Session',
    owner: 'a session',
    of: (value) => located({ $case: 'sessionId', value }),
    frozen: ['SESSION_ARCHIVED', 'SESSION_TERMINATED'],
  },
  {
    path: '/assistants/{assistant_id}',
    parameter: 'assistant_id',
    missing: 'ASSISTANT_NOT_FOUND',
    noun: 'Assistant',
    owner: 'an assistant',
    of: (value) => located({ $case: 'assistantId', value }),
    frozen: [],
  },
];

/** The place that a request names, from the parameters of its path. */
export const placeOf = ({ parameter, of }: FilePlace, params: unknown): Located =>
  of((params as Record<string, string>)[parameter] ?? '');
