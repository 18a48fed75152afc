import type { Environment } from '../../gen/types.gen.ts';
import { objectText, type ShownField } from '../../parts/diff/fields.ts';
import type { EnvironmentBody } from './draft.ts';

type Choices<Value extends string> = readonly { value: Value; text: string; about: string }[];

export type Provider = Environment['sandbox']['provider'];
export type Network = Environment['network']['mode'];

export const PROVIDERS: Choices<Provider> = [
  { value: 'auto', text: 'Automatic', about: 'The strongest that the runner has.' },
  { value: 'simulated', text: 'Simulated', about: 'A shell that is only simulated: it starts no program.' },
  { value: 'bubblewrap', text: 'Bubblewrap', about: "The programs of the runner's machine, in namespaces." },
  { value: 'docker', text: 'Docker', about: 'A container of a Docker engine.' },
  { value: 'kubernetes', text: 'Kubernetes', about: 'A pod of a Kubernetes cluster.' },
];

export const NETWORKS: Choices<Network> = [
  { value: 'none', text: 'None', about: 'Commands reach nothing.' },
  { value: 'limited', text: 'Limited', about: 'Commands reach the hosts that are named here.' },
  { value: 'unrestricted', text: 'Unrestricted', about: 'Commands reach whatever the runner reaches.' },
];

/** What this release can keep; anything else is refused. */
export const OFFERED: {
  providers: readonly Provider[];
  networks: readonly Network[];
  images: boolean;
} = {
  providers: ['auto', 'simulated', 'bubblewrap'],
  networks: ['none', 'limited'],
  images: false,
};

/** What can be chosen: what is offered, and what is there already. */
export function choicesOf<Value extends string>(
  choices: Choices<Value>,
  offered: readonly Value[],
  kept: Value,
): Choices<Value> {
  return choices.filter(({ value }) => value === kept || offered.includes(value));
}

export const TENANCIES: Choices<Environment['tenancy']> = [
  { value: 'session', text: 'Each session', about: 'Every session has a sandbox of its own.' },
  { value: 'agent', text: 'Each agent', about: 'The sessions of one person with one agent share a sandbox.' },
];

export const IDLE_ACTIONS: Choices<Environment['idle']['action']> = [
  { value: 'suspend', text: 'Suspend', about: 'It sleeps and can be woken.' },
  { value: 'release', text: 'Release', about: 'It ends; the next command gets a new one.' },
];

export function textOf<Value extends string>(choices: Choices<Value>, value: Value): string {
  return choices.find((choice) => choice.value === value)?.text ?? value;
}

type Shown = Omit<EnvironmentBody, 'name'> & { enabled?: boolean };

const limit = (value: number | null) => value?.toLocaleString('en') ?? "The provider's";

/** An environment, to be shown and compared. */
export function environmentShown({
  sandbox,
  network,
  tenancy,
  idle,
  variables,
  enabled,
}: Shown): ShownField[] {
  const fields: ShownField[] = [
    { label: 'Provider', text: textOf(PROVIDERS, sandbox.provider) },
    { label: 'Image', text: sandbox.image ?? '' },
    { label: 'Processor (thousandths)', text: limit(sandbox.cpu_millis) },
    { label: 'Memory (MiB)', text: limit(sandbox.memory_mib) },
    { label: 'Processes', text: limit(sandbox.pids) },
    { label: 'Temporary files (MiB)', text: limit(sandbox.disk_mib) },
    { label: 'Longest command (seconds)', text: String(sandbox.command_timeout_seconds) },
    { label: 'Network', text: textOf(NETWORKS, network.mode) },
    { label: 'Allowed hosts', text: network.allowed_hosts.join('\n') },
    { label: 'A sandbox for', text: textOf(TENANCIES, tenancy) },
    { label: 'Idle after (seconds)', text: String(idle.timeout_seconds) },
    { label: 'When idle', text: textOf(IDLE_ACTIONS, idle.action) },
    { label: 'Variables', text: objectText(variables) },
  ];
  if (enabled !== undefined) fields.push({ label: 'Enabled', text: enabled ? 'Yes' : 'No' });
  return fields;
}
