import type { Clock } from '../../../lib/clock.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { type CredentialSource, type MissingCredential, missingFor } from '../domain/lending.ts';
import { scopesIn, unionOfScopes } from '../domain/oauth.ts';
import { challengeMember } from '../oauth/resource-metadata.ts';
import type { StoredLendable } from '../store/lendable-credentials.ts';
import type { LendingStore } from '../store/lendings.ts';
import type { TokenRefreshStore } from '../store/token-refreshes.ts';
import type { LendingAudit, TurnOrigin } from './audit.ts';
import type { TurnCredentials } from './turn-credentials.ts';

interface ServerRefusalsContext {
  credentials: Pick<TurnCredentials, 'refresh'>;
  lendings: Pick<LendingStore, 'markRefused'>;
  tokens: Pick<TokenRefreshStore, 'demandScopes'>;
  audit: Pick<LendingAudit, 'recordServerRefusal'>;
  /** Tells other processes that a credential has changed. */
  publishHint: (credentialId: string) => void;
  clock: Clock;
}

/** A current credential that its server has refused. */
interface RefusedCredential {
  credential: StoredLendable;
  source: CredentialSource;
  host: string;
  /** A program in a sandbox sent the request. It can cause a 401 with a valid credential. */
  isOfSandbox: boolean;
}

/** The answer of the server. */
interface ServerAnswer {
  status: number;
  /** Empty: none. */
  wwwAuthenticate: string;
}

const UNAUTHORIZED = 401;
/** A server that refuses a token of this age refuses every new one too. It also bounds the refreshes that sandboxes cause. */
const FRESH_TOKEN_MS = 60_000;

export type ServerRefusals = ReturnType<typeof createServerRefusals>;

/** Decides what a server's refusal means for a credential. */
export function createServerRefusals(context: ServerRefusalsContext) {
  const { credentials, lendings, tokens, audit, publishHint, clock } = context;

  /** A token can be refused before its end. The server then gets one newer token. */
  function isTokenOld({ publicMembers, lastRefreshedAt }: StoredLendable): boolean {
    if (publicMembers?.$case !== 'oauth') return false;
    return clock.now().getTime() - (lastRefreshedAt?.getTime() ?? 0) >= FRESH_TOKEN_MS;
  }

  return {
    /** Returns what is missing; undefined if the credential has another secret now. */
    async handle(
      { credential, source, host, isOfSandbox }: RefusedCredential,
      { status, wwwAuthenticate }: ServerAnswer,
      origin: TurnOrigin,
      call: Call,
    ): Promise<MissingCredential | undefined> {
      const { credentialId, scopes } = credential;
      const missing = (reason: MissingCredential['reason']) => missingFor(reason, credential, source);
      if (status !== UNAUTHORIZED) {
        if (challengeMember(wwwAuthenticate, 'error') !== 'insufficient_scope') return missing('refused');
        const demanded = unionOfScopes(scopes, scopesIn(challengeMember(wwwAuthenticate, 'scope') ?? ''));
        const isNoted =
          source === 'shared' || (await tokens.demandScopes(credentialId, demanded, clock.now(), call));
        return isNoted ? { ...missing('scope'), scopes: demanded } : missing('refused');
      }
      if (isTokenOld(credential)) {
        const outcome = await credentials.refresh(credential, call);
        if (outcome === 'refreshed') return undefined;
        return missing(outcome === 'ended' ? 'expired' : 'unavailable');
      }
      await audit.recordServerRefusal({ ...credential, host }, origin, call);
      if (isOfSandbox) return missing('refused');
      const reason = `${host} refused the credential with status ${status}.`;
      // Otherwise the credential has changed meanwhile.
      if (!(await lendings.markRefused(credential, reason, clock.now(), call))) return undefined;
      publishHint(credentialId);
      return missing('refused');
    },
  };
}
