import { Type } from 'typebox';
import { refuse } from '../../lib/errors.ts';
import {
  type AuthorizationDetails,
  type InputDetails,
  InputNeeded,
  type ToolCallContext,
} from '../../services/runner/tool-calls/tool-call.ts';
import type { Tool } from '../../services/runner/tools/tool.ts';

const SERVER = {
  mcp_server_id: 'mcp_00000000000000000000000001',
  name: 'GitHub',
  host: 'api.github.test',
};
export const AUTHORIZATION: AuthorizationDetails = { ...SERVER, reason: 'not_connected', who: 'you' };
export const FORM_REQUEST: InputDetails = {
  mcp_server_id: SERVER.mcp_server_id,
  name: SERVER.name,
  message: 'Which branch shall be deployed?',
  form: {
    type: 'object',
    properties: {
      branch: { type: 'string', title: 'Branch', minLength: 2 },
      environment: { type: 'string', title: 'Environment', enum: ['staging', 'production'] },
      notify: { type: 'boolean', title: 'Notify the team' },
    },
    required: ['branch'],
  },
};
export const LINK_REQUEST: InputDetails = {
  mcp_server_id: SERVER.mcp_server_id,
  name: SERVER.name,
  message: 'Confirm the deployment on this page.',
  url: 'https://a-long-subdomain.of-the-deployments.example.com/confirm?deployment=1234567890',
};
/** Must occur in nothing that users read. */
export const STATE = 'canary-state-b81d';

export interface ServerTools {
  tools: Tool[];
  /** The names of the tools and the answers with which they ran, in order. */
  runs: { name: string; attempt: number; answer: ToolCallContext['answer'] }[];
  /** Whether there is a credential for the server. */
  isConnected: boolean;
  /** Whether credentials cannot be checked. */
  isUnavailable: boolean;
  /** Keeps the tools from ending. Returns the function that lets them end. */
  hold(): () => void;
}

/** Tools of a server: `server_act` needs a credential, `server_form` asks with a form and `server_link` with a link. */
export function createServerTools(): ServerTools {
  const input = Type.Object({}, { additionalProperties: true });
  let barrier: Promise<void> = Promise.resolve();
  const fixture: ServerTools = {
    tools: [],
    runs: [],
    isConnected: false,
    isUnavailable: false,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      barrier = promise;
      return () => {
        barrier = Promise.resolve();
        resolve();
      };
    },
  };
  const add = (name: string, request?: InputDetails) => {
    const tool: Tool = {
      name,
      kind: { effect: 'once', permission: 'allow', about: 'A tool of a server.' },
      input,
      server: SERVER,
      async prepare() {
        if (fixture.isUnavailable) throw refuse('DEPENDENCY_UNAVAILABLE', 'Vaults are unavailable.');
        if (fixture.isConnected || request) return { kind: 'ready' };
        return { kind: 'authorization_needed', details: AUTHORIZATION };
      },
      async run(_, { attempt, answer }) {
        fixture.runs.push({ name, attempt, answer });
        await barrier;
        if (request && !answer) return new InputNeeded(request, Buffer.from(STATE));
        return `${name}: ${answer?.decision ?? 'done'} ${JSON.stringify(answer?.content ?? {})}`;
      },
    };
    fixture.tools.push(tool);
  };
  add('server_act');
  add('server_form', FORM_REQUEST);
  add('server_link', LINK_REQUEST);
  return fixture;
}
