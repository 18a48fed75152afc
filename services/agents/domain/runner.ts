import type { ProviderName } from '../../../lib/sandboxes.ts';

/** A runner whose last report is older than this is forgotten. Runners report every 5 seconds. */
export const RUNNER_EXPIRY_MS = 20_000;

/** A process that runs turns and their commands. */
export interface Runner {
  /** rnr_… */
  runnerId: string;
  /** The sandbox providers that work on its machine, the strongest first. */
  providers: RunnerProvider[];
  /** Facts about the runner for operators. The one with the role `sandbox` names the provider in force. */
  backends: { role: string; description: string }[];
  /** The model providers whose API key it has. */
  keyProviders: string[];
  /** The optional model providers whose package it has. */
  optionalProviders: string[];
}

export interface RunnerProvider {
  /** A ProviderName, or a provider of a newer release. */
  name: ProviderName | (string & {});
  /** The limits that it enforces on the machine of the runner. */
  limits: string[];
}
