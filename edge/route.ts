import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../lib/error-codes.ts';
import type { CallOptions } from '../lib/grpc/contract.ts';
import type { RouteAccess } from './access.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import type { Clients } from './clients.ts';
import type { EdgeContext } from './context.ts';
import type { RouteResponse } from './envelope.ts';
import type { RequestHeader } from './input/headers.ts';
import type { InlineData } from './input/inline-data.ts';
import type { RawQuery } from './input/query.ts';
import type { ResponseHeader } from './openapi/headers.ts';
import type { ProtocolMetrics } from './protocols/metrics.ts';
import type { LiveStreams } from './streaming/live-streams.ts';
import type { StallMonitor } from './streaming/stall-monitor.ts';

/** The tags of the OpenAPI document and their descriptions, in the order of the reference. */
export const TAGS = {
  Agents: 'A model with instructions, tools and limits. Every change of its configuration is a new version.',
  Assistants: 'An agent of one user, with a workspace that all of its sessions share.',
  Conversations: 'Create a session with an agent or an assistant.',
  Sessions: 'A conversation: its messages, its turns and their queue.',
  Approvals: 'Decisions that a turn waits for.',
  'Tool calls': 'Calls of tools that the client runs, and questions to people.',
  Events: 'The journal of a session, as a list, as a stream and as a stream for AI SDK.',
  Files: 'The workspace of a session or an assistant.',
  Deployments: 'Ways to start sessions of an agent: webhooks, schedules and channels of messaging products.',
  Environments: 'The sandbox, network and variables of the commands of agents.',
  'MCP servers': 'Remote servers whose reviewed tools agents can use.',
  Skills: 'Instructions and files that administrators publish for agents.',
  Sandboxes: 'The sandboxes in which commands run.',
  Vaults: 'Credentials for MCP servers, hosts and model providers, whose secrets no response contains.',
  Authentication: 'Logins and personal access tokens.',
  Users: 'The users of the service.',
  Audit: 'The record of changes, decisions and refused requests.',
  Configuration: 'The effective settings of the service.',
  'Webhook trigger': 'The signed request that starts a session.',
  'Channel callback': 'The requests of messaging products.',
  Protocols: 'Agents and sessions for clients of other protocols.',
  Operations: 'Health checks and metrics of a process.',
} as const;

/** One operation of the API. The server and the OpenAPI document are both made from it. */
interface Operation<Query extends TObject> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v1, with parameters in braces. */
  path: string;
  /** The required scope. Default: `read` for GET, `write` for other methods, `admin` below /admin. */
  access?: RouteAccess;
  operationId: string;
  tag: keyof typeof TAGS;
  summary: string;
  description: string;
  query?: Query;
  /** The request headers that the operation reads. */
  headers?: readonly RequestHeader[];
  /** Error codes besides those that every operation can return. */
  errors: readonly ErrorCode[];
  /** An example of the JSON request body. */
  example?: unknown;
}

/** An operation with a JSON request and a JSON response in the success envelope. */
export interface JsonRoute<Query extends TObject = TObject, Body extends TSchema = TSchema>
  extends Operation<Query> {
  body?: Body;
  /** The longest request body in bytes. Default: 1 MiB. */
  bodyLimit?: number;
  /** The body has the content of a message, whose inline data is taken out before it is parsed. */
  inlineData?: true;
  /** The request body may be omitted. */
  bodyOptional?: boolean;
  success: {
    status: 200 | 201 | 202;
    description: string;
    /** The schema of `data`; for a list, of one item. */
    data: TSchema;
    list?: boolean;
    /**
     * The response headers besides those of every response. `ETag` of a list and `Idempotent-Replayed` of an operation with
     * an Idempotency-Key are implied.
     */
    headers?: readonly ResponseHeader[];
    /** Another status of success, with the same data. The response of the route names it. */
    alternative?: { status: 200; description: string };
    /** The response contains a secret that is shown only once. It is never compressed. */
    secret?: true;
  };
  answer(exchange: Exchange<Static<Query>, Static<Body>>): Promise<RouteResponse>;
}

/** A validated request. */
export interface Exchange<Query = unknown, Body = unknown> {
  clients: Clients;
  sealer: EdgeContext['sealer'];
  authenticator: Authenticator;
  configuration: EdgeContext['configuration'];
  /** Caller, signal and trace for calls on behalf of this request. Without a caller on routes with access `open`. */
  call: CallOptions;
  /** A parameter of the path. */
  param(name: string): string;
  query: Query;
  body: Body;
  /** Aborts when the process stops: a request that waits must be answered. */
  draining: AbortSignal;
  /** The bytes that were taken out of the body of a route with `inlineData`. */
  inlineData: InlineData;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** A documented response: JSON data in the success envelope, or any other content. */
export type RawResponse =
  | { description: string; data: TSchema; headers?: readonly ResponseHeader[] }
  | {
      description: string;
      headers?: readonly ResponseHeader[];
      content?: Record<string, { schema: object; example?: unknown }>;
    };

/** An operation that reads its request or writes its response itself: raw bodies, downloads, streams and redirects. */
export interface RawRoute<Query extends TObject = TObject> extends Operation<Query> {
  /** The schema of a JSON request body. */
  body?: TSchema;
  /** The OpenAPI request body object of any other request body. */
  requestBody?: object;
  /** OpenAPI parameter objects that `query` and `headers` do not cover. */
  parameters?: readonly object[];
  responses: Readonly<Record<number, RawResponse>>;
  /** OpenAPI security requirements, if they differ from those that `access` implies. */
  security?: readonly object[];
  /** The error codes that are documented besides `errors`. Default: `all` that the inputs imply. */
  impliedErrors?: 'all' | 'request' | 'none';
  /** The path begins at the root of the origin and not below /api/v1. */
  atRoot?: true;
  /** The path is also served at the root of the origin. */
  alsoAtRoot?: true;
  /** If-Match is ignored. All other routes evaluate or refuse it. */
  ignoresIfMatch?: true;
  /** False: HEAD requests are not served. */
  head?: false;
  /** The response is compressed like that of other routes. Streams and downloads are not. */
  compressed?: true;
  /** The access in local mode, if it differs. */
  localAccess?: RouteAccess;
  config?: Pick<
    FastifyContextConfig,
    'longLived' | 'slowBody' | 'isPage' | 'refusalPage' | 'protocol' | 'authorizesItself'
  >;
  /** Called once, when the route is registered. */
  createHandler(context: RouteContext, readQuery: (raw: RawQuery) => Static<Query>): RawHandler;
}

export type Route = JsonRoute | RawRoute;
export type RawHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Everything that routes use. */
export interface RouteContext extends EdgeContext {
  authenticator: Authenticator;
  /** The origin of SERVICE_PUBLIC_URL. Default: the listening origin. */
  publicOrigin: () => string;
  liveStreams: LiveStreams;
  /** Aborts when the process stops. */
  draining: AbortSignal;
  maxWebhookBytes: number;
  /** An upload fails after this many milliseconds without progress. */
  uploadStallMs: number;
  /** Closes downloads and streams whose clients have stopped reading. */
  stallMonitor: StallMonitor;
  protocolMetrics: ProtocolMetrics;
}

/** Declares an operation, with the types of its schemas in its handler. `route.raw` declares a raw one. */
export function route<Query extends TObject = TObject<Record<never, never>>, Body extends TSchema = TSchema>(
  declared: JsonRoute<Query, Body>,
): Route {
  return declared as unknown as JsonRoute;
}

route.raw = <Query extends TObject = TObject<Record<never, never>>>(declared: RawRoute<Query>): Route =>
  declared as unknown as RawRoute;

export const isRaw = (declared: Route): declared is RawRoute => 'createHandler' in declared;
