import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS, type McpServer, serverNameOf } from '../../console/pages/agents/connect/snippets.ts';

const LOCAL: McpServer = {
  ...{ name: 'echo', url: 'http://127.0.0.1:8080/api/v1/mcp' },
  ...{ isTeam: false, token: undefined },
};
const TEAM: McpServer = { ...LOCAL, url: 'https://agents.example.com/api/v1/mcp', isTeam: true };
const CLIENTS = MCP_CLIENTS.map(({ name, snippet }) => ({ name, snippet }));

describe('texts for MCP clients', () => {
  it.each(CLIENTS)('of $name name the URL, and no credential without logins', ({ snippet }) => {
    const text = snippet(LOCAL);
    expect(text).toContain(LOCAL.url);
    expect(text).not.toMatch(/authorization/i);
  });

  it.each(CLIENTS)('of $name contain a new token, or a placeholder', ({ snippet }) => {
    expect(snippet({ ...TEAM, token: 'ahs_secret' })).toContain('Bearer ahs_secret');
    expect(snippet(TEAM)).toMatch(/Bearer (\$TOKEN|YOUR_TOKEN)/);
  });

  it.each(CLIENTS.filter(({ snippet }) => snippet(LOCAL).startsWith('{')))(
    'of $name are JSON',
    ({ snippet }) => {
      const read = (server: McpServer) => JSON.stringify(JSON.parse(snippet(server)));
      expect(read(LOCAL)).toContain('"echo":{');
      expect(read({ ...TEAM, token: 'ahs_secret' })).toContain('"Bearer ahs_secret"');
    },
  );

  it.each([
    ['Support Desk', 'support-desk'],
    ["  It's (v2)  ", 'it-s-v2'],
    ['مساعد', 'agent'],
    [`${'a'.repeat(39)} bc`, 'a'.repeat(39)],
  ])('call the server of the agent %j %j', (agent, name) => {
    expect(serverNameOf(agent)).toBe(name);
  });
});
