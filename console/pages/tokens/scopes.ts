import type { Token } from '../../gen/index.ts';

export type Scope = Token['scopes'][number];

/** What a token may be made for. */
export const SCOPES: readonly { scope: Scope; about: string; administrators?: true }[] = [
  { scope: 'read', about: 'Reads what you can see.' },
  { scope: 'write', about: 'Changes what you can change, and reads.' },
  { scope: 'mcp', about: 'Speaks to the MCP endpoint.' },
  { scope: 'admin', about: 'Does what only administrators can do.', administrators: true },
];

export const LIFETIMES = [
  { value: '7', text: '7 days' },
  { value: '30', text: '30 days' },
  { value: '90', text: '90 days' },
  { value: '365', text: 'A year' },
  { value: 'never', text: 'It does not expire' },
] as const;

export type Lifetime = (typeof LIFETIMES)[number]['value'];
