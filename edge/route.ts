import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static, TObject, TSchema } from 'typebox';
import type { ErrorCode } from '../lib/errors.ts';
import type { CallOptions } from '../lib/grpc/contract.ts';
import type { Access } from './access.ts';
import type { Clients } from './clients.ts';
import type { EdgeContext } from './context.ts';
import type { Door } from './door/door.ts';
import type { Answer } from './envelope.ts';
import type { RequestHeader } from './input/headers.ts';

export type Tag =
  | 'Agents'
  | 'Assistants'
  | 'Conversations'
  | 'Sessions'
  | 'Approvals'
  | 'Events'
  | 'Files'
  | 'Deployments'
  | 'Environments'
  | 'Sandboxes'
  | 'Authentication'
  | 'Users'
  | 'Audit'
  | 'Configuration'
  | 'Webhook trigger';

/** One operation of the API: all that is to be known about it, for the server and for the OpenAPI document. */
export interface Route<Query extends TObject = TObject, Body extends TSchema = TSchema> {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /api/v1, with parameters in braces. */
  path: string;
  /** Who may come in. When absent: read for GET, write for anything else, admin for all below /admin. */
  access?: Access;
  operationId: string;
  tag: Tag;
  summary: string;
  description?: string;
  query?: Query;
  body?: Body;
  /** The longest body, in bytes. 1 MiB when absent. */
  bodyLimit?: number;
  /** A body may be left out. */
  bodyOptional?: boolean;
  /** Request headers that mean something here. */
  headers?: readonly RequestHeader[];
  success: {
    status: 200 | 201 | 202;
    description: string;
    /** Of `data`; for a list, of one item. */
    data: TSchema;
    list?: boolean;
  };
  /** Besides those that every operation may answer with. */
  errors: readonly ErrorCode[];
  /** Of the request body. */
  example?: unknown;
  answer(exchange: Exchange<Static<Query>, Static<Body>>): Promise<Answer>;
}

/** A request that has passed all checks of form. */
export interface Exchange<Query = unknown, Body = unknown> {
  clients: Clients;
  door: Door;
  configuration: EdgeContext['configuration'];
  /** Caller, signal and trace for every call made on behalf of this request. Where anybody may come in: no caller. */
  call: CallOptions;
  /** A parameter of the path. */
  param(name: string): string;
  query: Query;
  body: Body;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** Declares a route, so that its handler sees the types of its schemas. */
export function route<Query extends TObject = TObject<Record<never, never>>, Body extends TSchema = TSchema>(
  declared: Route<Query, Body>,
): Route {
  return declared;
}
