import { setDefaultHighWaterMark } from 'node:stream';
import { MAX_MESSAGE_BYTES } from './transport.ts';

/** The options of channels and servers (https://github.com/grpc/grpc-node/tree/master/packages/grpc-js#supported-channel-options). */
export const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // Reconnect to a restarted service within a second, also when its container has a new address.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
};

/**
 * gRPC streams hold messages as objects, and Node buffers 16 objects on each side of a stream by default. A reader that
 * has stopped would make both processes hold that many messages, which are megabytes long when an event is. gRPC has no
 * option for this, so the default of the process is changed.
 */
setDefaultHighWaterMark(true, 2);
