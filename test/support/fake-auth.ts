import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { ListDisabledUsersRequest, RecordActsRequest } from '../../proto/gen/ahs/auth/v1/auth.ts';

/** Fake of the auth service: records audited acts and knows which users are disabled. */
export class FakeAuth {
  /** `<user id> <action> <target id>` of each recorded act, oldest first. */
  readonly acts: string[] = [];
  /** The data of all recorded acts, oldest first. */
  readonly data: unknown[] = [];
  readonly disabledUserIds = new Set<string>();
  /** RecordActs fails. */
  failsToRecord = false;

  readonly recordActs = async ({ acts }: RecordActsRequest, { caller }: CallOptions = {}) => {
    if (this.failsToRecord) throw new Error('recording acts fails');
    for (const { action, targetId, dataJson } of acts) {
      this.acts.push(`${caller?.userId} ${action} ${targetId}`);
      this.data.push(JSON.parse(dataJson || '{}'));
    }
    return {};
  };

  readonly listDisabledUsers = async ({ userIds }: ListDisabledUsersRequest) => ({
    userIds: userIds.filter((userId) => this.disabledUserIds.has(userId)),
  });

  /** Returns the recorded acts and clears them. */
  takeActs(): string[] {
    return this.acts.splice(0);
  }
}
