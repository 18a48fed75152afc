import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { ListDisabledUsersRequest, RecordActsRequest } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** As much of auth as writes acts down, and knows who is disabled. */
export class Ledger {
  /** `<who> <action> <to what>` of each, oldest first. */
  readonly acts: string[] = [];
  /** Who is disabled. */
  readonly disabled = new Set<string>();
  /** Nothing can be written down. */
  isClosed = false;

  readonly recordActs = async ({ acts }: RecordActsRequest, { caller }: CallOptions = {}) => {
    if (this.isClosed) throw new Error('the ledger is closed');
    for (const { action, targetId } of acts) this.acts.push(`${caller?.userId} ${action} ${targetId}`);
    return {};
  };

  readonly listDisabledUsers = async ({ userIds }: ListDisabledUsersRequest) => ({
    userIds: userIds.filter((userId) => this.disabled.has(userId)),
  });

  /** Takes out what has been written down. */
  take(): string[] {
    return this.acts.splice(0);
  }
}
