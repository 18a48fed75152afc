import { PROTOCOLS, type Protocol } from '../../../lib/event-types.ts';
import type { FieldProblems } from '../../../lib/field-problems.ts';

/** The protocols besides the REST API in which clients find an agent. */
export interface Exposure extends Record<Protocol, string> {
  /** on | off */
  mcp: string;
  /** on | off */
  openai: string;
  /** off | on | public: anyone can read the agent card. */
  a2a: string;
}

const STATES = {
  mcp: ['on', 'off'],
  openai: ['on', 'off'],
  a2a: ['off', 'on', 'public'],
} satisfies Record<Protocol, readonly string[]>;

const DEFAULT: Exposure = { mcp: 'on', openai: 'on', a2a: 'off' };

/** Assistants belong to the console and the REST API. */
export const NOT_EXPOSED: Exposure = { mcp: 'off', openai: 'off', a2a: 'off' };

/** Returns the exposure of a new agent. Absent members have their defaults. */
export function completeExposure(change: Partial<Exposure> | undefined): Exposure {
  return changeExposure(DEFAULT, change);
}

/** Absent members stay unchanged. */
export function changeExposure(
  { mcp, openai, a2a }: Exposure,
  change: Partial<Exposure> | undefined,
): Exposure {
  return { mcp: change?.mcp ?? mcp, openai: change?.openai ?? openai, a2a: change?.a2a ?? a2a };
}

export function sameExposure(one: Exposure, other: Exposure): boolean {
  return PROTOCOLS.every((protocol) => one[protocol] === other[protocol]);
}

export function checkExposure(exposure: Partial<Exposure>, problems: FieldProblems): void {
  for (const protocol of PROTOCOLS) {
    const state = exposure[protocol];
    if (state !== undefined) problems.oneOf(`/exposure/${protocol}`, state, STATES[protocol]);
  }
}

/** Reports a protocol by which agents cannot be listed. */
export function checkProtocol(protocol: string | undefined, problems: FieldProblems): void {
  if (protocol !== undefined) problems.oneOf('/exposed_to', protocol, PROTOCOLS);
}
