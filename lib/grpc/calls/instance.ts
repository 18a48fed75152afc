import type { ChannelCredentials } from '@grpc/grpc-js';
import { type Channel, ClientError, createChannel, createClientFactory } from 'nice-grpc';
import {
  type CallStart,
  CallsServiceDefinition,
  type ExchangeRequest,
  type ExchangeResponse,
} from '../../../proto/gen/ahs/calls/v1/calls.ts';
import type { Clock } from '../../clock.ts';
import { CHANNEL_OPTIONS } from '../channel-options.ts';
import type { Contract } from '../contract.ts';
import { withSharedWriter } from '../encoding.ts';
import { nativeTransport } from '../native-calls.ts';
import type { Transport } from '../transport.ts';
import { CallStream } from './call-stream.ts';

const UNIMPLEMENTED = 12;
/** After a failure, an instance gets no calls for this long while others work. */
const FAILURE_MS = 1_000;
/** How long a peer without call streams, which is of an older release, is called without one. */
const NATIVE_MS = 60_000;

/** The method of `CallsService` as nice-grpc generates it. */
type Exchange = (
  requests: AsyncIterable<ExchangeRequest>,
  options: { signal: AbortSignal },
) => AsyncIterable<ExchangeResponse>;

const definition = withSharedWriter(CallsServiceDefinition);

/** One instance of a service: its channel and the stream for its calls. */
export class Instance {
  readonly address: string;
  readonly channel: Channel;
  readonly #clock: Clock;
  readonly #transports = new Map<Contract, Transport>();
  #stream: CallStream | undefined;
  /** Draining streams that still have open calls. */
  readonly #draining = new Set<CallStream>();
  /** Milliseconds since the epoch. */
  #avoidUntil = 0;
  #nativeUntil = 0;
  /** Open calls with a gRPC call of their own. */
  #nativeCalls = 0;

  /** Without credentials, connections are not encrypted. */
  constructor(address: string, clock: Clock, credentials?: ChannelCredentials) {
    this.address = address;
    this.#clock = clock;
    this.channel = createChannel(address, credentials, CHANNEL_OPTIONS);
  }

  /** Whether the instance is expected to accept calls. */
  get isUsable(): boolean {
    return this.#clock.now().getTime() >= this.#avoidUntil;
  }

  get openCalls(): number {
    return (this.#stream?.openCalls ?? 0) + this.#nativeCalls;
  }

  get hasCallStreams(): boolean {
    return this.#clock.now().getTime() >= this.#nativeUntil;
  }

  /** Calls a unary method over the stream. Rejects like `CallStream.call`. */
  call(start: CallStart, signal: AbortSignal): Promise<Buffer> {
    this.#stream ??= this.#openStream();
    return this.#stream.call(start, signal);
  }

  /** Calls with a gRPC call for each call. */
  native(contract: Contract): Transport {
    let transport = this.#transports.get(contract);
    if (!transport) {
      transport = this.#counted(nativeTransport(this.channel, contract));
      this.#transports.set(contract, transport);
    }
    return transport;
  }

  /** Ends the connection after the open calls. */
  retire(): void {
    this.#stream?.close();
    this.#stream = undefined;
    this.channel.close();
  }

  /** Ends the connection at once. */
  close(): void {
    this.#stream?.destroy();
    for (const stream of this.#draining) stream.destroy();
    this.channel.close();
  }

  #openStream(): CallStream {
    const { exchange } = createClientFactory().create(definition, this.channel) as Record<
      'exchange',
      Exchange
    >;
    const stream = new CallStream({
      open: (requests, signal) => exchange(requests, { signal }),
      onDraining: () => {
        this.#avoid();
        if (this.#stream === stream) this.#stream = undefined;
        this.#draining.add(stream);
        stream.close();
      },
      onEnd: (error) => {
        this.#draining.delete(stream);
        if (this.#stream === stream) this.#stream = undefined;
        if (!error) return;
        if (error instanceof ClientError && error.code === UNIMPLEMENTED)
          this.#nativeUntil = this.#clock.now().getTime() + NATIVE_MS;
        else this.#avoid();
      },
    });
    return stream;
  }

  #avoid(): void {
    this.#avoidUntil = this.#clock.now().getTime() + FAILURE_MS;
  }

  #counted(transport: Transport): Transport {
    return {
      unary: async (...call) => {
        this.#nativeCalls++;
        try {
          return await transport.unary(...call);
        } finally {
          this.#nativeCalls--;
        }
      },
      stream: transport.stream,
    };
  }
}
