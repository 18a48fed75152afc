import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { RecordActsRequest } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** As much of auth as writes acts down. */
export class Ledger {
  /** `<who> <action> <to what>` of each, oldest first. */
  readonly acts: string[] = [];
  /** Nothing can be written down. */
  isClosed = false;

  readonly recordActs = async ({ acts }: RecordActsRequest, { caller }: CallOptions = {}) => {
    if (this.isClosed) throw new Error('the ledger is closed');
    for (const { action, targetId } of acts) this.acts.push(`${caller?.userId} ${action} ${targetId}`);
    return {};
  };

  /** Takes out what has been written down. */
  take(): string[] {
    return this.acts.splice(0);
  }
}
