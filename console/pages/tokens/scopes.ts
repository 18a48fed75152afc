import type { Token } from '../../gen/index.ts';

export type TokenScope = Token['scopes'][number];

/** Scopes that a new token can have. */
export const SCOPE_OPTIONS: readonly { scope: TokenScope; about: string; administrators?: true }[] = [
  { scope: 'read', about: 'Read everything that you can access.' },
  { scope: 'write', about: 'Read and change everything that you can change.' },
  { scope: 'admin', about: 'Use administrator operations.', administrators: true },
  {
    scope: 'mcp',
    about: 'Work with agents in MCP clients. This scope alone opens no other part of the API.',
  },
  {
    scope: 'approve',
    about:
      'With mcp: decide approvals in the client. A model that uses the token can approve its own actions.',
  },
];
