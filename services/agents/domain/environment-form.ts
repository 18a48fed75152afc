import { PROVIDER_CHOICES, RANGES } from '../../../lib/sandboxes.ts';
import { checkAllowedHosts } from './allowed-hosts.ts';
import type { EnvironmentForm, IdleSpec, NetworkSpec, SandboxSpec } from './environment.ts';
import { Problems } from './problems.ts';
import { checkKept } from './providers.ts';
import { checkVariables } from './variables.ts';

const NAME = /^[a-z0-9-]{1,64}$/;
const IMAGE = /^[A-Za-z0-9][\w.\-/:@]{0,511}$/;
const MODES = ['none', 'limited', 'unrestricted'];

/** The form as it is stored: hosts are the same in whatever case they are written. */
export function tidyEnvironment<Given extends Partial<EnvironmentForm>>(form: Given): Given {
  if (!form.network) return form;
  const allowedHosts = form.network.allowedHosts.map((host) => host.toLowerCase());
  return { ...form, network: { ...form.network, allowedHosts } };
}

/**
 * Refuses a tidied form, or the part of one that a change brings, and names everything that is wrong with it. What
 * parts ask for together is looked at where sandbox and network are both given.
 */
export function checkEnvironment(form: Partial<EnvironmentForm>): void {
  const problems = new Problems();
  const { name, sandbox, network, tenancy, idle, variables } = form;
  if (name !== undefined && !NAME.test(name)) {
    problems.add('/name', 'must be 1–64 of the characters a–z, 0–9 and -');
  }
  if (sandbox) checkSandbox(sandbox, problems);
  if (network) checkNetwork(network, problems);
  if (tenancy !== undefined) problems.oneOf('/tenancy', tenancy, ['session', 'agent']);
  if (idle) checkIdle(idle, problems);
  if (variables) checkVariables(variables, problems);
  if (sandbox && network) checkKept(sandbox, network, problems);
  problems.settle();
}

function checkSandbox(sandbox: SandboxSpec, problems: Problems): void {
  problems.oneOf('/sandbox/provider', sandbox.provider, PROVIDER_CHOICES);
  if (sandbox.image !== '' && !IMAGE.test(sandbox.image)) {
    problems.add('/sandbox/image', 'must be the name of a container image');
  }
  const numbers = {
    cpu_millis: sandbox.cpuMillis,
    memory_mib: sandbox.memoryMib,
    pids: sandbox.pids,
    disk_mib: sandbox.diskMib,
    command_timeout_seconds: sandbox.commandTimeoutSeconds,
  };
  for (const name of Object.keys(numbers) as (keyof typeof numbers)[]) {
    const value = numbers[name];
    if (value !== undefined) problems.range(`/sandbox/${name}`, value, RANGES[name].min, RANGES[name].max);
  }
}

function checkNetwork({ mode, allowedHosts }: NetworkSpec, problems: Problems): void {
  problems.oneOf('/network/mode', mode, MODES);
  if (mode === 'limited') checkAllowedHosts(allowedHosts, problems);
  else if (allowedHosts.length > 0) {
    problems.add('/network/allowed_hosts', 'can only be given with the network mode limited');
  }
}

function checkIdle({ timeoutSeconds, action }: IdleSpec, problems: Problems): void {
  const { min, max } = RANGES.idle_timeout_seconds;
  problems.range('/idle/timeout_seconds', timeoutSeconds, min, max);
  problems.oneOf('/idle/action', action, ['suspend', 'release']);
}
