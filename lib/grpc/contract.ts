import type { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Protocol } from '../event-types.ts';
import type { Trace } from '../trace.ts';

/** The part of ts-proto's generated message objects that a transport uses. */
export interface Codec<Message> {
  encode(message: Message, writer?: BinaryWriter): BinaryWriter;
  decode(input: BinaryReader | Uint8Array, length?: number): Message;
}

export interface Method<Request = unknown, Response = unknown> {
  readonly name: string;
  readonly requestType: Codec<Request>;
  readonly requestStream: boolean;
  readonly responseType: Codec<Response>;
  readonly responseStream: boolean;
  readonly options: object;
}

/** A service definition that ts-proto generates (`outputServices=generic-definitions`). */
export interface Contract {
  readonly name: string;
  readonly fullName: string;
  readonly methods: Readonly<Record<string, Method>>;
}

export type MethodName<C extends Contract> = keyof C['methods'] & string;
type MessageOf<T> = T extends Codec<infer Message> ? Message : never;
export type RequestOf<C extends Contract, M extends MethodName<C>> = MessageOf<
  C['methods'][M]['requestType']
>;
export type ResponseOf<C extends Contract, M extends MethodName<C>> = MessageOf<
  C['methods'][M]['responseType']
>;
/** One request message, or the messages of a request stream. */
type RequestInput<C extends Contract, M extends MethodName<C>> = C['methods'][M]['requestStream'] extends true
  ? AsyncIterable<RequestOf<C, M>>
  : RequestOf<C, M>;
type ResponseOutput<
  C extends Contract,
  M extends MethodName<C>,
> = C['methods'][M]['responseStream'] extends true
  ? AsyncIterable<ResponseOf<C, M>>
  : Promise<ResponseOf<C, M>>;
type HandlerResult<A> = A extends AsyncIterable<unknown> ? A | Promise<A> : A;

/** The user for whom a call is made. */
export interface Caller {
  /** usr_… */
  userId: string;
  /** The roles that the user's credential grants. */
  roles: readonly string[];
  /** The user's group names at the identity provider. */
  groups?: readonly string[];
  /** The credential: tok_… or lgn_…, access_token, local. */
  credential?: string;
  /** The network address of the client. */
  address?: string;
  /** The protocol of the request. Absent for requests of the REST API. */
  protocol?: Protocol;
}

/** The context of a call for its handler. It can be passed on as the options of a further call. */
export interface Call {
  /** The user; undefined for work that a service does on its own. */
  caller: Caller | undefined;
  /** The name of the calling service. */
  peer: string;
  /** Aborts when the caller disconnects or the deadline passes. */
  signal: AbortSignal;
  /** Milliseconds since the epoch. */
  deadline: number;
  trace: Trace;
  /** req_…: the client request that the call belongs to; undefined for work that a service does on its own. */
  requestId: string | undefined;
}

/** The optional context of an outgoing call. A `Call` is assignable. */
export interface CallOptions {
  caller?: Caller | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch. The client's own timeout applies when it is sooner. */
  deadline?: number | undefined;
  /** Replaces the client's own timeout, in milliseconds, for a call that waits in the service. */
  timeoutMs?: number | undefined;
  trace?: Trace | undefined;
  requestId?: string | undefined;
}

/** The implementation of a service. A streaming handler may return a promise of its stream, to validate first. */
export type Handlers<C extends Contract> = {
  [M in MethodName<C>]: (request: RequestInput<C, M>, call: Call) => HandlerResult<ResponseOutput<C, M>>;
};

/**
 * The client of a service, over either transport. A sender must not modify bytes after sending them, because the
 * in-process transport passes long buffers without a copy.
 */
export type Client<C extends Contract> = {
  [M in MethodName<C>]: (request: RequestInput<C, M>, options?: CallOptions) => ResponseOutput<C, M>;
};

/** The services that may call each method. The type requires every method, so that a new one cannot be forgotten. */
export type Peers<C extends Contract> = { [M in MethodName<C>]: readonly string[] };
