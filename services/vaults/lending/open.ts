import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Client } from '../../../lib/grpc/contract.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { SessionsServiceDefinition } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { SecretOpener } from '../oauth/fresh-secrets.ts';
import type { LendableStore } from '../store/lendable-credentials.ts';
import type { LendingStore } from '../store/lendings.ts';
import type { TokenRefreshStore } from '../store/token-refreshes.ts';
import { createAgentLookups } from './agent-lookups.ts';
import { createLendingAudit } from './audit.ts';
import { createLender, type Lender } from './lender.ts';
import { createServerRefusals } from './server-refusals.ts';
import { createSessionCredentials, type SessionCredentials } from './session-credentials.ts';
import { createTurnAccess } from './turn-access.ts';
import { createTurnCredentials } from './turn-credentials.ts';
import { createUseRecorder } from './use-recorder.ts';

interface LendingOptions extends Pick<ServiceContext, 'bus' | 'clock' | 'log'> {
  lendables: LendableStore;
  lendings: LendingStore;
  agents: Pick<Client<AgentsServiceDefinition>, 'getAgentVersion' | 'lookUpMcpServers'>;
  sessions: Pick<Client<SessionsServiceDefinition>, 'checkLease'>;
  record: AuditRecorder;
  keys: Pick<VaultKeys, 'open' | 'canOpen' | 'placeholder'>;
  tokens: TokenRefreshStore;
  opener: SecretOpener;
  publishHint: (credentialId: string) => void;
}

interface OpenLending {
  lender: Lender;
  sessionCredentials: SessionCredentials;
  stop(): Promise<void>;
}

/** A lending is recorded again in a turn that uses the credential after this time. */
const KEPT_MS = 24 * 60 * 60_000;
const TRIM_INTERVAL_MS = 60 * 60_000;

/** Opens the lending of credentials to turns. */
export function openLending(options: LendingOptions): OpenLending {
  const { lendings, agents, sessions, bus, clock, log } = options;
  const lookups = createAgentLookups(agents, bus, clock);
  const audit = createLendingAudit(options);
  const access = createTurnAccess({ sessions, lookups, audit });
  const credentials = createTurnCredentials(options.lendables, options.opener);
  const refusals = createServerRefusals({ ...options, credentials, audit });
  const recorder = createUseRecorder({ sessions, lendings, audit, clock });
  const trimming = startPeriodicTask({
    clock,
    everyMs: TRIM_INTERVAL_MS,
    work: () => lendings.trim(new Date(clock.now().getTime() - KEPT_MS)),
    onFailure: (error) => log.warn({ err: error }, 'old lendings of credentials could not be removed'),
  });
  return {
    lender: createLender({ ...options, access, credentials, recorder, audit, refusals }),
    sessionCredentials: createSessionCredentials({ ...options, access, credentials }),
    async stop() {
      lookups.close();
      await trimming.stop();
    },
  };
}
