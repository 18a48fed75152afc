import { FieldProblems } from '../../../lib/field-problems.ts';
import { PROVIDER_CHOICES, RANGES } from '../../../lib/sandboxes.ts';
import { checkAllowedHosts } from './allowed-hosts.ts';
import type { EnvironmentForm, IdleSpec, NetworkSpec, SandboxSettings } from './environment.ts';
import { checkProviderSupport } from './provider-support.ts';
import type { Runner } from './runner.ts';
import { checkVariables } from './variables.ts';

const NAME = /^[a-z0-9-]{1,64}$/;
const IMAGE = /^[A-Za-z0-9][\w.\-/:@]{0,511}$/;
const MODES = ['none', 'limited', 'unrestricted'];

/** Returns the form as it is stored: host names in lower case. */
export function normalizeEnvironment<Given extends Partial<EnvironmentForm>>(form: Given): Given {
  if (!form.network) return form;
  const allowedHosts = form.network.allowedHosts.map((host) => host.toLowerCase());
  return { ...form, network: { ...form.network, allowedHosts } };
}

/**
 * Checks a normalized form, or the fields of a patch. The combination of sandbox and network is only checked if both are
 * present. `runners` are those that report. Refused with INVALID_REQUEST or INVALID_TEXT, with details of all problems.
 */
export function checkEnvironment(form: Partial<EnvironmentForm>, runners: readonly Runner[]): void {
  const problems = new FieldProblems();
  const { name, sandbox, network, tenancy, idle, variables } = form;
  if (name !== undefined && !NAME.test(name)) {
    problems.add('/name', 'must be 1–64 of the characters a–z, 0–9 and -');
  }
  if (sandbox) checkSandbox(sandbox, problems);
  if (network) checkNetwork(network, problems);
  if (tenancy !== undefined) problems.oneOf('/tenancy', tenancy, ['session', 'agent']);
  if (idle) checkIdle(idle, problems);
  if (variables) checkVariables(variables, problems);
  if (sandbox && network) checkProviderSupport(sandbox, network, runners, problems);
  problems.throwIfAny();
}

function checkSandbox(sandbox: SandboxSettings, problems: FieldProblems): void {
  problems.oneOf('/sandbox/provider', sandbox.provider, PROVIDER_CHOICES);
  if (sandbox.image !== '' && !IMAGE.test(sandbox.image)) {
    problems.add('/sandbox/image', 'must be the name of a container image');
  }
  const numbers = {
    cpu_millis: sandbox.cpuMillis,
    memory_mib: sandbox.memoryMib,
    pids: sandbox.pids,
    disk_mib: sandbox.diskMib,
    workspace_mib: sandbox.workspaceMib,
    command_timeout_seconds: sandbox.commandTimeoutSeconds,
  };
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const value = numbers[name];
    if (value !== undefined) problems.range(`/sandbox/${name}`, value, RANGES[name].min, RANGES[name].max);
  }
}

function checkNetwork({ mode, allowedHosts }: NetworkSpec, problems: FieldProblems): void {
  problems.oneOf('/network/mode', mode, MODES);
  if (mode === 'limited') checkAllowedHosts(allowedHosts, problems);
  else if (allowedHosts.length > 0) {
    problems.add('/network/allowed_hosts', 'must be empty unless the network mode is limited');
  }
}

function checkIdle({ timeoutSeconds, action }: IdleSpec, problems: FieldProblems): void {
  const { min, max } = RANGES.idle_timeout_seconds;
  problems.range('/idle/timeout_seconds', timeoutSeconds, min, max);
  problems.oneOf('/idle/action', action, ['suspend', 'release']);
}
