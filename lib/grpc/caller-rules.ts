import type { Contract, Peers } from './contract.ts';

/** A change of the callers that may call the RPCs of a service. */
export interface CallerRule {
  /** The short name of the called service, such as sessions. */
  service: string;
  /** The name of the RPC in the contract, such as GetSession; undefined for every RPC of the service. */
  method: string | undefined;
  /** The names under which callers identify themselves in their service tokens. */
  callers: readonly string[];
  /** Whether the callers are added to the present ones. Otherwise they replace them. */
  isAddition: boolean;
}

/** Describes the expected form. */
export const CALLER_RULES =
  'rules separated by semicolons: service.Method+=caller,caller adds callers and service.Method=caller,caller replaces them; without .Method a rule applies to every RPC of the service';

const RULE = /^([a-z]+)(?:\.([A-Za-z]+))?\s*(\+?)=(.*)$/;
const CALLER = /^[a-z][a-z0-9-]{0,62}$/;

/** Parses rules. The message of the error follows the name of a setting. */
export function parseCallerRules(text: string): CallerRule[] {
  return text
    .split(';')
    .map((rule) => rule.trim())
    .filter(Boolean)
    .map(parseRule);
}

function parseRule(text: string): CallerRule {
  const [, service = '', method, plus, names = ''] = RULE.exec(text) ?? [];
  if (service === '') throw new Error(`has the rule ${text}, which is not of this form`);
  const callers = names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  const invalid = callers.find((name) => !CALLER.test(name));
  if (invalid !== undefined)
    throw new Error(`has the caller ${invalid}; a name has a–z, 0–9 and -, and begins with a letter`);
  if (callers.length === 0 && plus === '+') throw new Error(`has the rule ${text}, which names no caller`);
  return { service, method, callers, isAddition: plus === '+' };
}

/** Returns why rules cannot apply to these services, by short name. The text follows the name of a setting. */
export function problemOfRules(
  rules: readonly CallerRule[],
  contracts: Readonly<Record<string, Contract>>,
): string | undefined {
  for (const { service, method } of rules) {
    const contract = Object.hasOwn(contracts, service) ? contracts[service] : undefined;
    if (!contract) return `names the unknown service ${service}`;
    const names = Object.values(contract.methods).map(({ name }) => name);
    if (method !== undefined && !names.includes(method))
      return `names the unknown method ${method} of the service ${service}`;
  }
  return undefined;
}

/** Returns the callers of each RPC after the rules of its service were applied in order. */
export function applyCallerRules<C extends Contract>(
  contract: C,
  peers: Peers<C>,
  rules: readonly CallerRule[],
): Peers<C> {
  const defaults: Readonly<Record<string, readonly string[]>> = peers;
  const changed = Object.entries(contract.methods).map(([key, { name }]) => {
    let callers = defaults[key] ?? [];
    for (const rule of rules) {
      if (rule.method !== undefined && rule.method !== name) continue;
      callers = rule.isAddition ? [...callers, ...rule.callers] : rule.callers;
    }
    return [key, callers];
  });
  return Object.fromEntries(changed) as Peers<C>;
}
