const REASONS: Record<string, (noun: string) => string> = {
  unreviewed: () => 'An administrator has not reviewed its tools.',
  changed: () => 'Some of its tools have changed since they were reviewed. They are not called.',
  needs_connection: () => 'The owner of the session is not connected to it, or has to connect again.',
  needs_credential: () => 'The vaults of the agent have no credential that it accepts.',
  unavailable: () => 'Its credential cannot be checked now. Try again later.',
  disabled: (noun) => `An administrator has disabled the ${noun}.`,
  deleted: (noun) => `The ${noun} was deleted.`,
};

/** Why an extension is not ready, for people; empty when it is. */
export function extensionReason(noun: 'MCP server' | 'skill', state: string): string {
  return REASONS[state]?.(noun) ?? '';
}
