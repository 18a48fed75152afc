import { refuse } from '../../../lib/errors.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { checkUses, journalUses, newUses } from '../domain/credential-use.ts';
import type { DecideChange } from '../store/decisions.ts';
import type { SessionsHandlerContext } from './context.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'checkLease'>;

/** About how many bytes the event of a use takes. */
const USE_BYTES = 400;

/** The RPC of the vaults service: checks the lease of a runner and journals uses of credentials. */
export function leaseHandlers({ changes, leases, clock }: SessionsHandlerContext): Methods {
  return {
    async checkLease({ lease, uses }, call) {
      checkUses(uses);
      const turn = lease && (await leases.checkedTurn(lease, call));
      if (!lease || !turn)
        throw refuse('LEASE_LOST', 'The runner no longer holds the turn under this fence.');
      const { credentialUses, ...answer } = turn;
      const added = newUses(uses, credentialUses);
      if (added.length > 0) {
        const decide: DecideChange = (state) => ({ change: journalUses(state, lease, added, clock.now()) });
        await changes.changeOptimistically(lease.sessionId, added.length * USE_BYTES, decide, call);
      }
      return answer;
    },
  };
}
