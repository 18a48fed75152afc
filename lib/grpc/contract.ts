import type { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import type { Trace } from '../trace.ts';

/** The part of ts-proto's generated message objects that a transport needs. */
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

/** What ts-proto generates for a service (`outputServices=generic-definitions`). */
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
/** One message, or the messages of a stream. */
type Asked<C extends Contract, M extends MethodName<C>> = C['methods'][M]['requestStream'] extends true
  ? AsyncIterable<RequestOf<C, M>>
  : RequestOf<C, M>;
type Answer<C extends Contract, M extends MethodName<C>> = C['methods'][M]['responseStream'] extends true
  ? AsyncIterable<ResponseOf<C, M>>
  : Promise<ResponseOf<C, M>>;
type Handled<A> = A extends AsyncIterable<unknown> ? A | Promise<A> : A;

/** On whose behalf something happens. */
export interface Caller {
  /** usr_… */
  userId: string;
  /** What they may do with the credential that they showed. */
  roles: readonly string[];
  /** Names of groups at the identity provider. */
  groups?: readonly string[];
  /** With what they came: tok_… or lgn_…, access_token, local. */
  credential?: string;
  /** Of the network, from where they came. */
  address?: string;
}

/** What a handler knows about the call it answers. It may be handed on as the options of a further call. */
export interface Call {
  /** Present when the call is made for a user; absent for work of a service itself. */
  caller: Caller | undefined;
  /** The service that calls. */
  peer: string;
  /** Aborts when the caller leaves or the deadline passes. */
  signal: AbortSignal;
  /** Milliseconds since the epoch. */
  deadline: number;
  trace: Trace;
  /** req_…: the request of a client that it serves; undefined for work of a service itself. */
  requestId: string | undefined;
}

/** What a client may say about a call. All of it is optional; a `Call` fits. */
export interface CallOptions {
  caller?: Caller | undefined;
  signal?: AbortSignal | undefined;
  /** Milliseconds since the epoch; the client's own limit applies when it is sooner. */
  deadline?: number | undefined;
  trace?: Trace | undefined;
  requestId?: string | undefined;
}

/** What a service implements. A stream may be preceded by the checks after which it is made. */
export type Handlers<C extends Contract> = {
  [M in MethodName<C>]: (request: Asked<C, M>, call: Call) => Handled<Answer<C, M>>;
};

/**
 * What others call, over either transport. Whoever sends bytes writes into them no more, on either side: within a
 * process long ones are handed over and not copied.
 */
export type Client<C extends Contract> = {
  [M in MethodName<C>]: (request: Asked<C, M>, options?: CallOptions) => Answer<C, M>;
};

/** Which services may call which method. Total, so that a new method cannot be forgotten. */
export type Peers<C extends Contract> = { [M in MethodName<C>]: readonly string[] };
