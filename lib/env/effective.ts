import type { Declaration, EnvironmentVariables } from '../env.ts';

/** The effective value of a setting, safe to show: it never contains a secret. */
export interface EffectiveSetting {
  variable: string;
  about: string;
  /** Whether the environment sets it. */
  isSet: boolean;
  isSecret: boolean;
  /** The effective value; undefined for a secret and for an unset setting without a default. */
  value: string | undefined;
}

/** Matches the part of a URL that can contain a password. */
const USER = /:\/\/[^/?#\s]*@/g;

/** Returns all settings of these modules, each once, sorted by name. */
export function effectiveSettings(
  declarations: readonly Declaration[],
  env: EnvironmentVariables,
): EffectiveSetting[] {
  const byName = new Map<string, EffectiveSetting>();
  for (const { variable, about, secret, shownDefault } of declarations.flatMap((one) => Object.values(one))) {
    const text = env[variable] || undefined;
    const isSet = text !== undefined || (secret && Boolean(env[`${variable}_FILE`]));
    const value = secret ? undefined : (text?.replace(USER, '://***@') ?? shownDefault);
    byName.set(variable, { variable, about, isSet, isSecret: secret, value });
  }
  return [...byName.values()].sort((one, other) => (one.variable < other.variable ? -1 : 1));
}
