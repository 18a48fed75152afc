import type { Clock } from '../../../lib/clock.ts';
import type { Recorder } from '../../../lib/grpc/recorder.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Identities } from '../identity.ts';
import type { Sources } from '../limits.ts';
import type { Logins } from '../oidc/logins.ts';
import type { ActStore } from '../store/acts.ts';
import type { TokenStore } from '../store/tokens.ts';
import type { UserStore } from '../store/users.ts';

export interface HandlerContext {
  identify: Identities['identify'];
  /** Holds back where too many logins come from. */
  sources: Sources;
  /** Undefined in local mode. */
  logins: Logins | undefined;
  users: UserStore;
  tokens: TokenStore;
  acts: ActStore;
  /** Writes down what is about to be done. */
  record: Recorder;
  clock: Clock;
  ids: Ids;
  /** Tells every replica that a user (its id) is not what it was, or that a credential (its digest) is worth nothing. */
  announce: (channel: 'users.changed' | 'credentials.ended', subject: string) => Promise<void>;
}
