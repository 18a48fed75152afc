import type { Bus } from '../../../lib/bus/bus.ts';
import { type Clock, wait } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Log } from '../../../lib/log.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { Credential } from '../domain/credential.ts';
import type { OAuthMembers, TokenGrant } from '../domain/oauth.ts';
import type { CredentialSealer } from '../sealing.ts';
import type { TokenRefreshStore } from '../store/token-refreshes.ts';
import { TokenError } from './token-error.ts';
import type { TokenRequests } from './token-requests.ts';

interface TokenRefresherContext {
  store: TokenRefreshStore;
  requests: Pick<TokenRequests, 'refresh' | 'clientCredentials'>;
  sealer: CredentialSealer;
  record: AuditRecorder;
  bus: Pick<Bus, 'subscribe'>;
  publishHint: (credentialId: string) => void;
  clock: Clock;
  log: Log;
}

/** A credential whose access token is refreshed, with its opened secret. */
export interface RefreshableCredential {
  credential: Credential;
  oauth: OAuthMembers;
  secrets: Readonly<Record<string, Secret>>;
}

/**
 * `refreshed`: the credential has a newer secret. `ended`: it needs a new authorization. `unavailable`: the issuer gave no
 * token now.
 */
export type RefreshOutcome = 'refreshed' | 'ended' | 'unavailable';

/** A replica that has not stored its result within this time has ended. */
const CLAIM_MS = 20_000;
/** All attempts of one claim end in this time, which leaves time to store the result. */
const ATTEMPTS_MS = 15_000;
const ATTEMPTS = 3;
const RETRY_MS = [500, 2_000];
/** How long a replica waits for the result of another one. */
const WAIT_MS = 15_000;
const POLL_MS = 250;

export type TokenRefresher = ReturnType<typeof createTokenRefresher>;

/** Refreshes access tokens. At most one replica at a time asks the issuer for a credential. */
export function createTokenRefresher(context: TokenRefresherContext) {
  const { store, requests, sealer, record, bus, publishHint, clock, log } = context;
  const running = new Map<string, Promise<RefreshOutcome>>();

  async function request({ credential, oauth, secrets }: RefreshableCredential): Promise<TokenGrant> {
    const client = { ...oauth, clientSecret: secrets.client_secret };
    const limit = new AbortController();
    const cancel = clock.after(ATTEMPTS_MS, () => limit.abort());
    const { refresh_token: refreshToken } = secrets;
    const send = () => {
      if (credential.type === 'oauth2_client') return requests.clientCredentials(client, limit.signal);
      if (refreshToken) return requests.refresh(client, refreshToken, limit.signal);
      throw new TokenError('invalid_grant', 'The issuer gave no refresh token.');
    };
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          return await send();
        } catch (error) {
          const isLast = attempt === ATTEMPTS || limit.signal.aborted;
          if (!(error instanceof TokenError) || error.problem !== 'unavailable' || isLast) throw error;
          await wait(clock, RETRY_MS[attempt - 1] ?? 0, limit.signal);
        }
      }
    } finally {
      cancel();
    }
  }

  /** Stores a grant. The old refresh token stays if the issuer gave no other one. */
  async function storeGrant(
    { credential, secrets }: RefreshableCredential,
    grant: TokenGrant,
    call: CallOptions,
  ): Promise<RefreshOutcome> {
    const { accessToken, refreshToken = secrets.refresh_token, scopes = credential.scopes } = grant;
    const members = {
      access_token: accessToken,
      ...(refreshToken && { refresh_token: refreshToken }),
      ...(secrets.client_secret && { client_secret: secrets.client_secret }),
    };
    const described = refreshToken ?? secrets.client_secret ?? accessToken;
    const owner = { ...credential, generation: credential.generation + 1 };
    for (;;) {
      const secret = await sealer.seal(owner, { members, described });
      const token = { secret, scopes, expiresAt: grant.expiresAt };
      const result = await store.complete(credential, token, clock.now(), withoutSignal(call));
      if (result === 'data_key_ended') continue;
      publishHint(credential.credentialId);
      return 'refreshed';
    }
  }

  /** Refreshes a claimed credential. */
  async function refreshClaimed(
    refreshable: RefreshableCredential,
    wasLeft: boolean,
    call: CallOptions,
  ): Promise<RefreshOutcome> {
    const { credential } = refreshable;
    const { credentialId, vaultId } = credential;
    const options = withoutSignal(call);
    const entry = {
      action: 'credential.refresh',
      targetId: credentialId,
      data: { vault_id: vaultId },
    } as const;
    try {
      await record(entry, options);
      const grant = await request(refreshable);
      return await storeGrant(refreshable, grant, call);
    } catch (error) {
      if (!(error instanceof TokenError) || error.problem === 'unavailable') {
        await store.delay(credential, clock.now(), options);
        if (error instanceof TokenError) {
          log.warn({ credential_id: credentialId, reason: error.message }, 'a token could not be refreshed');
          return 'unavailable';
        }
        throw error;
      }
      const isLost = wasLeft && error.problem === 'invalid_grant';
      const reason = isLost ? REFRESH_LOST : error.message;
      if (await store.end(credential, reason, clock.now(), options)) {
        publishHint(credentialId);
        const data = { ...entry.data, reason: error.problem };
        await record({ ...entry, outcome: 'refused', data }, options).catch((failure: unknown) =>
          log.warn({ err: failure }, 'a refused refresh of a token was not audited'),
        );
        return 'ended';
      }
      return 'refreshed';
    }
  }

  /** Waits for the replica that has the claim. Returns undefined if it has ended without a result. */
  async function waitForOther({ credentialId, generation }: Credential): Promise<RefreshOutcome | undefined> {
    const deadline = clock.now().getTime() + WAIT_MS;
    let changed = new AbortController();
    const unsubscribe = bus.subscribe('credentials.changed', (id) => {
      if (id === credentialId) changed.abort();
    });
    try {
      for (;;) {
        const state = await store.state(credentialId, clock.now());
        if (!state || state.status === 'needs_connection') return 'ended';
        if (state.generation > generation) return 'refreshed';
        if (state.isDelayed) return 'unavailable';
        if (!state.isClaimed) return undefined;
        if (clock.now().getTime() >= deadline) return 'unavailable';
        await wait(clock, POLL_MS, changed.signal);
        changed = new AbortController();
      }
    } finally {
      unsubscribe();
    }
  }

  async function refreshOnce(refreshable: RefreshableCredential, call: CallOptions): Promise<RefreshOutcome> {
    const { credential } = refreshable;
    for (;;) {
      const now = clock.now();
      const until = new Date(now.getTime() + CLAIM_MS);
      const claim = await store.claim(credential, now, until, withoutSignal(call));
      if (claim) return refreshClaimed(refreshable, claim.wasLeft, call);
      const outcome = await waitForOther(credential);
      if (outcome) return outcome;
    }
  }

  return {
    /**
     * Replaces the access token of a credential. Concurrent calls for one generation share one request to the issuer, in all
     * replicas. Rejects if the refresh cannot be audited or stored.
     */
    refresh(refreshable: RefreshableCredential, call: CallOptions): Promise<RefreshOutcome> {
      const { credentialId, generation } = refreshable.credential;
      const key = `${credentialId} ${generation}`;
      const known = running.get(key);
      if (known !== undefined) return known;
      const started = refreshOnce(refreshable, call).finally(() => running.delete(key));
      running.set(key, started);
      return started;
    },
  };
}

const REFRESH_LOST = 'refresh_lost: the process that refreshed the token ended before it stored the new one.';

/** Other calls wait for the same refresh, so it does not end with the call that began it. */
function withoutSignal({ trace, requestId, caller }: CallOptions): CallOptions {
  return { trace, requestId, caller };
}
