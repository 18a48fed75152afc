/** A row of the invocation log: one accepted request, or one or more refused requests. */
export interface Invocation {
  invocationId: string;
  createdAt: Date | undefined;
  result: 'accepted' | 'refused';
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
  sessionId: string;
  count: number;
  /** req_…; empty for a row of an older release. */
  requestId: string;
}

/** A row of refused requests that has not been written yet. */
export interface RefusalRow {
  deploymentId: string;
  invocationId: string;
  /** The invocation id; or minute and reason when the row stands for several requests. */
  slot: string;
  reason: string;
  count: number;
  /** Body size, address and request id are those of the first request of the row. */
  bodyBytes: number;
  sourceAddress: string;
  requestId: string;
  createdAt: Date;
}

/** Merges accepted and refused invocations, each newest first. */
export function mergeNewestFirst(accepted: Invocation[], refused: Invocation[]): Invocation[] {
  return [...accepted, ...refused].sort((a, b) => (a.invocationId < b.invocationId ? 1 : -1));
}
