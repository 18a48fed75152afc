import { shellWord } from '../../../parts/curl/shell-word.ts';

/** The server to which a client is connected. */
export interface McpServer {
  /** The name under which the client lists the server: letters, digits and hyphens. */
  name: string;
  url: string;
  /** Requests need a token. */
  isTeam: boolean;
  /** A new token. Without one, the snippets have a placeholder. */
  token: string | undefined;
}

export interface McpClient {
  id: 'claude-code' | 'claude-desktop' | 'vs-code' | 'cursor' | 'inspector' | 'curl';
  name: string;
  /** Where the text belongs. */
  about: string;
  snippet: (server: McpServer) => string;
}

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    id: 'claude-code',
    name: 'Claude Code',
    about: 'Run this command in a shell.',
    snippet: ({ name, url, ...credentials }) =>
      commandOf([
        `claude mcp add --transport http ${name}`,
        shellWord(url),
        ...headerOption('--header', credentials),
      ]),
  },
  {
    id: 'claude-desktop',
    name: 'Claude Desktop',
    about: 'Add this to claude_desktop_config.json (Settings, Developer, Edit Config). It needs Node.js.',
    snippet: ({ name, url, ...credentials }) => {
      const authorization = authorizationOf(credentials);
      const args = ['-y', 'mcp-remote', url];
      if (url.startsWith('http:')) args.push('--allow-http');
      if (authorization === undefined) return mcpServers(name, { command: 'npx', args });
      // The program splits arguments at spaces on Windows, so the value is a variable.
      args.push('--header', `Authorization:\${AUTHORIZATION}`);
      return mcpServers(name, { command: 'npx', args, env: { AUTHORIZATION: authorization } });
    },
  },
  {
    id: 'vs-code',
    name: 'VS Code',
    about:
      'Add this to .vscode/mcp.json of a folder, or to the file that “MCP: Open User Configuration” opens.',
    snippet: ({ name, url, ...credentials }) =>
      json({ servers: { [name]: { type: 'http', url, ...headersOf(credentials) } } }),
  },
  {
    id: 'cursor',
    name: 'Cursor',
    about: 'Add this to ~/.cursor/mcp.json, or to .cursor/mcp.json of a project.',
    snippet: ({ name, url, ...credentials }) => mcpServers(name, { url, ...headersOf(credentials) }),
  },
  {
    id: 'inspector',
    name: 'MCP Inspector',
    about: 'Run this command in a shell. It needs Node.js, and lists the tools.',
    snippet: ({ url, ...credentials }) =>
      commandOf([
        `npx -y @modelcontextprotocol/inspector --cli ${shellWord(url)}`,
        '--transport http',
        ...headerOption('--header', credentials),
        '--method tools/list',
      ]),
  },
  {
    id: 'curl',
    name: 'curl',
    about: 'Run this command in a shell. It lists the tools.',
    snippet: ({ url, ...credentials }) =>
      commandOf([
        `curl -sS ${shellWord(url)}`,
        ...headerOption('-H', credentials),
        "-H 'Accept: application/json, text/event-stream'",
        "-H 'Content-Type: application/json'",
        "-H 'MCP-Protocol-Version: 2025-11-25'",
        `-d ${shellWord('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')}`,
      ]),
  },
];

/** The endpoint of the OpenAI API, and the agent as its model. */
export interface OpenaiEndpoint extends Credentials {
  /** The base URL. */
  url: string;
  /** The agent id. */
  model: string;
}

/** A command that asks the agent a question. */
export function openaiCurl({ url, model, ...credentials }: OpenaiEndpoint): string {
  const body = { model, messages: [{ role: 'user', content: 'Hello!' }] };
  return commandOf([
    `curl -sS ${shellWord(`${url}/chat/completions`)}`,
    ...headerOption('-H', credentials),
    "-H 'Content-Type: application/json'",
    `-d ${shellWord(JSON.stringify(body))}`,
  ]);
}

/** The A2A endpoint of an agent. */
export interface A2aEndpoint extends Credentials {
  url: string;
  /** The id of the message. A command with the same id returns the same task. */
  messageId: string;
}

/** A command that sends the agent a message. */
export function a2aCurl({ url, messageId, ...credentials }: A2aEndpoint): string {
  const message = { messageId, role: 'ROLE_USER', parts: [{ text: 'Hello!' }] };
  const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } };
  return commandOf([
    `curl -sS ${shellWord(url)}`,
    ...headerOption('-H', credentials),
    "-H 'A2A-Version: 1.0'",
    "-H 'Content-Type: application/json'",
    `-d ${shellWord(JSON.stringify(body))}`,
  ]);
}

type Credentials = Pick<McpServer, 'isTeam' | 'token'>;

/** Returns the name of an agent as the name of a server: letters, digits and hyphens. */
export function serverNameOf(agentName: string): string {
  const slug = agentName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  return slug === '' ? 'agent' : slug;
}

function authorizationOf({ isTeam, token }: Credentials, placeholder = 'YOUR_TOKEN'): string | undefined {
  return isTeam ? `Bearer ${token ?? placeholder}` : undefined;
}

function headersOf(credentials: Credentials): { headers?: Record<string, string> } {
  const authorization = authorizationOf(credentials);
  return authorization === undefined ? {} : { headers: { Authorization: authorization } };
}

function headerOption(option: string, credentials: Credentials): string[] {
  const authorization = authorizationOf(credentials, '$TOKEN');
  return authorization === undefined ? [] : [`${option} "Authorization: ${authorization}"`];
}

const mcpServers = (name: string, server: object) => json({ mcpServers: { [name]: server } });
const json = (value: object) => JSON.stringify(value, null, 2);
const commandOf = (lines: readonly string[]) => lines.join(' \\\n  ');
