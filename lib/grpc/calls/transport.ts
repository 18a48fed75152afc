import type { CallStart } from '../../../proto/gen/ahs/calls/v1/calls.ts';
import { traceparent } from '../../trace.ts';
import type { Contract, Method } from '../contract.ts';
import { encodeShort } from '../encoding.ts';
import { unreachable } from '../native-calls.ts';
import { internalError } from '../trailer.ts';
import type { CallHeaders, Transport } from '../transport.ts';
import { StreamFailure } from './call-stream.ts';
import type { Instance } from './instance.ts';
import type { Instances } from './instances.ts';
import { MAX_FRAME_BYTES } from './limits.ts';

interface StreamTransportOptions {
  /** Keeps all calls on one instance while it is usable. */
  isSticky?: boolean;
}

const MAX_ATTEMPTS = 2;
/** Methods with these names change nothing, so a call whose connection ended is repeated. */
const READING = /^(?:Get|List|Find|LookUp|Locate|Resolve|Identify|Verify)/;

/**
 * Carries unary calls over the call streams of the instances of a service. Calls with long requests, request streams and
 * response streams have gRPC calls of their own.
 */
export function streamTransport(
  instances: Instances,
  contract: Contract,
  { isSticky = false }: StreamTransportOptions = {},
): Transport {
  let preferred: Instance | undefined;

  async function pick(signal: AbortSignal): Promise<Instance> {
    const instance = await instances.pick(signal, isSticky ? preferred : undefined);
    preferred = instance;
    return instance;
  }

  async function callOverStream(
    method: Method,
    start: CallStart,
    signal: AbortSignal,
    callNatively: (instance: Instance) => Promise<unknown>,
  ): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const instance = await pick(signal);
      if (!instance.hasCallStreams) return callNatively(instance);
      try {
        return decodeResponse(method, await instance.call(start, signal));
      } catch (error) {
        if (!(error instanceof StreamFailure)) throw error;
        if (!error.isSent && !instance.hasCallStreams) return callNatively(instance);
        const isRepeatable = !error.isSent || READING.test(method.name);
        if (signal.aborted || !isRepeatable || attempt === MAX_ATTEMPTS)
          throw unreachable(contract.name, error.cause);
      }
    }
  }

  return {
    async unary(name, request, headers, signal) {
      const callNatively = (instance: Instance) =>
        instance.native(contract).unary(name, request, headers, signal);
      const method = contract.methods[name];
      if (!method || method.requestStream) return callNatively(await pick(signal));
      const message = encodeShort(method.requestType, request, MAX_FRAME_BYTES);
      if (!message) return callNatively(await pick(signal));
      return callOverStream(method, startOf(contract, method, message, headers), signal, callNatively);
    },
    async *stream(name, request, headers, signal) {
      const instance = await pick(signal);
      yield* instance.native(contract).stream(name, request, headers, signal);
    },
  };
}

function startOf(
  { fullName }: Contract,
  { name }: Method,
  message: Uint8Array,
  { serviceToken, trace, requestId, timeoutMs }: CallHeaders,
): CallStart {
  return {
    method: `${fullName}/${name}`,
    serviceToken,
    traceparent: trace && traceparent(trace),
    requestId,
    timeoutMs: timeoutMs === undefined ? undefined : Math.ceil(timeoutMs),
    message: Buffer.from(message.buffer, message.byteOffset, message.length),
  };
}

function decodeResponse(method: Method, message: Buffer): unknown {
  try {
    return method.responseType.decode(message);
  } catch (cause) {
    throw internalError(cause);
  }
}
