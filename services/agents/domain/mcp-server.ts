import { type Refusal, refuse } from '../../../lib/errors.ts';

/** The members of an MCP server that an administrator sets once. */
interface McpServerIdentity {
  /** Unique; a part of the names of the server's tools. */
  name: string;
  url: string;
  /** streamable_http | sse */
  transport: string;
}

/** The members of an MCP server that an administrator can change. */
export interface McpServerSettings {
  description: string;
  enabled: boolean;
  /** none | shared | personal | any */
  authorization: string;
  timeoutSeconds: number;
  /** managers | administrators */
  availableTo: string;
  trustAnnotations: boolean;
  offerInstructions: boolean;
  /** Undefined: as the server and its authorization server describe it. */
  oauth: McpOAuth | undefined;
}

/** How users authorize this service at a server. */
export interface McpOAuth {
  /** The client that an administrator registered at the issuer. Empty: the service identifies or registers itself. */
  clientId: string;
  /** Empty: those that the server names. */
  scopes: string[];
  /** Which of the server's authorization servers counts. Empty: the first one. */
  issuer: string;
  /** The vaults service has the secret of the client. */
  hasClientSecret: boolean;
}

export type McpServerForm = McpServerIdentity & McpServerSettings;
export type McpServerPatch = { [Member in keyof McpServerSettings]?: McpServerSettings[Member] | undefined };

export interface McpServer extends McpServerForm, ReviewState, SeenState {
  /** mcp_… */
  mcpServerId: string;
  revision: number;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The newest review of a server. */
interface ReviewState {
  /** 0: no review. */
  review: number;
  reviewedSha256: string;
  reviewedBy: string;
  reviewedAt: Date | null;
  title: string;
  toolCount: number;
  offeredCount: number;
}

/** The last catalogue that was seen at a server. */
interface SeenState {
  /** Empty: never seen. */
  seenSha256: string;
  seenAt: Date | null;
  /** unreachable | unauthorized; empty: none. */
  seenProblem: string;
  protocolVersion: string;
}

const UNREVIEWED: ReviewState & SeenState = {
  review: 0,
  reviewedSha256: '',
  reviewedBy: '',
  reviewedAt: null,
  title: '',
  toolCount: 0,
  offeredCount: 0,
  seenSha256: '',
  seenAt: null,
  seenProblem: '',
  protocolVersion: '',
};

export function newMcpServer(
  form: McpServerForm,
  mcpServerId: string,
  createdBy: string,
  now: Date,
): McpServer {
  return { ...UNREVIEWED, ...form, mcpServerId, revision: 1, createdBy, createdAt: now, updatedAt: now };
}

/** Returns the server after a change, or the same object when nothing differs. */
export function applyMcpServerPatch(before: McpServer, patch: McpServerPatch, now: Date): McpServer {
  const after: McpServer = {
    ...before,
    description: patch.description ?? before.description,
    enabled: patch.enabled ?? before.enabled,
    authorization: patch.authorization ?? before.authorization,
    timeoutSeconds: patch.timeoutSeconds ?? before.timeoutSeconds,
    availableTo: patch.availableTo ?? before.availableTo,
    trustAnnotations: patch.trustAnnotations ?? before.trustAnnotations,
    offerInstructions: patch.offerInstructions ?? before.offerInstructions,
    oauth: 'oauth' in patch ? patch.oauth : before.oauth,
  };
  const members = Object.keys(after) as (keyof McpServer)[];
  const isSame = (member: keyof McpServer) =>
    member === 'oauth' ? isSameOAuth(after.oauth, before.oauth) : after[member] === before[member];
  if (members.every(isSame)) return before;
  return { ...after, revision: before.revision + 1, updatedAt: now };
}

function isSameOAuth(one: McpOAuth | undefined, other: McpOAuth | undefined): boolean {
  return JSON.stringify(one && membersOf(one)) === JSON.stringify(other && membersOf(other));
}

const membersOf = ({ clientId, scopes, issuer, hasClientSecret }: McpOAuth) => [
  ...[clientId, issuer, hasClientSecret],
  scopes,
];

/** unreviewed | current | changed | unreachable | unauthorized */
export function catalogueState({ review, reviewedSha256, seenSha256, seenProblem }: McpServer): string {
  if (seenProblem !== '') return seenProblem;
  if (review === 0) return 'unreviewed';
  return reviewedSha256 === seenSha256 ? 'current' : 'changed';
}

export function mcpServerNotFound(): Refusal {
  return refuse('MCP_SERVER_NOT_FOUND', 'Unknown MCP server.');
}

export function mcpServerNameTaken(name: string): Refusal {
  return refuse('NAME_TAKEN', `An MCP server with the name \`${name}\` already exists.`, {
    details: [{ pointer: '/name', message: 'must be unique; another MCP server has this name' }],
  });
}

/** Refused with RESOURCE_IN_USE while `users` agents and assistants have the server. */
export function checkMcpServerUnused(users: number): void {
  if (users === 0) return;
  const subject = users === 1 ? '1 agent or assistant has' : `${users} agents and assistants have`;
  throw refuse('RESOURCE_IN_USE', `${subject} this MCP server. Remove it from their extensions first.`);
}
