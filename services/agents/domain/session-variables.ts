import { type EgressState, variableEgress } from '../../../lib/egress/session-egress.ts';
import type { EnvironmentSpec } from './environment.ts';

/** A variable of a vault, as the vaults service describes it. */
interface DescribedVariable {
  name: string;
  /** The hosts of the credential. */
  hosts: string[];
  /** ready | refused | disabled | vault_sealed */
  state: string;
  reason: string;
}

/** A variable as the sessions of an agent show it. */
interface SessionVariable {
  name: string;
  /** The hosts that can get the value if the state is ready, else those of the credential. */
  hosts: string[];
  state: EgressState;
  reason: string;
}

/** Returns the state of each variable in an environment. Without an environment, no sandbox can use one. */
export function sessionVariables(
  described: readonly DescribedVariable[],
  spec: EnvironmentSpec | undefined,
): SessionVariable[] {
  const { mode: networkMode = 'none', allowedHosts = [] } = spec?.network ?? {};
  const environment = { networkMode, allowedHosts, variables: Object.keys(spec?.variables ?? {}) };
  return described.map((variable) => {
    const { state, reason, hosts } = variableEgress(variable, environment);
    return { name: variable.name, hosts: state === 'ready' ? hosts : variable.hosts, state, reason };
  });
}
