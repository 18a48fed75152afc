import type { Declaration, Environment } from '../env.ts';

/** A setting as it is in force, for people: no value of it is a secret. */
export interface EffectiveSetting {
  variable: string;
  about: string;
  /** Whether somebody has set it. */
  isSet: boolean;
  isSecret: boolean;
  /** What is in force; undefined for a secret, and for what has no default and was not set. */
  value: string | undefined;
}

/** The part of a URL that may hold a password. */
const USER = /:\/\/[^/?#\s]*@/g;

/** All settings of these modules, each once, by name. */
export function effectiveSettings(
  declarations: readonly Declaration[],
  env: Environment,
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
