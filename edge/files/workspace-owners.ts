import type { ErrorCode } from '../../lib/error-codes.ts';
import type { Place } from '../../proto/gen/ahs/files/v1/files.ts';

/** The workspace of a call to the files service. Only runners have leases. */
export interface WorkspaceLocation {
  place: Place;
  lease: undefined;
}

/** A kind of resource that has a workspace. All kinds have the same file routes. */
export interface WorkspaceOwner {
  /** The path of the resource, with its id in braces. */
  path: string;
  /** The name of the path parameter. */
  parameter: string;
  notFound: ErrorCode;
  /** The noun in its operation ids. */
  noun: string;
  /** The noun with its article, for descriptions. */
  phrase: string;
  locationOf(id: string): WorkspaceLocation;
  /** Error codes of operations that change files. */
  changeErrors: readonly ErrorCode[];
}

const workspaceLocation = (of: Place['of']): WorkspaceLocation => ({ place: { of }, lease: undefined });

export const WORKSPACE_OWNERS: readonly WorkspaceOwner[] = [
  {
    path: '/sessions/{session_id}',
    parameter: 'session_id',
    notFound: 'SESSION_NOT_FOUND',
    noun: 'Session',
    phrase: 'a session',
    locationOf: (value) => workspaceLocation({ $case: 'sessionId', value }),
    changeErrors: ['SESSION_ARCHIVED', 'SESSION_TERMINATED'],
  },
  {
    path: '/assistants/{assistant_id}',
    parameter: 'assistant_id',
    notFound: 'ASSISTANT_NOT_FOUND',
    noun: 'Assistant',
    phrase: 'an assistant',
    locationOf: (value) => workspaceLocation({ $case: 'assistantId', value }),
    changeErrors: [],
  },
];

/** The workspace that the path parameters of a request name. */
export const locateWorkspace = (
  { parameter, locationOf: of }: WorkspaceOwner,
  params: unknown,
): WorkspaceLocation => of((params as Record<string, string>)[parameter] ?? '');
