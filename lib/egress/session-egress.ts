import { sharedHosts } from './shared-hosts.ts';

/** The settings of a session's environment that decide which credentials its sandbox can use. */
export interface EgressEnvironment {
  /** none | limited | unrestricted */
  networkMode: string;
  allowedHosts: readonly string[];
  /** The names of the variables that the environment sets. */
  variables: readonly string[];
}

export type EgressState =
  | 'ready'
  | 'conflict'
  | 'network_not_limited'
  | 'host_not_allowed'
  | 'refused'
  | 'disabled'
  | 'vault_sealed';

/** A credential of a vault as the vaults service describes it. */
interface DescribedCredential {
  /** ready | refused | disabled | vault_sealed */
  state: string;
  /** For people. Empty: ready. */
  reason: string;
}

/** The use of a credential in a session. */
export interface SessionEgress {
  state: EgressState;
  /** For people. Empty: ready. */
  reason: string;
  /** The hosts that can get the credential. Empty unless the state is ready. */
  hosts: string[];
}

/** Returns whether the sandbox of a session can use a credential that its proxy attaches to requests to a host. */
export function hostEgress(
  { host, ...credential }: DescribedCredential & { host: string },
  environment: EgressEnvironment,
): SessionEgress {
  return credentialEgress(credential, [host], environment);
}

/** Returns whether the sandbox of a session gets a variable. A variable that the environment sets keeps that value. */
export function variableEgress(
  { name, hosts, ...credential }: DescribedCredential & { name: string; hosts: readonly string[] },
  environment: EgressEnvironment,
): SessionEgress {
  return environment.variables.includes(name)
    ? { state: 'conflict', reason: 'The environment sets this variable. Its value counts.', hosts: [] }
    : credentialEgress(credential, hosts, environment);
}

/** The environment is checked first, because the session cannot use the credential in any state without it. */
function credentialEgress(
  { state, reason }: DescribedCredential,
  hosts: readonly string[],
  { networkMode, allowedHosts }: EgressEnvironment,
): SessionEgress {
  if (networkMode !== 'limited')
    return {
      state: 'network_not_limited',
      reason: `The network mode of the environment is ${networkMode}. Credentials need the mode limited.`,
      hosts: [],
    };
  const usable = sharedHosts(hosts, allowedHosts);
  if (usable.length === 0)
    return {
      state: 'host_not_allowed',
      reason: `The environment does not allow ${hosts.join(', ')}.`,
      hosts: [],
    };
  if (state === 'ready') return { state, reason: '', hosts: usable };
  return { state: isUnusable(state) ? state : 'disabled', reason, hosts: [] };
}

function isUnusable(state: string): state is 'refused' | 'disabled' | 'vault_sealed' {
  return state === 'refused' || state === 'disabled' || state === 'vault_sealed';
}
