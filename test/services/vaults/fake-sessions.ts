import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type {
  CheckLeaseResponse,
  Lease,
  SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { AGENT } from './fake-targets.ts';

export const OWNER = 'usr_01M7XYC91CC5TE06JQWDWRTJVA';

let turns = 0;

/** Fake of the sessions service: leases of turns and the uses of credentials that were journaled. */
export class FakeSessions {
  /** `<turn id> <credential id> <host>` of each journaled use, oldest first. */
  readonly uses: string[] = [];
  /** `<user id> <server id>` of each server to which a user has connected. */
  readonly resolved: string[] = [];
  /** CheckLease fails when it has uses to journal. */
  failsToJournal = false;
  /** CheckLease fails. */
  isDown = false;
  /** Runs before a use is journaled. */
  beforeJournal: () => void = () => {};
  readonly #turns = new Map<string, CheckLeaseResponse & { fence: number }>();

  /** Begins a turn of a new agent version. */
  lease(turn: Partial<CheckLeaseResponse> = {}): Lease {
    turns += 1;
    const number = String(turns).padStart(26, '0');
    const lease = { sessionId: `ses_${number}`, turnId: `trn_${number}`, fence: 1 };
    const started = {
      ownerId: OWNER,
      agentId: AGENT,
      agentVersion: turns,
      deploymentId: '',
      triggered: false,
      ...turn,
    };
    this.#turns.set(`${lease.sessionId} ${lease.turnId}`, { ...started, fence: lease.fence });
    return lease;
  }

  end({ sessionId, turnId }: Lease): void {
    this.#turns.delete(`${sessionId} ${turnId}`);
  }

  readonly handlers: Partial<Handlers<SessionsServiceDefinition>> = {
    resolveAuthorizations: async ({ userId, mcpServerId }) => {
      this.resolved.push(`${userId} ${mcpServerId}`);
      return { resolved: 1 };
    },
    checkLease: async ({ lease, uses }) => {
      if (this.isDown) throw refuse('DEPENDENCY_UNAVAILABLE', 'The sessions service is down.');
      const turn = this.#turns.get(`${lease?.sessionId} ${lease?.turnId}`);
      if (!turn || turn.fence !== lease?.fence) throw refuse('LEASE_LOST', 'The lease is lost.');
      if (uses.length > 0) this.beforeJournal();
      if (uses.length > 0 && this.failsToJournal)
        throw refuse('DEPENDENCY_UNAVAILABLE', 'The journal cannot be written.');
      for (const { credentialId, host } of uses) {
        const use = `${lease.turnId} ${credentialId} ${host}`;
        if (!this.uses.includes(use)) this.uses.push(use);
      }
      const { fence: _, ...answer } = turn;
      return answer;
    },
  };
}
