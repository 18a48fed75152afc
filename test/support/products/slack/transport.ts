import type { Json } from './objects.ts';

export type PayloadKind = 'events_api' | 'interactive' | 'slash_commands';

/** The values of `x-slack-retry-reason`, and `timeout` of Socket Mode. */
export type FailureReason =
  | 'http_timeout'
  | 'too_many_redirects'
  | 'connection_failed'
  | 'http_error'
  | 'unknown_error'
  | 'timeout';

export interface Attempt {
  kind: PayloadKind;
  payload: Json;
  /** 0 for the first attempt. */
  retryNum: number;
  /** Why the previous attempt failed. */
  retryReason: FailureReason | '';
}

export type AttemptResult =
  /** The response is the body of the HTTP response or the payload of the acknowledgement. */
  { ok: true; response: string } | { ok: false; reason: FailureReason; status?: number; isFinal?: boolean };

/** Brings payloads to the app: HTTP or Socket Mode. */
export interface Transport {
  readonly name: 'http' | 'socket';
  send(attempt: Attempt): Promise<AttemptResult>;
}
