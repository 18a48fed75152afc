import type { Clock } from '../../../lib/clock.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Identifier } from '../identity.ts';
import type { SourceLimiter } from '../limits.ts';
import type { AuthorizationServer } from '../oidc/authorization-server.ts';
import type { LoginFlow } from '../oidc/login-flow.ts';
import type { AuditStore } from '../store/audit.ts';
import type { TokenStore } from '../store/tokens.ts';
import type { UserStore } from '../store/users.ts';

export interface AuthHandlerContext {
  identify: Identifier['identify'];
  /** Limits logins per source address. */
  sourceLimiter: SourceLimiter;
  /** Undefined in local mode. */
  logins: LoginFlow | undefined;
  /** Undefined: access tokens of the identity provider are rejected. */
  authorizationServer: AuthorizationServer | undefined;
  users: UserStore;
  tokens: TokenStore;
  audit: AuditStore;
  /** Writes an entry of the audit log before the action. */
  record: AuditRecorder;
  clock: Clock;
  ids: Ids;
  /** Clears the caches of all replicas for a changed user (by id) or an ended credential (by digest). */
  announce: (channel: 'users.changed' | 'credentials.ended', subject: string) => Promise<void>;
}
