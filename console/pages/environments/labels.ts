import type { Environment } from '../../gen/types.gen.ts';
import { type DisplayedField, objectText } from '../../parts/diff/fields.ts';
import type { EnvironmentBody } from './draft.ts';

type LabelledValues<Value extends string> = readonly { value: Value; text: string; about: string }[];

export type SandboxProviderName = Environment['sandbox']['provider'];
export type NetworkMode = Environment['network']['mode'];

export const PROVIDER_LABELS: LabelledValues<SandboxProviderName> = [
  { value: 'auto', text: 'Automatic', about: 'The provider with the strongest isolation on the runner.' },
  { value: 'simulated', text: 'Simulated', about: 'A simulated shell that starts no programs.' },
  { value: 'bubblewrap', text: 'Bubblewrap', about: "Programs of the runner's machine in Linux namespaces." },
  { value: 'docker', text: 'Docker', about: 'A container on a Docker engine.' },
  { value: 'kubernetes', text: 'Kubernetes', about: 'A pod in a Kubernetes cluster.' },
];

export const NETWORK_LABELS: LabelledValues<NetworkMode> = [
  { value: 'none', text: 'None', about: 'Commands have no network access.' },
  { value: 'limited', text: 'Limited', about: 'Commands can reach only the allowed hosts.' },
  {
    value: 'unrestricted',
    text: 'Unrestricted',
    about: 'Commands can reach every host that the runner can reach.',
  },
];

/** Settings that this release supports. The service rejects others. */
export const SUPPORTED: {
  providers: readonly SandboxProviderName[];
  networks: readonly NetworkMode[];
  images: boolean;
} = {
  providers: ['auto', 'simulated', 'bubblewrap'],
  networks: ['none', 'limited'],
  images: false,
};

/** Returns the supported values and the saved value. */
export function selectableValues<Value extends string>(
  choices: LabelledValues<Value>,
  supported: readonly Value[],
  saved: Value,
): LabelledValues<Value> {
  return choices.filter(({ value }) => value === saved || supported.includes(value));
}

export const TENANCY_LABELS: LabelledValues<Environment['tenancy']> = [
  { value: 'session', text: 'Each session', about: 'Every session has its own sandbox.' },
  { value: 'agent', text: 'Each agent', about: 'All sessions of one user with one agent share a sandbox.' },
];

export const IDLE_ACTION_LABELS: LabelledValues<Environment['idle']['action']> = [
  { value: 'suspend', text: 'Suspend', about: 'The sandbox is paused and can be resumed.' },
  { value: 'release', text: 'Release', about: 'The sandbox ends. The next command gets a new one.' },
];

export function labelOf<Value extends string>(choices: LabelledValues<Value>, value: Value): string {
  return choices.find((choice) => choice.value === value)?.text ?? value;
}

type DisplayedEnvironment = Omit<EnvironmentBody, 'name'> & { enabled?: boolean };

const limit = (value: number | null) => value?.toLocaleString('en') ?? 'Provider default';

/** Returns the settings of an environment for display and comparison. */
export function environmentFields({
  sandbox,
  network,
  tenancy,
  idle,
  variables,
  enabled,
}: DisplayedEnvironment): DisplayedField[] {
  const fields: DisplayedField[] = [
    { label: 'Provider', text: labelOf(PROVIDER_LABELS, sandbox.provider) },
    { label: 'Image', text: sandbox.image ?? '' },
    { label: 'CPU (thousandths)', text: limit(sandbox.cpu_millis) },
    { label: 'Memory (MiB)', text: limit(sandbox.memory_mib) },
    { label: 'Processes', text: limit(sandbox.pids) },
    { label: 'Temporary files (MiB)', text: limit(sandbox.disk_mib) },
    {
      label: 'Workspace copy (MiB)',
      text: sandbox.workspace_mib?.toLocaleString('en') ?? 'Workspace limit',
    },
    { label: 'Command timeout (seconds)', text: String(sandbox.command_timeout_seconds) },
    { label: 'Network', text: labelOf(NETWORK_LABELS, network.mode) },
    { label: 'Allowed hosts', text: network.allowed_hosts.join('\n') },
    { label: 'Sandbox scope', text: labelOf(TENANCY_LABELS, tenancy) },
    { label: 'Idle timeout (seconds)', text: String(idle.timeout_seconds) },
    { label: 'Idle action', text: labelOf(IDLE_ACTION_LABELS, idle.action) },
    { label: 'Variables', text: objectText(variables) },
  ];
  if (enabled !== undefined) fields.push({ label: 'Enabled', text: enabled ? 'Yes' : 'No' });
  return fields;
}
